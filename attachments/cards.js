// The cards at the right, such as "What changed here" and "This place". The map or the timeline opens them; their
// button or Escape closes them.
import { element } from '../client/timeline/dom.js'
import { html, render } from './html.js'
import { IconButton } from './parts.js'
import { words } from './words.js'

/** @typedef {{node: HTMLElement, body: HTMLElement, title: HTMLElement, close: () => void}} Card */

export class Cards {
  #container
  /** @type {Map<string, Card>} in the order in which they were opened */
  #open = new Map()

  constructor (container) {
    this.#container = container
  }

  /** Closes the card that was opened last. */
  escape () {
    [...this.#open.values()].at(-1)?.close()
  }

  /**
   * @param {() => void} onClose called when the button or Escape closes the card
   * @returns {Card} the open card of this name, or a new one
   */
  open (name, label, onClose) {
    const openCard = this.#open.get(name)
    if (openCard) return openCard
    const header = element('header')
    const body = element('div', { class: 'body' })
    const close = () => {
      this.close(name)
      onClose()
    }
    const closeButton = html`<${IconButton} name="close" label=${words.close(label)} onClick=${close} />`
    render(html`<h2>${label}</h2>${closeButton}`, header)
    const node =
      element('section', { class: `card ${name}`, 'aria-label': label, tabindex: '-1' }, header, body)
    const card = { node, body, title: /** @type {HTMLElement} */ (header.firstChild), close }
    this.#open.set(name, card)
    this.#container.prepend(node)
    this.#mark()
    return card
  }

  close (name) {
    const card = this.#open.get(name)
    if (!card) return
    const hadFocus = card.node.contains(document.activeElement)
    this.#open.delete(name)
    card.node.remove()
    render(null, card.body) // components release the map and their listeners
    if (hadFocus) document.getElementById('map')?.focus({ preventScroll: true })
    this.#mark()
  }

  /** The page has a class while a card is open. */
  #mark () {
    document.body.classList.toggle('carded', this.#open.size > 0)
  }
}
