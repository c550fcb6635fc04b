// Plays a clock: from change to change of its layers, never faster than their tiles come.
import L from 'leaflet'
import { endOf, startOf } from '../core/times.js'
import { TilecouchError } from '../core/errors.js'
import { Playback } from './timeline/playback.js'
import { stepFrom, uniteChanges, within } from './timeline/steps.js'

// whatever may turn isShown() or changes(): events the player waits for
const NEWS = 'timeload load tileerror changes add remove'

/** Both ends exact; a part such as '2024' is its whole period. The order does not matter. */
function exactRange (range) {
  if (!range) return null
  const [from, to] = startOf(range.from) <= endOf(range.to) ? [range.from, range.to] : [range.to, range.from]
  return { from: startOf(from), to: endOf(to) }
}

/**
 * Steps a clock over the times at which the view of its layers changed.
 * Fires `play`, `pause`, `step` {time}, `waiting` {time}, `end`, `speedchange` {speed}, `loopchange` {loop} and
 * `rangechange` {from, to} (nothing in it when cleared).
 */
export const Player = L.Evented.extend(/** @type {ThisType<any>} */ ({
  options: {
    speed: 2, // steps a second, when tiles come in time
    loop: false, // starts again at the end
    range: null // {from, to}: plays only what changed within, both included
  },

  initialize (clock, layers, options) {
    L.Util.setOptions(this, options)
    this.setLayers(layers, clock)
    const { speed, loop, range } = this.options
    this._playback = new Playback({
      times: () => this._times(),
      getTime: () => this.clock.getTime(),
      setTime: time => this.clock.setTime(time),
      isShown: () => this._active().every(layer => layer.isShown()),
      emit: (type, data) => this._tell(type, data),
      now: () => performance.now(),
      setTimeout: (run, milliseconds) => setTimeout(run, milliseconds),
      clearTimeout: id => clearTimeout(id)
    }, { interval: interval(speed), loop: Boolean(loop), range: exactRange(range) })
  },

  play () {
    this._playback.play()
    return this
  },

  pause () {
    this._playback.pause()
    return this
  },

  toggle () {
    return this.isPlaying() ? this.pause() : this.play()
  },

  /** @returns {boolean} */
  isPlaying () {
    return this._playback.playing
  },

  getSpeed () {
    return 1000 / this._playback.options.interval
  },

  /** @param {number} speed steps a second */
  setSpeed (speed) {
    this._playback.setInterval(interval(speed))
    return this.fire('speedchange', { speed })
  },

  getLoop () {
    return this._playback.options.loop
  },

  /** @param {boolean} loop */
  setLoop (loop) {
    this._playback.options.loop = Boolean(loop)
    return this.fire('loopchange', { loop: Boolean(loop) })
  },

  /** @returns {{from: string, to: string} | null} */
  getRange () {
    return this._playback.options.range
  },

  /** @param {{from: string | Date, to: string | Date} | null} range parts of a time are whole periods */
  setRange (range) {
    const next = exactRange(range)
    const present = this.getRange()
    if (next?.from === present?.from && next?.to === present?.to) return this
    this._playback.options.range = next
    return this.fire('rangechange', { ...next })
  },

  /**
   * Goes that many changes on (or back), and stops playing.
   * @param {number} steps
   */
  step (steps) {
    return this._go(times => stepFrom(times, this.clock.getTime(), steps))
  },

  /** To the first change, of the range if there is one. */
  first () {
    return this._go(times => within(times, this.getRange())[0])
  },

  /** To the last change, of the range if there is one. */
  last () {
    return this._go(times => within(times, this.getRange()).pop())
  },

  /**
   * Other layers to play, and another clock if they have one.
   * @param {any} layers one or several @param {any} [clock]
   */
  setLayers (layers, clock) {
    clock ??= this.clock
    const playing = this._playback?.playing
    if (playing) this._listen('off')
    this.clock = clock
    this._layers = Array.isArray(layers) ? [...layers] : [layers]
    if (playing) {
      this._listen('on')
      this._playback.moved()
    }
    return this
  },

  _go (choose) {
    this.pause()
    const { changes } = uniteChanges(this._active().map(layer => layer.changes()))
    const time = choose(changes.map(change => change.time))
    if (time !== undefined) this.clock.setTime(time)
    return this
  },

  // a layer that is not on the map changes nothing there, and nobody waits for it
  _active () {
    return this._layers.filter(layer => layer._map)
  },

  _times () {
    const { changes, complete } = uniteChanges(this._active().map(layer => layer.changes()))
    return complete ? changes.map(change => change.time) : null
  },

  // listens only while it plays: a player that is let go of keeps nothing alive
  _tell (type, data) {
    if (type === 'play') this._listen('on')
    if (type === 'pause') this._listen('off')
    this.fire(type, data)
  },

  _listen (onOff) {
    for (const layer of this._layers) layer[onOff](NEWS, this._news, this)
    this.clock[onOff]('timechange', this._moved, this)
  },

  _news () {
    this._playback.poke()
  },

  _moved () {
    this._playback.moved()
  }
}))

function interval (speed) {
  if (!(speed > 0 && Number.isFinite(speed))) throw new TilecouchError('BAD_OPTION', { option: 'speed', value: speed })
  return 1000 / speed
}

/** @param {any} clock @param {any} layers one or several @param {object} [options] */
export const player = (clock, layers, options) => new (/** @type {any} */ (Player))(clock, layers, options)
