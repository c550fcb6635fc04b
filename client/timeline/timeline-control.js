// The timeline: when the view of the map changed, and the way through it.
import L from 'leaflet'
import { fromSeconds } from '../../core/times.js'
import { player } from './player.js'
import { makeAxis } from './axis.js'
import { dock, element, write } from './dom.js'
import { listenToKeys, listenToPointers } from './axis-input.js'
import { uniteChanges, uniteExtents } from './steps.js'
import { airy, axisOf, clampSpan, domainOf, followSpan, zoomSpan } from './time-scale.js'
import { makeToolbar } from './toolbar.js'
import { capital, timelineWords, valueText } from './words.js'
import { zoneOf } from './zones.js'

const INSET = 12 // pixels left of the first and right of the last time
const SPEAK_DELAY = 600 // milliseconds without a move, after which the time is announced
const LAYER_EVENTS = 'changes extent timeload load loading tileerror add remove'
const PLAYER_EVENTS = 'play pause waiting step speedchange pacechange loopchange'

/** A handle's own time, that of the thumb while it is dragged, or what the pointer means. */
const meantTime = ({ end, dragging, meant }, { range, time }) => end ? range[end] : dragging ? time : inSeconds(meant())

const inSeconds = ms => ms === null ? null : fromSeconds(Math.round(ms / 1000))

export const timelineDefaults = {
  /** @type {L.ControlPosition} anything at the bottom: along the lower edge of the map; at the top: along the upper */
  position: 'bottomleft',
  /** @type {HTMLElement | null} an element to be in instead of the map */
  container: null,
  /** steps a second while playing */
  speed: 2,
  /** @type {number | null} seconds of the map's time that pass in one while playing, instead of `speed` */
  pace: null,
  /** playing starts again at the end */
  loop: false,
  /** @type {TimeRange | null} {from, to} to begin with */
  range: null,
  /** @type {TimeZone} 'utc', 'local', or a name such as 'Europe/Berlin' */
  timeZone: 'utc',
  /** false: no play button, speed and loop */
  playable: true,
  /** false: no range */
  selectable: true,
  /** false: the axis always shows all */
  zoomable: true,
  /** @type {Partial<TimelineWords>} its texts in another language: the fields of timelineWords that are given */
  words: {}
}

/**
 * @typedef {import('../engine/clock.js').ExactTime} ExactTime
 * @typedef {import('../engine/clock.js').TimeRange} TimeRange
 * @typedef {import('../leaflet/history-layer.js').HistoryLayer} HistoryLayer
 * @typedef {import('./words.js').TimelineWords} TimelineWords
 * @typedef {'utc' | 'local' | (string & {})} TimeZone in which times are shown; or a name such as `Europe/Berlin`
 * @typedef {Partial<typeof timelineDefaults>} TimelineControlOptions
 *
 * @typedef {object} TimelineControlEvents
 * @property {{from?: ExactTime, to?: ExactTime}} rangechange another range was chosen; without fields: none
 * @property {{timeZone: TimeZone}} zonechange `setTimeZone` was called, or the user chose another
 */

const Base = /** @type {import('../leaflet/leaflet.js').Base<L.Control & L.Evented, typeof timelineDefaults, TimelineControlEvents, typeof L.Control>} */ (
  /** @type {unknown} */ (L.Control.extend({ includes: L.Evented.prototype, options: timelineDefaults })))

/** When the view of the map changed, and the way through it. */
export class TimelineControl extends Base {
  /** @param {HistoryLayer | HistoryLayer[]} layers several share a clock @param {TimelineControlOptions} [options] */
  constructor (layers, options) {
    super(options)
    const { speed, pace, loop, range, timeZone, words } = this.options
    this._words = /** @type {TimelineWords} */ ({ ...timelineWords, ...words })
    this.layers = Array.isArray(layers) ? [...layers] : [layers]
    /** that of its layers */
    this.clock = this.layers[0].clock
    /** its player: to listen to and to control */
    this.player = player(this.clock, this.layers, { speed, pace, loop, range })
    this.player.on('rangechange', event => this._onRange(event))
    this.id = L.Util.stamp(this)
    this.zone = zoneOf(timeZone, this._words.locale)
    this._changes = this._axis = /** @type {any} */ (null)
    // made when it is put on a map
    this._axisView = this._toolbar = this._ended = this._observer = /** @type {any} */ (undefined)
  }

  addTo (map) {
    super.addTo(map)
    const { container, position } = this.options
    if (container) {
      this._container.classList.remove('leaflet-control')
      container.append(this._container)
    } else this._undock = dock(map, this._container, position.startsWith('top') ? 'top' : 'bottom')
    this._observer.observe(this._axisView.root)
    this._measure()
    return this
  }

  onAdd () {
    this._ended = new AbortController()
    this._axisView = makeAxis(this)
    this._toolbar = makeToolbar(this)
    this._spoken = element('div', { class: 'tilecouch-spoken', role: 'status', 'aria-live': 'polite' })
    const container = this._container = element('div', { class: 'tilecouch-timeline', role: 'group', 'aria-label': this._words.timeline, tabindex: -1 },
      [...this._toolbar.elements, ...this._axisView.elements, this._spoken])
    L.DomEvent.disableClickPropagation(container).disableScrollPropagation(container)
    listenToPointers(this, this._axisView, this._ended.signal)
    listenToKeys(this, this._axisView, container, this._ended.signal)
    this._observer = new ResizeObserver(() => this._measure())
    this._listen('on')
    return container
  }

  onRemove () {
    this.player.pause()
    this._listen('off')
    this._ended.abort()
    this._observer.disconnect()
    this._undock?.()
    this._undock = this.hovered = this._pending = this.state = this.width = undefined
    clearTimeout(this._speaking)
    for (const frame of ['_frame', '_seeking']) {
      L.Util.cancelAnimFrame(this[frame])
      this[frame] = null
    }
  }

  /** Other layers, on their own clock, in the place of those it had. @param {HistoryLayer | HistoryLayer[]} layers */
  setLayers (layers) {
    if (this._map) this._listen('off')
    this.layers = Array.isArray(layers) ? [...layers] : [layers]
    this.clock = this.layers[0].clock
    this.player.pause().setLayers(this.layers, this.clock)
    this.span = this.problem = null
    if (this._map) this._listen('on')
    return this.refresh()
  }

  /** @returns {TimeZone} in which times are shown */
  getTimeZone () {
    return this.zone.name
  }

  /** An unknown name throws a RangeError. @param {TimeZone} zone */
  setTimeZone (zone) {
    if (zone === this.zone.name) return this
    this.zone = zoneOf(zone, this._words.locale)
    this.refresh()
    return this.fire('zonechange', { timeZone: zone })
  }

  /** @returns {{from: ExactTime, to: ExactTime} | null} null: none is chosen */
  getRange () {
    return this.player.getRange()
  }

  /**
   * Both ends belong to it, and parts of a time are whole periods; null: everything.
   * @param {TimeRange | null} range
   */
  setRange (range) {
    this.player.setRange(range)
    return this
  }

  /** The middle half of what the axis shows becomes the range, or the range is cleared. */
  toggleRange () {
    if (this.getRange()) return this.setRange(null)
    const { axis, times } = this._compute()
    if (!axis) return this
    const [from, to] = [0.25, 0.75].map(share => axis.from + (axis.to - axis.from) * share)
    const inside = times.filter(time => time >= from && time <= to)
    const ends = inside.length > 1 ? [inside[0], inside[inside.length - 1]] : [from, to]
    this.setRange({ from: new Date(ends[0]), to: new Date(ends[1]) })
    this.render()
    this._axisView.from.focus({ preventScroll: true })
    return this
  }

  /** The axis shows the range, with some space on both sides. */
  zoomToRange () {
    const range = this.getRange()
    return range ? this.setSpan(airy({ from: Date.parse(range.from), to: Date.parse(range.to) })) : this
  }

  /** Around the present time, or the middle where that is out of view. @param {number} factor above 1 goes closer */
  zoomAxis (factor) {
    const { axis, span, domain, time } = this._compute()
    if (!axis) return this
    const ms = time === null ? domain.to : Date.parse(time)
    return this.setSpan(zoomSpan(span, factor, ms >= span.from && ms <= span.to ? ms : (span.from + span.to) / 2))
  }

  /** The axis shows all of the time. */
  showAll () {
    return this.setSpan(null)
  }

  /** What the axis shows, in milliseconds; null: everything. @param {{from: number, to: number} | null} span */
  setSpan (span) {
    const { domain } = this._compute()
    this.span = span && domain && clampSpan(span, domain)
    this.state = this._compute() // several may come between two frames
    return this.refresh()
  }

  // moves the clock; soon: with the next frame, the last one of several
  seek (ms, { soon = false } = {}) {
    this._pending = { time: inSeconds(ms) }
    if (!soon) return this.flush()
    this._seeking ??= L.Util.requestAnimFrame(this.flush, this)
    return this
  }

  flush () {
    if (this._seeking) L.Util.cancelAnimFrame(this._seeking)
    this._seeking = null
    const pending = this._pending
    this._pending = null
    if (pending) {
      this._scrubbing = true
      this.clock.setTime(pending.time)
      this._scrubbing = false
    }
    return this
  }

  hover (hover) {
    this.hovered = hover
    this.refresh()
  }

  // draws with the next frame
  refresh () {
    if (this._map) this._frame ??= L.Util.requestAnimFrame(this.render, this)
    return this
  }

  render () {
    if (this._frame) L.Util.cancelAnimFrame(this._frame)
    this._frame = null
    if (!this._map) return
    const state = this.state = this._compute()
    if (state.hover) state.hover.time = meantTime(state.hover, state)
    this._container.classList.toggle('tilecouch-busy', state.busy)
    this._container.classList.toggle('tilecouch-zoomed', state.zoomed)
    this._container.classList.toggle('tilecouch-single', Boolean(state.only))
    this._toolbar.render(state)
    this._axisView.render(state)
    // a button that went out of use under the focus would leave the keyboard nowhere
    const focused = /** @type {any} */ (document.activeElement)
    if (this._container.contains(focused) && (focused.disabled || focused.hidden)) {
      this._axisView.thumb.focus({ preventScroll: true })
    }
  }

  /** What is to be shown now. The same lists make the same changes and axis again: drawing depends on them. */
  _compute () {
    const layers = this.layers.filter((/** @type {any} */ layer) => layer._map)
    const lists = layers.map(layer => layer.changes())
    if (lists.length !== this._changes?.lists.length || lists.some((list, i) => list !== this._changes.lists[i])) {
      const { changes, complete } = uniteChanges(lists)
      this._changes = { lists, changes, complete, times: changes.map(change => Date.parse(change.time)) }
    }
    const { changes, complete, times } = this._changes
    const { _words: words } = this
    const extent = uniteExtents(layers.map(layer => layer.extent()))
    const domain = domainOf(extent, changes)
    const zoomedTo = this.span && domain && clampSpan(this.span, domain)
    const span = zoomedTo ?? domain
    const playing = this.player.isPlaying()
    // a device that goes on without the store is no problem
    const problem = complete && layers.some(layer => layer.options?.offline) ? null : this.problem
    return {
      changes, complete, times, domain, span, playing, problem,
      time: this.clock.getTime(),
      // there is only this one: then an axis would show hours in which nothing can be
      only: extent && extent.first === extent.last && changes.length < 2 ? extent.first : null,
      axis: this._layAxis(span),
      zone: this.zone,
      zoomed: Boolean(zoomedTo),
      range: this.getRange(),
      hover: this.hovered,
      waiting: playing && this.waiting,
      busy: !complete || !layers.every(layer => layer.isShown()),
      message: capital(!layers.length ? words.notOnMap
        : changes.length ? '' : problem ?? (complete ? words.nothing : domain ? '' : words.loading))
    }
  }

  _layAxis (span) {
    const { _axis: axis, width } = this
    if (!span || !width) this._axis = null
    else if (
      axis?.from !== span.from || axis.to !== span.to || axis.width !== width
    ) this._axis = axisOf(span, width, INSET)
    return this._axis
  }

  _measure () {
    const width = this._axisView.root.clientWidth
    if (width === this.width) return
    this.width = width
    this.render()
  }

  _listen (onOff) {
    for (const layer of this.layers) {
      layer[onOff](LAYER_EVENTS, this.refresh, this)
      layer[onOff]('storeerror storeback', this._onStore, this)
    }
    this.clock[onOff]('timechange', this._onTime, this)
    this.player[onOff](PLAYER_EVENTS, this._onPlayer, this)
  }

  _onStore ({ type }) {
    this.problem = type === 'storeerror' ? this._words.away : null
    this.refresh()
  }

  _onTime () {
    const { time, zone, changes } = this._compute()
    if (this.span && !this._scrubbing && time !== null) this.span = followSpan(this.span, Date.parse(time))
    this.refresh()
    clearTimeout(this._speaking)
    // screen readers announce the focused thumb by themselves, and need not read a film
    this._speaking = setTimeout(() => {
      if (this.player.isPlaying() || document.activeElement === this._axisView.thumb) return
      write(this._spoken, { text: valueText(time, changes, zone, this._words) })
    }, SPEAK_DELAY)
  }

  _onPlayer ({ type }) {
    this.waiting = type === 'waiting'
    this.refresh()
  }

  _onRange (/** @type {any} */ { from, to }) {
    this.refresh()
    this.fire('rangechange', from ? { from, to } : {})
  }
}

/** @param {HistoryLayer | HistoryLayer[]} layers several share a clock @param {TimelineControlOptions} [options] */
export const timeline = (layers, options) => new TimelineControl(layers, options)
