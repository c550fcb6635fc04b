// Compares the chosen layer with another time of it, or with another layer. The left side is under a handle, faded into
// the right side, or on a second map.
import { Clock } from '../client/engine/clock.js'
import { CompareControl } from '../client/leaflet/compare-control.js'
import { time as written } from './format.js'
import { words } from './words.js'

const LONGEST_WAIT = 1500 // milliseconds that the comparison waits for the images of the left side

const texts = words.compare.control

/** @type {any} in the form that the control of the library takes */
const controlWords = {
  ...texts,
  swipe: (left, leftShare, right, rightShare) => texts.swipe({ left, leftShare, right, rightShare }),
  fade: (left, leftShare, right, rightShare) => texts.fade({ left, leftShare, right, rightShare })
}

/**
 * @typedef {object} Left the left side
 * @property {import('./store.js').Layer | null} [doc] another layer; none: another time of the chosen layer
 * @property {string | null} time null: the newest
 */

export class Comparison {
  /** @type {Left | null} null: no comparison */
  left = null
  /** @type {'swipe' | 'side' | 'fade'} */
  mode = 'swipe'
  #map
  #stage
  /**
   * @type {{layer: any, clock: any, control: any, to: string | undefined, placedAt: number | undefined} | null}
   * while it is on the map
   */
  #shown = null
  /** @type {any} the second map, while there is one */
  #sideMap = null
  #isWriting = false // the range of the timeline

  /** @param {import('./stage.js').Stage} stage */
  constructor (map, stage) {
    this.#map = map
    this.#stage = stage
  }

  /** Whether both sides are of one layer: then their times are the range of the timeline. */
  get isOfOne () {
    return Boolean(this.left) && (this.left?.doc ?? this.#stage.doc)?.layer === this.#stage.doc?.layer
  }

  /** The layer of the left side; null before it is opened. */
  get layer () {
    return this.#shown?.layer ?? null
  }

  /** @returns {import('../client/leaflet/compare-control.js').CompareControl | null} null: not on the map yet */
  get control () {
    return this.#shown?.control._map ? this.#shown.control : null
  }

  /** Whether the handle sets the opacity of the chosen layer. */
  get isFading () {
    return this.mode === 'fade' && this.control !== null
  }

  /** @param {Left | null} left */
  set (left) {
    const isSameLayer = this.#shown && left && this.#docOf(left)?.layer === this.#docOf(this.left)?.layer
    this.left = left
    if (isSameLayer) {
      this.#shown?.clock.setTime(left.time)
      this.#writeRange(left)
    } else {
      this.pause()
      this.resume()
      this.#stage.stack.apply()
    }
    this.label()
  }

  /** @param {'swipe' | 'side' | 'fade'} mode */
  setMode (mode) {
    this.mode = mode
    if (!this.#shown) return
    this.#shown.control.setMode(mode)
    this.#followSideMap()
    this.#stage.stack.apply()
    this.#stage.fire('compare')
  }

  /** Removes the comparison from the map, until `resume`. */
  pause () {
    if (!this.#shown) return
    const { layer, control } = this.#shown
    this.#shown = null
    if (control._map) control.remove()
    this.#followSideMap()
    layer.remove()
  }

  /**
   * Puts the comparison into the middle of the free part of the map. Two maps show the view in the middle of each.
   * @param {import('./map.js').MapView} view @param {{left: number, right: number, bottom: number}} padding
   */
  fit (view, padding) {
    const { control } = this
    if (!this.#shown || !control) return view.shift(0, 0)
    const { x, y } = this.#map.getSize()
    const { left, right, bottom } = padding
    control.setPadding(padding)
    // cards may open later: the handle stays in the middle until the user has moved it
    const { placedAt } = this.#shown
    if (this.mode === 'swipe' && (placedAt === undefined || control.getSplit() === placedAt)) {
      control.setSplit((left + x - right) / 2 / x)
      this.#shown.placedAt = control.getSplit()
    }
    if (!control.getSideMap()) view.shift(0, 0)
    else if (y > x) view.shift(0, 3 * (y - bottom) / 4 - y / 2)
    else view.shift((left + 3 * (x - right)) / 4 - x / 2, 0)
  }

  resume () {
    const doc = this.#docOf(this.left)
    if (!this.left || !doc || this.#shown) return
    const clock = new Clock({ time: this.left.time })
    // below the chosen layer until both can be clipped
    const { stack } = this.#stage
    const place = { zIndex: stack.zIndexOf() - 1, opacity: stack.opacityOf() }
    const layer = this.#stage.open(doc, { clock, preload: 0, ...place })
    const control = new CompareControl(layer, this.#stage.layer, {
      mode: this.mode, label: words.compare.handle, words: controlWords
    })
    control.on('splitchange', () => this.#stage.fire('split'))
    this.#shown = { layer, clock, control, to: this.#stage.range?.to, placedAt: undefined }
    const show = () => {
      if (this.#shown?.control !== control || control._map) return
      control.addTo(this.#map)
      this.#followSideMap()
      this.label()
      this.#stage.fire('compare')
    }
    layer.once('timeload', show)
    setTimeout(show, LONGEST_WAIT)
    layer.addTo(this.#map)
    this.#writeRange(this.left)
  }

  retry () {
    this.#shown?.layer.retry()
  }

  /** The range of the timeline was moved or removed. */
  onRange (from, to) {
    if (!this.left || !this.isOfOne || this.#isWriting) return
    if (!from) return this.#stage.compare(null)
    this.left = { ...this.left, time: from }
    if (!this.#shown) return
    this.#shown.clock.setTime(from)
    if (this.#shown.to !== to) this.#stage.clock.setTime(to)
    this.#shown.to = to
    this.label()
  }

  /** The order or the opacity of the layers changed. */
  onStack () {
    const { stack } = this.#stage
    this.#shown?.layer.setZIndex(stack.zIndexOf() - 1).setOpacity(stack.opacityOf())
  }

  label () {
    if (!this.#shown || !this.left) return
    const { doc } = this.#stage
    const [left, right] = [this.#shown.clock.getTime(), this.#stage.time].map(written)
    const titled = (layer, time) => this.isOfOne ? time : `${layer?.name ?? layer?.layer} · ${time}`
    this.#shown.control.setLabels(titled(this.left.doc, left), titled(doc, right))
  }

  #docOf (left) {
    return left && (left.doc ?? this.#stage.doc)
  }

  /** A second map for the left side also needs the base map and the other layers. */
  #followSideMap () {
    const map = this.#shown?.control.getSideMap() ?? null
    if (map === this.#sideMap) return
    if (this.#sideMap) this.#stage.stack.removeMap(this.#sideMap)
    this.#sideMap = map
    if (map) this.#stage.stack.addMap(map)
  }

  /** Two times of one layer can be moved on the timeline. @param {Left} left */
  #writeRange ({ time: from }) {
    const { range, time, layer } = this.#stage
    if (this.isOfOne && range?.from === from) return // the range already has this time
    const to = range && time === null ? range.to : time ?? layer?.extent()?.last ?? from
    this.#isWriting = true
    this.#stage.range = this.isOfOne && from !== null && to !== null ? { from, to } : null
    this.#isWriting = false
    if (this.#shown) this.#shown.to = this.#stage.range?.to
  }
}
