// A text to copy, with its button.
import { html, useRef, useState } from './html.js'
import { words } from './words.js'

/** As a shell takes it. @param {string | number} text */
export const shellWord = text =>
  /^[\w@%+=:,./~-]+$/.test(String(text)) ? text : `'${String(text).replaceAll("'", "'\\''")}'`

/** label: name of the button for screen readers, if its text does not say enough */
export function Copyable ({ text, label }) {
  const code = useRef(/** @type {HTMLElement | null} */ (null))
  const [done, setDone] = useState({ text: '', message: '' })
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setDone({ text, message: words.address.copied })
    } catch { // browsers allow it on https and localhost only; elsewhere the reader copies the selected text
      if (code.current) getSelection()?.selectAllChildren(code.current)
      setDone({ text, message: words.address.selected })
    }
  }
  const isDone = done.text === text
  return html`<div class="copyable">
    <code ref=${code} tabindex="0">${text}</code>
    <button type="button" aria-label=${isDone ? null : label} onClick=${copy}>
      ${isDone ? done.message : words.address.copy}
    </button>
  </div>`
}
