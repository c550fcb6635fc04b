// What needs Node stays a command: filled in, ready to copy.
import { element } from '../../client/timeline/dom.js'
import { copyable, shellWord } from '../copy.js'

/** @param {string} line @param {string} [label] of its button, for those who hear it @returns {HTMLElement} */
export function command (line, label) {
  const { nodes, set } = copyable(label)
  set(line)
  return element('div', { class: 'command' }, ...nodes)
}

/**
 * A line of a shell from its arguments.
 * @param {...(string | number | false | null | undefined)} given false, null and undefined are left out
 */
export const shellLine = (...given) => ['tilecouch', ...given]
  .filter(each => each !== false && each !== null && each !== undefined)
  .map(shellWord).join(' ')
