// Asks before something is done.
import { Dialog, ask } from '../dialog.js'
import { html, useState } from '../html.js'
import { Button, plainInput } from '../parts.js'
import { texts } from './words.js'

/**
 * Asks before something is done. What destroys something is not what Enter does at first.
 * @param {{head: string, text: any, action: string, isDanger?: boolean, typed?: string}} question action: what the
 *   button says; typed: what has to be typed first, such as the name of a layer
 * @returns {Promise<boolean>}
 */
export const confirm = question => ask(Question, question)

function Question ({ head, text, action, isDanger = false, typed, close }) {
  const [value, setValue] = useState('')
  const isReady = typed === undefined || value === typed
  const submit = event => {
    event.preventDefault()
    if (isReady) close(true)
  }
  return html`<${Dialog} label=${head} onCancel=${() => close(false)}>
    <form class="ask" onSubmit=${submit}>
      <h2>${head}</h2>
      <p>${text}</p>
      ${typed !== undefined && html`<label>
        ${texts.typeName(typed)}
        <input ...${plainInput} autofocus onInput=${({ target }) => setValue(target.value)} />
      </label>`}
      <div class="row">
        <button type="submit" class=${isDanger ? 'secondary danger' : 'primary'} disabled=${!isReady}>${action}</button>
        <${Button} autofocus=${isDanger && typed === undefined} onClick=${() => close(false)}>${texts.cancel}<//>
      </div>
    </form>
  <//>`
}
