// What is on this device: whether the store answers, the areas, how much room they take.
import { element } from '../../client/timeline/dom.js'
import { button, soon } from '../dom.js'
import { size } from '../format.js'
import { offlineWords as texts } from '../words.js'
import { AreaItem } from './area-item.js'
import { reasons } from './words.js'

const REWRITE_INTERVAL = 30000 // milliseconds after which words such as "5 minutes ago" are not right any more
const METER_INTERVAL = 1000 // milliseconds between two looks at the room while tiles come

export class AreaList {
  #offline
  #page
  /** @type {Map<string, AreaItem>} */
  #items = new Map()
  #connection = element('p', { class: 'connection' })
  #list = element('ul', { class: 'areas', 'aria-label': texts.areas })
  #empty = element('p', { class: 'hint' }, texts.intro)
  #message = element('p', { class: 'unseen', role: 'status' })
  #add
  #meter
  #timer

  /**
   * @param {{layerTitle: (layer: string) => string, show: (area: any) => void, onAdd: () => void, onChange: () =>
   *   void, coverage: HTMLElement, reason?: string}} page
   */
  constructor (offline, page) {
    this.#offline = offline
    this.#page = page
    const announce = text => { this.#message.textContent = text }
    this.#meter = new StorageMeter(offline)
    this.#add = button(texts.add, page.onAdd, { class: 'primary' })
    this.node = element(
      'div',
      { class: 'offline-areas' },
      this.#connection,
      page.reason && element('p', { class: 'hint' }, reasons[page.reason] ?? reasons.failed),
      this.#empty,
      this.#list,
      this.#add,
      page.coverage,
      this.#meter.element,
      this.#message
    )
    this.#make = area => new AreaItem(
      area, { layerTitle: page.layerTitle, show: page.show, announce, onRemoved: item => this.#removed(item) }
    )
    this.measure = soon(() => this.#meter.update(), METER_INTERVAL)
    this.sync()
    this.setOnline(offline.isOnline)
    this.#meter.update()
    this.#timer = setInterval(() => { for (const item of this.#items.values()) item.update() }, REWRITE_INTERVAL)
  }

  #make

  close () {
    clearInterval(this.#timer)
  }

  /** The areas as they are now; those that stay keep their place and the focus. */
  sync () {
    const areas = this.#offline.areas.list()
    const there = new Set(areas.map(({ id }) => id))
    for (const [id, item] of this.#items) {
      if (there.has(id)) continue
      this.#leave(item)
      this.#items.delete(id)
    }
    for (const area of areas) {
      const item = this.#items.get(area.id)
      if (item) item.update()
      else {
        const made = this.#make(area)
        this.#items.set(area.id, made)
        this.#list.append(made.node)
      }
    }
    this.#empty.hidden = areas.length > 0
    this.#list.hidden = !areas.length
    this.measure()
    this.#page.onChange()
  }

  /** @returns {AreaItem | undefined} */
  item (id) {
    return this.#items.get(id)
  }

  /** Without a known state, the browser's. */
  setOnline (online = navigator.onLine) {
    this.#connection.classList.toggle('away', !online)
    const text = online ? texts.connected : texts.notConnected
    if (this.#connection.textContent !== text) this.#connection.textContent = text
  }

  /** Opens one of them, and closes the others. */
  open (id) {
    for (const [other, item] of this.#items) item.isOpen = other === id
  }

  focus () {
    this.#add.focus({ preventScroll: true })
  }

  #leave ({ node }) {
    const hadFocus = node.contains(document.activeElement)
    node.remove()
    if (hadFocus) this.focus()
  }

  #removed ({ area }) {
    this.#message.textContent = texts.removed(area.name)
    this.sync()
    this.#meter.update()
  }
}

export class StorageMeter {
  #offline
  #fill = element('span', { class: 'fill' })
  #bar = element('div', { class: 'bar', role: 'img' }, this.#fill)
  #words = element('p', { class: 'figures' })
  #promise = element('p', { class: 'hint' })
  #turn = 0
  element = element(
    'section',
    { class: 'meter', 'aria-label': texts.room.head, hidden: true },
    element('h3', null, texts.room.head),
    this.#bar,
    this.#words,
    this.#promise
  )

  constructor (offline) {
    this.#offline = offline
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
    this.#words.textContent = [
      used !== undefined && texts.room.taken(size(used)), free !== undefined && texts.room.free(size(free))
    ].filter(Boolean).join(' · ')
    this.#bar.setAttribute('aria-label', this.#words.textContent)
    this.#promise.textContent = persisted ? texts.room.kept : texts.room.mayGo
  }
}
