// The editions of a layer by title, newest first; choosing one moves the clock there.
import { element } from '../client/timeline/dom.js'
import { button } from './dom.js'
import { date, plural, time as written } from './format.js'

export const PAGE = 200 // editions read at once: a layer loaded every hour has thousands
const MANY = 12 // editions from which on there is a search

export class Editions {
  element = element('div', { class: 'editions' })
  /** @type {import('./store.js').Edition[]} newest first */
  #editions = []
  #onSelect
  #onMore
  #onFootprint
  /** @type {string | null} time of the edition that is to be seen */
  #chosen = null
  #footprint = button('Outline what it covers', () => this.#setFootprint(!this.#hasFootprint), { class: 'more', 'aria-pressed': 'false', hidden: true })
  /** @type {{item: HTMLElement, button: HTMLElement, time: string | null, text: string}[]} */
  #items = []
  #list
  #search = element('input', { type: 'search', placeholder: 'Find an edition', 'aria-label': 'Find an edition', on: { input: () => this.#filter() } })

  /**
   * @param {{onSelect: (time: string | null) => void, onMore: () => void, onFootprint: (time: string | null) => void}}
   *   options onMore: older ones are wanted; onFootprint: what an edition covers is to be seen, or nothing any more
   */
  constructor ({ onSelect, onMore, onFootprint }) {
    this.#onSelect = onSelect
    this.#onMore = onMore
    this.#onFootprint = onFootprint
  }

  get length () {
    return this.#editions.length
  }

  /** @param {import('./store.js').Edition[]} editions @param {boolean} more whether there are older ones */
  fill (editions, more) {
    this.#editions = editions
    const item = (time, title, note) => {
      const choice = element('button', { type: 'button', 'data-time': time ?? '', on: { click: () => this.#onSelect(time) } },
        element('span', null, title), element('span', { class: 'note' }, note))
      return { item: element('li', null, choice), button: choice, time, text: `${title} ${note} ${time}`.toLowerCase() }
    }
    this.#items = !editions.length ? [] : [
      item(null, 'Newest', 'of every tile'),
      ...editions.map(({ time, title, finished }) => item(time, title ?? written(time), !finished ? 'loading …' : title ? date(time) : ''))
    ]
    const scrolled = this.#list?.scrollTop ?? 0
    this.#list = element('ul', { 'aria-labelledby': 'editions' }, ...this.#items.map(({ item: entry }) => entry),
      more && element('li', null, button('Older editions', this.#onMore, { class: 'more' })))
    this.element.replaceChildren(...!editions.length ? [] : [
      element('div', { class: 'row' },
        element('h3', { id: 'editions' }, more ? `The last ${plural(editions.length, 'edition')}` : plural(editions.length, 'edition')),
        editions.length > MANY ? this.#search : ''),
      this.#list,
      this.#footprint])
    this.#list.scrollTop = scrolled
    this.#filter()
  }

  /** Marks the edition that is to be seen at a time. */
  setTime (time) {
    const shown =
      time === null ? this.#items[0] : this.#items.slice(1).find(item => /** @type {string} */ (item.time) <= time)
    for (const item of this.#items) {
      const pressed = String(item === shown)
      if (item.button.getAttribute('aria-pressed') === pressed) continue
      item.button.setAttribute('aria-pressed', pressed)
      if (item === shown) this.#reveal(item.item)
    }
    const chosen = shown?.time ?? null
    if (chosen === this.#chosen) return
    this.#chosen = chosen
    this.#footprint.hidden = chosen === null
    if (this.#hasFootprint) this.#setFootprint(chosen !== null)
  }

  get #hasFootprint () {
    return this.#footprint.getAttribute('aria-pressed') === 'true'
  }

  #setFootprint (is) {
    this.#footprint.setAttribute('aria-pressed', String(is))
    this.#onFootprint(is ? this.#chosen : null)
  }

  // scrolls the list alone: scrollIntoView would move the panel too
  #reveal ({ offsetTop, offsetHeight }) {
    const { scrollTop, clientHeight } = this.#list
    if (offsetTop < scrollTop) this.#list.scrollTop = offsetTop
    else if (
      offsetTop + offsetHeight > scrollTop + clientHeight
    ) this.#list.scrollTop = offsetTop + offsetHeight - clientHeight
  }

  #filter () {
    const words = this.#search.value.toLowerCase().split(/\s+/).filter(Boolean)
    for (const { item, text } of this.#items) item.hidden = !words.every(word => text.includes(word))
  }
}
