// Texts to copy: addresses, and commands to run in a shell.
import { html, useRef, useState } from './html.js'
import { words } from './words.js'

/** A word of a shell command, quoted where necessary. @param {string | number} text */
export const shellWord = text =>
  /^[\w@%+=:,./~-]+$/.test(String(text)) ? text : `'${String(text).replaceAll("'", "'\\''")}'`

/**
 * A line of a shell from its arguments.
 * @param {...(string | number | false | null | undefined)} parts false, null and undefined are left out
 */
export const shellLine = (...parts) => ['tilecouch', ...parts]
  .filter(part => part !== false && part !== null && part !== undefined)
  .map(shellWord).join(' ')

/**
 * A text that can be copied. Browsers copy on https and localhost only; elsewhere the text is selected.
 * @param {string} text
 * @returns {{text: string, field: import('preact').RefObject<any>, copy: () => Promise<void>, done: string}} field: of
 *   the element with the text; done: the result in words; empty before a copy, and after the text has changed
 */
export function useCopy (text) {
  const field = useRef(/** @type {any} */ (null))
  const [result, setResult] = useState({ text: '', done: '' })
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setResult({ text, done: words.address.copied })
    } catch {
      if (field.current?.select) field.current.select()
      else getSelection()?.selectAllChildren(field.current)
      setResult({ text, done: words.address.selected })
    }
  }
  return { text, field, copy, done: result.text === text ? result.done : '' }
}

/** A text with a button that copies it. label: name of the button for screen readers */
export function Copyable ({ text, label }) {
  const { field, copy, done } = useCopy(text)
  return html`<div class="command">
    <code ref=${field} tabindex="0">${text}</code>
    <button type="button" aria-label=${done ? null : label} onClick=${copy}>${done || words.address.copy}</button>
  </div>`
}
