// A text to copy, with its button.
import { element } from '../client/timeline/dom.js'
import { button } from './dom.js'
import { words } from './words.js'

/** As a shell takes it. @param {string | number} text */
export const shellWord = text =>
  /^[\w@%+=:,./~-]+$/.test(String(text)) ? text : `'${String(text).replaceAll("'", "'\\''")}'`

/**
 * @param {string} [label] of the button, for those who hear it; else its text
 * @returns {{nodes: HTMLElement[], set: (text: string) => void}} nodes: the text and the button
 */
export function copyable (label) {
  const code = element('code', { tabindex: '0' })
  const copying = button(words.address.copy, copy, label ? { 'aria-label': label } : {})
  async function copy () {
    try {
      await navigator.clipboard.writeText(code.textContent)
      say(words.address.copied)
    } catch { // not allowed outside https and localhost: leave it selected instead
      getSelection()?.selectAllChildren(code)
      say(words.address.selected)
    }
  }
  function say (text) {
    copying.textContent = text
    copying.removeAttribute('aria-label')
  }
  return {
    nodes: [code, copying],
    set (text) {
      if (code.textContent === text) return
      code.textContent = text
      copying.textContent = words.address.copy
      if (label) copying.setAttribute('aria-label', label)
    }
  }
}
