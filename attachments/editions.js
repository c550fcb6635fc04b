// The editions of a layer by title, newest first, or only those that changed something in view; choosing one moves the
// clock there.
import { element } from '../client/timeline/dom.js'
import { Watch, button, toggle } from './dom.js'
import { date, percent, time as written } from './format.js'
import { words } from './words.js'

export const PAGE = 50 // editions read, and shown, at once: a layer loaded every hour has thousands, of a kB each
const MANY = 12 // editions from which on there is a search
const [WIDTH, HEIGHT] = [72, 48] // pixels of a small picture of the view

/**
 * @typedef {object} Listeners
 * @property {(time: string | null) => void} onSelect
 * @property {() => void} onMore older ones are wanted
 * @property {() => void} onAll all are wanted, to be searched
 * @property {(time: string | null) => void} onFootprint what an edition covers is to be seen, or nothing any more
 * @property {(on: boolean) => void} onHeat how often places changed is to be seen
 * @property {(canvas: HTMLCanvasElement, time: string) => void} onThumbnail a small picture of the view is in sight
 */

export class Editions {
  element = element('div', { class: 'editions' })
  /** @type {import('./store.js').Edition[]} newest first */
  #editions = []
  #more = false // older ones are not read yet
  #limit = PAGE
  #on
  /** @type {string | null} time of the edition that is to be seen */
  #chosen = null
  /** @type {string | null} */
  #time = null
  /** @type {{time: string, tiles: number}[] | null} of the view, oldest first; null while they are not known */
  #changes = null
  #tiles = 0 // in view, that ever were
  /** @type {{time: string | null}[]} what is listed, the newest first */
  #listed = []
  /** @type {WeakMap<object, string>} edition -> what a search looks at */
  #texts = new WeakMap()
  #heading = element('h3', { id: 'editions' })
  #search = element('input', {
    type: 'search',
    placeholder: words.editions.find,
    'aria-label': words.editions.find,
    on: { input: () => this.#find() }
  })
  #here = toggle(words.editions.onlyHere, () => this.render())
  #heat = toggle(words.editions.heat, on => this.#on.onHeat(on))
  #legend = element('p', { class: 'heat-legend', 'aria-hidden': 'true', hidden: true }, words.editions.seldom,
    ...[1, 2, 3, 4, 5].map(level => element('span', { class: `heat heat-${level}` })), words.editions.often)

  #note = element('p', { class: 'hint', role: 'status' })
  #list = element('ul', { 'aria-labelledby': 'editions' })
  #older = button(words.editions.older, () => this.#showMore(), { class: 'more' })
  #footprint = button(
    words.editions.footprint,
    () => this.#setFootprint(!this.#hasFootprint),
    { class: 'more', 'aria-pressed': 'false', hidden: true }
  )
  /** @type {Watch | undefined} */
  #watch

  /** @param {Listeners} listeners */
  constructor (listeners) {
    this.#on = listeners
    this.#heat.input.addEventListener('change', () => { this.#legend.hidden = !this.#heat.input.checked })
  }

  get length () {
    return this.#editions.length
  }

  /** The title of the edition that is shown at a time; null: the newest. @param {string | null} shown */
  titleAt (shown) {
    return this.#editions.find(({ time }) => shown === null || time <= shown)?.title
  }

  /** Whether the list follows the view. */
  get isOfView () {
    return this.#here.input.checked
  }

  /**
   * @param {import('./store.js').Edition[]} editions newest first; older ones that are known stay
   * @param {boolean} more whether there are older ones
   */
  fill (editions, more) {
    const oldest = editions.at(-1)?.time ?? ''
    const older = more ? this.#editions.filter(({ time }) => time < oldest) : []
    const next = [...editions, ...older]
    const hasMore = older.length ? this.#more : more
    const isSame = next.length === this.#editions.length && hasMore === this.#more && editions.length <= PAGE &&
      JSON.stringify(editions) === JSON.stringify(this.#editions.slice(0, editions.length))
    this.#editions = next
    this.#more = hasMore
    if (!isSame || !this.element.childElementCount) this.render()
  }

  /** All are being read: these are there. @param {import('./store.js').Edition[]} found */
  progress (found) {
    this.#note.textContent = words.editions.searching(found.length)
    this.#note.hidden = false
    for (const edition of found) this.#textOf(edition) // in parts, and not all with the next letter that is typed
  }

  /**
   * When the view changed.
   * @param {{time: string, tiles: number}[] | null} changes oldest first; null while they are not known
   * @param {number} tiles in view, that ever were
   */
  setChanges (changes, tiles) {
    this.#changes = changes
    this.#tiles = tiles
    if (this.isOfView || this.#editions.length < 2) this.render()
  }

  /** Writes the list anew. The focus stays where it was in it. */
  render () {
    const active = /** @type {HTMLElement | null} */ (document.activeElement)
    const focused = this.#list.contains(active) ? active?.dataset.time : undefined
    const scrolled = this.#list.scrollTop
    const total = this.#editions.length
    const found = this.#matching()
    this.#listed = found.slice(0, this.#limit + 1)
    this.#watch?.end()
    const draw = canvas => this.#on.onThumbnail(canvas, canvas.dataset.of)
    this.#watch = new Watch(draw, { root: this.#list })
    const describe = this.#describer()
    this.#list.replaceChildren(...this.#listed.map(one => this.#entry(describe(one))))
    this.#list.hidden = !this.#listed.length
    this.#heading.hidden = !total
    this.#heading.textContent = this.#more ? words.editions.last(total) : words.editions.count(total)
    this.#search.hidden = !(total > MANY || this.#more) || this.isOfView
    this.#older.hidden = !((this.#more && !this.isOfView) || found.length > this.#listed.length)
    if (!this.#older.hidden) this.#list.append(element('li', null, this.#older))
    this.#say(found)
    const isPart = total > 1 || (this.#changes?.length ?? 0) > 1
    this.#here.element.hidden = this.#heat.element.hidden = !isPart
    if (!this.element.childElementCount) this.#build()
    this.element.hidden = !total && !isPart
    this.#list.scrollTop = scrolled
    this.#mark()
    if (focused !== undefined) this.#list.querySelector(`[data-time="${focused}"]`)?.focus({ preventScroll: true })
  }

  /** Marks the edition that is to be seen at a time. */
  setTime (time) {
    this.#time = time
    this.#mark()
  }

  #build () {
    this.element.append(
      element('div', { class: 'row' }, this.#heading, this.#search), this.#here.element, this.#note, this.#list,
      this.#footprint, this.#heat.element, this.#legend)
  }

  /** What is to be listed, the newest first: editions, or changes of the view. @returns {any[]} */
  #matching () {
    if (this.isOfView) return this.#changes?.length ? [NEWEST, ...[...this.#changes].reverse()] : []
    if (!this.#editions.length) return []
    const wanted = this.#search.value.toLowerCase().split(/\s+/).filter(Boolean)
    if (!wanted.length) return [NEWEST, ...this.#editions]
    return this.#editions.filter(edition => wanted.every(word => this.#textOf(edition).includes(word)))
  }

  #textOf (edition) {
    let text = this.#texts.get(edition)
    if (text === undefined) {
      const { title, note } = itemOf(edition)
      text = `${title} ${note} ${edition.source ?? ''} ${edition.time}`.toLowerCase()
      this.#texts.set(edition, text)
    }
    return text
  }

  /** How one of the list is written. Only of those that are listed: there may be thousands. */
  #describer () {
    if (!this.isOfView) return itemOf
    const known = new Map(this.#editions.map(edition => [edition.time, edition]))
    return one => {
      if (one === NEWEST) return itemOf(one)
      const { time, tiles } = one
      const share = this.#tiles ? percent(Math.min(tiles / this.#tiles, 1)) : ''
      return {
        ...itemOf(known.get(time) ?? { time, finished: time }),
        share: [share, words.tiles(tiles)].filter(Boolean).join(' · ')
      }
    }
  }

  #say (found) {
    const isSearched = this.#search.value.trim() && !this.isOfView
    this.#note.textContent = this.isOfView
      ? (this.#changes ? (this.#changes.length ? '' : words.editions.noneHere) : words.editions.looking)
      : isSearched && !found.length ? words.editions.noMatch(this.#search.value.trim()) : ''
    this.#note.hidden = !this.#note.textContent
  }

  #entry ({ time, title, note, share }) {
    const attributes = { type: 'button', 'data-time': time ?? '', on: { click: () => this.#on.onSelect(time) } }
    return element('li', null, element('button', attributes,
      share && this.#thumbnail(time),
      element('span', { class: 'name' }, title),
      element('span', { class: 'note' }, note),
      share && element('span', { class: 'share' }, share)))
  }

  #thumbnail (time) {
    const canvas = element('canvas', { width: 2 * WIDTH, height: 2 * HEIGHT, 'data-of': time, 'aria-hidden': 'true' })
    this.#watch?.add(canvas)
    return canvas
  }

  #mark () {
    const isShown = item => this.#time !== null && item.time !== null && item.time <= this.#time
    const at = this.#listed.findIndex(this.#time === null ? ({ time }) => time === null : isShown)
    const buttons = this.#list.querySelectorAll('[data-time]')
    for (const [index, each] of buttons.entries()) {
      const pressed = String(index === at)
      if (each.getAttribute('aria-pressed') === pressed) continue
      each.setAttribute('aria-pressed', pressed)
      if (index === at) this.#reveal(/** @type {HTMLElement} */ (each.parentElement))
    }
    const until = this.#time // of several that are shown, it is the last one up to then
    const chosen = until === null ? null : this.#editions.find(({ time }) => time <= until)?.time ?? null
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
    this.#on.onFootprint(is ? this.#chosen : null)
  }

  // scrolls the list alone: scrollIntoView would move the panel too
  #reveal ({ offsetTop, offsetHeight }) {
    const { scrollTop, clientHeight } = this.#list
    if (offsetTop < scrollTop) this.#list.scrollTop = offsetTop
    else if (
      offsetTop + offsetHeight > scrollTop + clientHeight
    ) this.#list.scrollTop = offsetTop + offsetHeight - clientHeight
  }

  #find () {
    if (this.#more && this.#search.value.trim()) this.#on.onAll()
    this.#list.scrollTop = 0
    this.render()
  }

  #showMore () {
    this.#limit += PAGE
    if (this.#more && !this.isOfView) this.#on.onMore()
    else this.render()
  }
}

const NEWEST = { time: null }

function itemOf ({ time, title = '', finished = '' }) {
  if (time === null) return { time, title: words.newest }
  return { time, title: title || written(time), note: !finished ? words.editions.loading : title ? date(time) : '' }
}
