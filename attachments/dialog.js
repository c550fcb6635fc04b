// Questions that wait for an answer, in the dialog of the browser.
import { html, render, useLayoutEffect, useRef } from './html.js'

/** label: its name for screen readers; onCancel: Escape was pressed */
export function Dialog ({ label, onCancel, children, ...attributes }) {
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
  // The browser may close the dialog without a cancel event: Escape, twice. The late event of a removed dialog is
  // ignored: it would close the next one.
  const closed = event => { if (event.target.isConnected) onCancel?.() }
  return html`<dialog ref=${dialog} aria-label=${label} onCancel=${cancel} onClose=${closed} ...${attributes}>
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
