// Short messages above the timeline: what is wrong, and what to do about it. One for each matter, and gone when it is over.
import { button, element, icon } from './dom.js'

/** @typedef {{text: string, tone?: 'info' | 'warn', action?: {label: string, run: () => void}, onClose?: () => void}} Notice */

export class Notices {
  #container
  /** @type {Map<string, {node: HTMLElement, text: string}>} */
  #shown = new Map()

  /** @param {HTMLElement} container a live region */
  constructor (container) {
    this.#container = container
  }

  /**
   * @param {string} matter
   * @param {Notice} notice
   */
  say (matter, { text, tone = 'info', action, onClose }) {
    const before = this.#shown.get(matter)
    if (before?.text === text) return // it is not read aloud twice
    const node = element('div', { class: `toast ${tone}`, 'data-matter': matter },
      element('span', null, text),
      action && button(action.label, action.run, { class: 'act' }),
      onClose && element('button', { type: 'button', class: 'icon', 'aria-label': 'Close', on: { click: () => { this.end(matter); onClose() } } }, icon('close')))
    if (before) before.node.replaceWith(node)
    else this.#container.append(node)
    this.#shown.set(matter, { node, text })
  }

  /** @param {string} matter */
  end (matter) {
    this.#shown.get(matter)?.node.remove()
    this.#shown.delete(matter)
  }

  clear () {
    for (const matter of [...this.#shown.keys()]) this.end(matter)
  }
}
