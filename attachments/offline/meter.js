// How much room the areas take on this device, how much is free, and whether the browser may throw them away.
import { button, element } from '../dom.js'
import { size } from '../format.js'

export class Meter {
  #offline
  #announce
  #fill = element('span', { class: 'fill' })
  #bar = element('div', { class: 'bar', role: 'img' }, this.#fill)
  #words = element('p', { class: 'figures' })
  #promise = element('p', { class: 'hint' })
  #keep = button('Keep it', () => this.#persist(), { class: 'secondary' })
  #turn = 0
  element = element('section', { class: 'meter', 'aria-label': 'Room on this device', hidden: true }, element('h3', null, 'Room on this device'), this.#bar, this.#words,
    element('div', { class: 'row' }, this.#promise, this.#keep))

  /** @param {any} offline @param {(text: string) => void} announce */
  constructor (offline, announce) {
    this.#offline = offline
    this.#announce = announce
  }

  /** Asks again. */
  async update () {
    const turn = ++this.#turn
    const room = await this.#offline.storage().catch(() => undefined)
    if (turn !== this.#turn || !room) return
    const { usage, quota, free, persisted, ours } = room
    this.element.hidden = false
    const used = ours ?? usage
    this.#bar.hidden = !quota
    if (quota) this.#fill.style.width = `${Math.max(1, 100 * (quota - free) / quota)}%`
    this.#words.textContent = [used !== undefined && `Maps take ${size(used)}`, free !== undefined && `${size(free)} free`].filter(Boolean).join(' · ')
    this.#bar.setAttribute('aria-label', this.#words.textContent)
    this.#promise.textContent = persisted ? 'Kept until you remove it.' : 'The browser may throw it away when it needs the room.'
    // without https there is nobody to ask
    this.#keep.hidden = Boolean(persisted) || !navigator.storage?.persist
  }

  async #persist () {
    const isKept = await this.#offline.persist().catch(() => false)
    await this.update()
    if (!isKept) this.#promise.textContent = 'The browser did not promise it. It does so more readily for a page that is installed, or bookmarked.'
    this.#announce(this.#promise.textContent)
  }
}
