// Questions that wait for an answer, in the dialog of the browser.
import { html, render, useLayoutEffect, useRef, useState } from '../html.js'
import { Button, plainInput } from './parts.js'
import { texts } from './words.js'

/** label: its name for those who hear it; onCancel: Escape was pressed */
export function Dialog ({ label, onCancel, children, ...others }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null))
  useLayoutEffect(() => { if (!dialog.current?.open) dialog.current?.showModal() })
  useLayoutEffect(() => {
    const node = dialog.current
    return () => node?.close() // gives the focus back
  }, [])
  const cancel = event => {
    event.preventDefault()
    onCancel?.()
  }
  // the browser may close it without asking: Escape, twice
  return html`<dialog ref=${dialog} aria-label=${label} onCancel=${cancel} onClose=${() => onCancel?.()} ...${others}>
    ${children}
  </dialog>`
}

/**
 * Shows a component until it calls `close` with an answer.
 * @template T @param {any} component @param {Record<string, any>} props @returns {Promise<T>}
 */
export function ask (component, props) {
  return new Promise(resolve => {
    const place = document.createElement('div')
    const close = answer => {
      render(null, place)
      place.remove()
      resolve(answer)
    }
    document.body.append(place)
    render(html`<${component} ...${props} close=${close} />`, place)
  })
}

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
