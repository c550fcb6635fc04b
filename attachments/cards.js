// The cards at the right: what changed between two times, and the versions of a tile. Each is opened by something on
// the map or the timeline, and closed by its button, by Escape, or by what opened it.
import { element } from '../client/timeline/dom.js'
import { iconButton } from './dom.js'
import { words } from './words.js'

/** @typedef {{node: HTMLElement, body: HTMLElement, title: HTMLElement, close: () => void}} Card */

export class Cards {
  #container
  /** @type {Map<string, Card>} the last one opened is the last */
  #open = new Map()

  constructor (container) {
    this.#container = container
  }

  /** Closes the card that was opened last. @returns {boolean} whether there was one */
  escape () {
    const last = [...this.#open.values()].at(-1)
    last?.close()
    return Boolean(last)
  }

  /**
   * @param {() => void} onClose when it is closed by its button or by Escape
   * @returns {Card} the one that is open already, or a new one
   */
  open (name, label, onClose) {
    const before = this.#open.get(name)
    if (before) return before
    const title = element('h2', null, label)
    const body = element('div', { class: 'body' })
    const close = () => {
      this.close(name)
      onClose()
    }
    const node = element('section', { class: `card ${name}`, 'aria-label': label, tabindex: '-1' },
      element('header', null, title, iconButton('close', words.close(label), close)), body)
    const card = { node, body, title, close }
    this.#open.set(name, card)
    this.#container.prepend(node)
    this.#changed()
    return card
  }

  /** The body of an open card. */
  body (name) {
    return this.#open.get(name)?.body
  }

  close (name) {
    const card = this.#open.get(name)
    if (!card) return
    const hadFocus = card.node.contains(document.activeElement)
    this.#open.delete(name)
    card.node.remove()
    // the focus must not fall out of the page
    if (hadFocus) document.getElementById('map')?.focus({ preventScroll: true })
    this.#changed()
  }

  #changed () {
    document.body.classList.toggle('carded', this.#open.size > 0)
  }
}
