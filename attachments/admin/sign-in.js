// The form to sign in with a name and a password of CouchDB. The password is sent only to CouchDB, which returns a
// session.
import { html, useRef, useState, useSubmit } from '../html.js'
import { Button, Hint } from '../parts.js'
import { texts } from './words.js'

const words = texts.signIn

/** name: prefilled; why: the message at first */
export function SignIn ({ couch, name = '', why = '', onDone }) {
  const form = useRef(/** @type {any} */ (null))
  const [problem, setProblem] = useState(why)

  const { submit, busy } = useSubmit(async () => {
    const { name: user, password } = form.current.elements
    setProblem('')
    try {
      await couch.signIn(user.value.trim(), password.value)
      onDone()
    } catch (error) {
      setProblem(error.status === 401 ? words.wrong : texts.failed(error.message))
      password.select()
      password.focus()
    }
  })

  return html`<form class="sign-in" ref=${form} onSubmit=${submit}>
    <h2>${words.head}</h2>
    <${Hint}>${words.lead}<//>
    <label>
      ${words.name}
      <input type="text" name="name" autocomplete="username" autocapitalize="none" spellcheck=${false} required
        defaultValue=${name} />
    </label>
    <label>
      ${words.password}
      <input type="password" name="password" autocomplete="current-password" required />
    </label>
    <p class="problem" role="alert">${problem}</p>
    <${Button} type="submit" kind="primary" busy=${busy}>${words.button}<//>
  </form>`
}
