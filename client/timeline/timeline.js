// The timeline shows when the view of the map changed, and sets the clock. It is a plain element; the control of each
// map library holds one:
//   const timeline = new Timeline(layer, { timeZone: 'local' }).appendTo(document.body)
//   timeline.player.play()
import { fromSeconds } from '../../core/times.js'
import { Emitter } from '../engine/emitter.js'
import { enginesOf, onMap, player, playerDefaults } from './player.js'
import { makeAxis } from './axis.js'
import { dock, element, keepFromMap, write } from './dom.js'
import { listenToKeys, listenToPointers } from './axis-input.js'
import { uniteChanges, uniteExtents } from './steps.js'
import { airy, axisOf, clampSpan, domainOf, followSpan, zoomSpan } from './time-scale.js'
import { makeToolbar } from './toolbar.js'
import { capital, timelineWords, valueText } from './words.js'
import { zoneOf } from './zones.js'

const INSET = 12 // pixels left of the first and right of the last time
const SPEAK_DELAY = 600 // milliseconds without a move, after which the time is announced
const LAYER_EVENTS = 'changes extent timeload loading tileerror add remove'
const PLAYER_EVENTS = 'play pause waiting step speedchange pacechange loopchange'

/** The fields of a Timeline that its control has as well. */
export const TIMELINE_FIELDS = ['clock', 'id', 'layers', 'player', 'span', 'state', 'zone']

/** The time of the tip: that of a handle, of the thumb while it is dragged, or at the pointer. */
function meantTime ({ end, dragging, meant }, { range, time }) {
  if (end) return range[end]
  return dragging ? time : inSeconds(meant())
}

const inSeconds = ms => ms === null ? null : fromSeconds(Math.round(ms / 1000))

export const timelineDefaults = {
  ...playerDefaults,
  /** @type {TimeZone} 'utc', 'local', or a name such as 'Europe/Berlin' */
  timeZone: 'utc',
  /** false: no play button, speed and loop */
  playable: true,
  /** false: nobody can select a range */
  selectable: true,
  /** false: the axis always shows all */
  zoomable: true,
  /** @type {Partial<TimelineWords>} texts in another language: any fields of `timelineWords` */
  words: {}
}

/**
 * @typedef {import('../engine/clock.js').Clock} Clock
 * @typedef {import('../engine/clock.js').ExactTime} ExactTime
 * @typedef {import('../engine/clock.js').TimeRange} TimeRange
 * @typedef {import('./player.js').TimedLayer} TimedLayer
 * @typedef {import('./words.js').TimelineWords} TimelineWords
 * @typedef {'utc' | 'local' | (string & {})} TimeZone in which times are shown; or a name such as `Europe/Berlin`
 * @typedef {Partial<typeof timelineDefaults>} TimelineOptions
 *
 * @typedef {object} TimelineEvents
 * @property {{from?: ExactTime, to?: ExactTime}} rangechange another range was set; without fields: everything
 * @property {{timeZone: TimeZone}} zonechange another time zone was set
 */

let timelines = 0

/**
 * Shows the times at which the view of the map changed, and sets the clock.
 * @extends {Emitter<TimelineEvents>}
 */
export class Timeline extends Emitter {
  /** @param {TimedLayer | TimedLayer[]} layers several share a clock @param {TimelineOptions} [options] */
  constructor (layers, options) {
    super()
    this.options = { ...timelineDefaults, ...options }
    const { speed, pace, loop, range, timeZone, words } = this.options
    this._words = /** @type {TimelineWords} */ ({ ...timelineWords, ...words })
    this.layers = [layers].flat()
    this._engines = enginesOf(layers)
    /** the clock of its layers @type {Clock} */
    this.clock = this._engines[0].clock
    /** its player */
    this.player = player(this.clock, this.layers, { speed, pace, loop, range })
    this.player.on('rangechange', event => this._onRange(event))
    this.id = ++timelines
    this.zone = zoneOf(timeZone, this._words.locale)
    this._changes = this._axis = /** @type {any} */ (null)
    /** engines whose store does not answer */
    this._failing = new Set()
    /** null while it is not on a page @type {AbortController | null} */
    this._ended = null
    this._axisView = makeAxis(this)
    this._toolbar = makeToolbar(this)
    this._spoken = element('div', { class: 'tilecouch-spoken', role: 'status', 'aria-live': 'polite' })
    /** the element of the timeline @type {HTMLElement} */
    this.element = element('div', {
      class: 'tilecouch-timeline', role: 'group', 'aria-label': this._words.timeline, tabindex: -1
    }, this._toolbar.elements, this._axisView.elements, this._spoken)
    keepFromMap(this.element)
    this._observer = new ResizeObserver(() => this._measure())
  }

  /** Puts the timeline into an element of the page. @param {HTMLElement} parent */
  appendTo (parent) {
    this.remove()
    parent.append(this.element)
    return this._begin()
  }

  /**
   * Puts the timeline along an edge of a map, as wide as the map. Several share one strip there, whose height is in
   * `--tilecouch-dock-bottom` (or `-top`) of the container.
   * @param {HTMLElement} container of the map
   * @param {{edge?: 'top' | 'bottom', corners?: HTMLElement}} [options] corners: where the map has its own controls
   */
  dock (container, { edge = 'bottom', corners = container } = {}) {
    this.remove()
    this._undock = dock(container, corners, this.element, edge)
    return this._begin()
  }

  /** Pauses the timeline and takes it off the page. It can be put there again. */
  remove () {
    if (!this._ended) return this
    this.player.pause()
    this._listen('off')
    this._ended.abort()
    this._ended = null
    this._observer.disconnect()
    this._undock?.()
    this.element.remove()
    this._undock = this.hovered = this._pending = this.state = this.width = undefined
    clearTimeout(this._speaking)
    for (const frame of ['_frame', '_seeking']) {
      cancelAnimationFrame(this[frame])
      this[frame] = null
    }
    return this
  }

  _begin () {
    this._ended = new AbortController()
    listenToPointers(this, this._axisView, this._ended.signal)
    listenToKeys(this, this._axisView, this.element, this._ended.signal)
    this._listen('on')
    this._observer.observe(this._axisView.root)
    this._measure()
    return this
  }

  /** Shows other layers and their clock. @param {TimedLayer | TimedLayer[]} layers */
  setLayers (layers) {
    if (this._ended) this._listen('off')
    this.layers = [layers].flat()
    this._engines = enginesOf(layers)
    this.clock = this._engines[0].clock
    this.player.pause().setLayers(this.layers, this.clock)
    this.span = null
    this._failing.clear()
    if (this._ended) this._listen('on')
    return this.refresh()
  }

  /** @returns {TimeZone} the zone in which times are shown */
  getTimeZone () {
    return this.zone.name
  }

  /** Sets the zone in which times are shown. An unknown name throws a RangeError. @param {TimeZone} zone */
  setTimeZone (zone) {
    if (zone === this.zone.name) return this
    this.zone = zoneOf(zone, this._words.locale)
    this.refresh()
    return this.fire('zonechange', { timeZone: zone })
  }

  /** @returns {{from: ExactTime, to: ExactTime} | null} null: everything */
  getRange () {
    return this.player.getRange()
  }

  /**
   * Sets the period that is played; null is everything. A partial time is its whole period.
   * @param {TimeRange | null} range
   */
  setRange (range) {
    this.player.setRange(range)
    return this
  }

  /** Selects the middle half of the axis as range, or clears the range. */
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

  /** Shows the range on the axis. */
  zoomToRange () {
    const range = this.getRange()
    return range ? this.setSpan(airy({ from: Date.parse(range.from), to: Date.parse(range.to) })) : this
  }

  /** Zooms the axis around the present time, or around its middle. @param {number} factor above 1 goes closer */
  zoomAxis (factor) {
    const { axis, span, domain, time } = this._compute()
    if (!axis) return this
    const ms = time === null ? domain.to : Date.parse(time)
    return this.setSpan(zoomSpan(span, factor, ms >= span.from && ms <= span.to ? ms : (span.from + span.to) / 2))
  }

  /** Shows all times on the axis. */
  showAll () {
    return this.setSpan(null)
  }

  /** Sets what the axis shows, in milliseconds; null is everything. @param {{from: number, to: number} | null} span */
  setSpan (span) {
    const { domain } = this._compute()
    this.span = span && domain && clampSpan(span, domain)
    this.state = this._compute() // several calls may come between two frames
    return this.refresh()
  }

  // moves the clock; soon: in the next frame, to the last of several times
  seek (ms, { soon = false } = {}) {
    this._pending = { time: inSeconds(ms) }
    if (!soon) return this.flush()
    this._seeking ??= requestAnimationFrame(() => this.flush())
    return this
  }

  flush () {
    if (this._seeking) cancelAnimationFrame(this._seeking)
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
    if (this._ended) this._frame ??= requestAnimationFrame(() => this.render())
    return this
  }

  render () {
    if (this._frame) cancelAnimationFrame(this._frame)
    this._frame = null
    if (!this._ended) return
    const state = this.state = this._compute()
    if (state.hover) state.hover.time = meantTime(state.hover, state)
    this.element.classList.toggle('tilecouch-busy', state.busy)
    this.element.classList.toggle('tilecouch-zoomed', state.zoomed)
    this.element.classList.toggle('tilecouch-single', Boolean(state.only))
    this._toolbar.render(state)
    this._axisView.render(state)
    // the focus must not stay on a button that was disabled or hidden
    const focused = /** @type {any} */ (document.activeElement)
    if (this.element.contains(focused) && (focused.disabled || focused.hidden)) {
      this._axisView.thumb.focus({ preventScroll: true })
    }
  }

  /** The text in place of the changes. */
  _messageOf ({ engines, changes, complete, domain, problem }) {
    const { _words: words } = this
    if (!engines.length) return words.notOnMap
    if (changes.length) return ''
    if (problem) return problem
    if (complete) return words.nothing
    return domain ? '' : words.loading
  }

  /** Computes the state to draw. The same lists give the same objects for changes and axis, which drawing compares. */
  _compute () {
    const engines = onMap(this._engines)
    const lists = engines.map(engine => engine.changes())
    if (lists.length !== this._changes?.lists.length || lists.some((list, i) => list !== this._changes.lists[i])) {
      const { changes, complete } = uniteChanges(lists)
      this._changes = { lists, changes, complete, times: changes.map(change => Date.parse(change.time)) }
    }
    const { changes, complete, times } = this._changes
    const extent = uniteExtents(engines.map(engine => engine.extent()))
    const domain = domainOf(extent, changes)
    const zoomedTo = this.span && domain && clampSpan(this.span, domain)
    const span = zoomedTo ?? domain
    const playing = this.player.isPlaying()
    // a device that works without the store is no problem
    const isProblem = engines.some(engine => this._failing.has(engine)) &&
      !(complete && engines.some(engine => engine.options?.offline))
    const problem = isProblem ? this._words.away : null
    return {
      changes, complete, times, domain, span, playing, problem,
      time: this.clock.getTime(),
      // the only time of the layer: an axis would show empty hours
      only: extent && extent.first === extent.last && changes.length < 2 ? extent.first : null,
      axis: this._layAxis(span),
      zone: this.zone,
      zoomed: Boolean(zoomedTo),
      range: this.getRange(),
      hover: this.hovered,
      waiting: playing && this.waiting,
      busy: !complete || !engines.every(engine => engine.isShown()),
      message: capital(this._messageOf({ engines, changes, complete, domain, problem }))
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
    for (const engine of this._engines) {
      engine[onOff](LAYER_EVENTS, this.refresh, this)
      engine[onOff]('storeerror storeback', this._onStore, this)
    }
    this.clock[onOff]('timechange', this._onTime, this)
    this.player[onOff](PLAYER_EVENTS, this._onPlayer, this)
  }

  _onStore ({ type, target }) {
    if (type === 'storeerror') this._failing.add(target)
    else this._failing.delete(target)
    this.refresh()
  }

  _onTime () {
    const { time, zone, changes } = this._compute()
    if (this.span && !this._scrubbing && time !== null) this.span = followSpan(this.span, Date.parse(time))
    this.refresh()
    clearTimeout(this._speaking)
    // screen readers announce the focused thumb themselves, and need not announce every step while it plays
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
