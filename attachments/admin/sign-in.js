// Signing in with a name and a password of CouchDB. The password goes to CouchDB only, which answers with a session.
import { element, write } from '../../client/timeline/dom.js'
import { texts } from './words.js'

/**
 * @param {import('./couch.js').Couch} couch
 * @param {{name?: string | null, why?: string}} [known] name: filled in; why: what to say first
 * @param {() => void} onDone
 * @returns {HTMLElement} a form
 */
export function signInForm (couch, { name = '', why = '' } = {}, onDone) {
  const problem = element('p', { class: 'problem', role: 'alert' }, why)
  const nameField = element('input', { type: 'text', name: 'name', autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false', required: true, value: name })
  const password = element('input', { type: 'password', name: 'password', autocomplete: 'current-password', required: true })
  const submit = element('button', { type: 'submit', class: 'primary' }, texts.signIn.button)
  const form = element('form', {
    class: 'sign-in',
    on: {
      async submit (event) {
        event.preventDefault()
        if (submit.disabled) return
        submit.disabled = true
        write(problem, { text: '' })
        try {
          await couch.signIn(nameField.value.trim(), password.value)
          onDone()
        } catch (error) {
          write(problem, { text: error.status === 401 ? texts.signIn.wrong : texts.failed(error.message) })
          password.select()
          password.focus()
        } finally {
          submit.disabled = false
        }
      }
    }
  },
  element('h2', null, texts.signIn.head),
  element('p', { class: 'hint' }, texts.signIn.lead),
  element('label', null, texts.signIn.name, nameField),
  element('label', null, texts.signIn.password, password),
  problem,
  submit)
  return form
}
