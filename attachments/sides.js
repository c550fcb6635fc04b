// The two sides of a comparison: which layer and which time each of them shows, and how they are shown.
import { element } from '../client/timeline/dom.js'
import { choices, fillSelect } from './dom.js'
import { byName, date, time as written, zoneId } from './format.js'
import { MODES } from './comparison.js'
import { isInOtherGrid } from './other-grid.js'
import { words } from './words.js'

const NEWEST = '' // as the value of an option
/** @type {any[]} */
const NONE = []
const MOST = 500 // times of a list, the newest: more are found on the timeline

/**
 * What a list was made of.
 * @typedef {{editions: any, changes: any, zone: string, options: [string, string][]}} Listed
 */

export class Sides {
  #stage
  #page
  /** @type {Map<string, import('./store.js').Edition[]>} by layer */
  #editions = new Map()
  #modes = choices(
    words.compare.mode, MODES.map(mode => [mode, words.compare.modes[mode]]),
    mode => this.#stage.comparison.setMode(mode)
  )

  #left = this.#side('left', layer => this.#chooseLeft(layer), time => this.#compareAt(time))
  #right = this.#side('right', layer => this.#page.onLayer(layer), time => this.#stage.clock.setTime(time))

  element = element('div', { class: 'sides' }, this.#modes.element, this.#left.element, this.#right.element)

  /**
   * @param {import('./stage.js').Stage} stage
   * @param {{layers: () => import('./store.js').Layer[], editions: (layer: string) =>
   *   Promise<import('./store.js').Edition[]>, onLayer: (layer: string) => void}} page
   */
  constructor (stage, page) {
    this.#stage = stage
    this.#page = page
  }

  /** Writes what is compared now. */
  update () {
    const { comparison, doc, time, layer } = this.#stage
    const { left } = comparison
    if (!left || !doc) return
    this.#modes.set(comparison.mode)
    this.#write(this.#left, left.doc ?? doc, left.time, comparison.layer)
    this.#write(this.#right, doc, time, layer)
  }

  /** Editions are read anew for the next comparison. */
  forget () {
    this.#editions.clear()
  }

  #side (name, onLayer, onTime) {
    const label = words.compare.sides[name]
    const layer = element('select', {
      'aria-label': label.layer, on: { change: ({ target }) => onLayer(target.value) }
    })
    const time = element('select', {
      'aria-label': label.time, on: { change: ({ target }) => onTime(target.value || null) }
    })
    const listed = /** @type {Listed | null} */ (null)
    return {
      layer,
      time,
      listed,
      element: element(
        'div', { class: `side ${name}` }, element('span', { 'aria-hidden': 'true' }, label.name), layer, time
      )
    }
  }

  #write (side, doc, time, layer) {
    const layers = this.#page.layers().filter(one => !isInOtherGrid(one)).map(one => [one.layer, one.name ?? one.layer])
      .sort(([, a], [, b]) => byName(a, b))
    side.layer.hidden = layers.length < 2
    fillSelect(side.layer, layers, doc.layer)
    const editions = this.#editions.get(doc.layer)
    if (!editions) this.#readEditions(doc.layer)
    const options = this.#times(side, editions ?? NONE, layer?.changes?.() ?? NONE)
    const isListed = time === null || options.some(([value]) => value === time)
    const [newest, ...others] = options
    fillSelect(side.time, isListed ? options : [newest, [time, written(time)], ...others], time ?? NEWEST)
  }

  /** The times of a side, the newest first: editions, and changes in view. Made anew only when these are others. */
  #times (side, editions, changes) {
    const { listed } = side
    const zone = zoneId()
    if (listed?.editions === editions && listed.changes === changes && listed.zone === zone) return listed.options
    const titles = new Map(changes.map(({ time }) => [time, undefined]))
    for (const { time, title } of editions) titles.set(time, title)
    const options = [[NEWEST, words.newest], ...[...titles].sort(([a], [b]) => a < b ? 1 : -1).slice(0, MOST)
      .map(([time, title]) => [time, title ? `${date(time)} · ${title}` : written(time)])]
    side.listed = { editions, changes, zone, options }
    return options
  }

  async #readEditions (layer) {
    this.#editions.set(layer, NONE)
    const editions = await this.#page.editions(layer).catch(() => [])
    this.#editions.set(layer, editions)
    this.update()
  }

  /** Another layer is compared with as it is at the same time. */
  #chooseLeft (name) {
    const { doc, comparison, time } = this.#stage
    const other = this.#page.layers().find(({ layer }) => layer === name)
    const isSame = name === doc?.layer
    this.#stage.compare({ doc: isSame ? null : other, time: isSame ? comparison.left?.time ?? time : time })
  }

  #compareAt (time) {
    this.#stage.compare({ ...this.#stage.comparison.left, time })
  }
}
