// What needs Node stays a command: filled in, ready to copy.
import { html, useEffect, useRef, useState } from '../html.js'
import { shellWord } from '../copy.js'
import { words } from '../words.js'

/**
 * A line of a shell from its arguments.
 * @param {...(string | number | false | null | undefined)} given false, null and undefined are left out
 */
export const shellLine = (...given) => ['tilecouch', ...given]
  .filter(each => each !== false && each !== null && each !== undefined)
  .map(shellWord).join(' ')

/** A text with a button that copies it. label: of the button, for those who hear it. */
export function Copy ({ text, label }) {
  const code = useRef(/** @type {HTMLElement | null} */ (null))
  const [said, say] = useState('')
  useEffect(() => say(''), [text])

  async function copy () {
    try {
      await navigator.clipboard.writeText(text)
      say(words.address.copied)
    } catch { // not allowed outside https and localhost: leave it selected instead
      if (code.current) getSelection()?.selectAllChildren(code.current)
      say(words.address.selected)
    }
  }

  return html`<div class="command">
    <code ref=${code} tabindex="0">${text}</code>
    <button type="button" aria-label=${said ? null : label} onClick=${copy}>${said || words.address.copy}</button>
  </div>`
}
