// Plays a clock: steps from change to change of its layers, and waits for their tiles.
import { endOf, startOf } from '../../core/times.js'
import { TilecouchError } from '../../core/errors.js'
import { Emitter } from '../engine/emitter.js'
import { Playback } from './playback.js'
import { stepFrom, uniteChanges, within } from './steps.js'

// events after which isShown() or changes() may differ
const EVENTS = 'timeload tileerror changes add remove'

/**
 * A range with exact ends. A partial time such as '2024' means its whole period. The order of the ends does not matter.
 */
function exactRange (range) {
  if (!range) return null
  const [from, to] = startOf(range.from) <= endOf(range.to) ? [range.from, range.to] : [range.to, range.from]
  return { from: startOf(from), to: endOf(to) }
}

export const playerDefaults = {
  /** steps per second, if tiles arrive in time */
  speed: 2,
  /** @type {number | null} seconds of map time per second, instead of `speed`: 86400 is one day per second */
  pace: null,
  /** start again at the end */
  loop: false,
  /** @type {TimeRange | null} {from, to}: play only the changes of this period */
  range: null
}

/**
 * @typedef {import('../engine/clock.js').ExactTime} ExactTime
 * @typedef {import('../engine/clock.js').TimeRange} TimeRange
 * @typedef {import('../engine/clock.js').Clock} Clock
 * @typedef {import('../engine/history-engine.js').HistoryEngine} HistoryEngine
 * @typedef {HistoryEngine | {history: HistoryEngine}} TimedLayer a history layer (or source) of any map library, or its
 *   time engine
 * @typedef {Partial<typeof playerDefaults>} PlayerOptions
 *
 * @typedef {object} PlayerEvents
 * @property {{}} play playing begins
 * @property {{}} pause playing stops
 * @property {{time: ExactTime}} step the clock moved to the next change
 * @property {{time: ExactTime | null}} waiting the next step waits for tiles or changes
 * @property {{}} end the last change is reached, without a loop; `pause` follows
 * @property {{speed: number}} speedchange `setSpeed` was called
 * @property {{pace: number | null}} pacechange `setPace` was called
 * @property {{loop: boolean}} loopchange `setLoop` was called
 * @property {{from?: ExactTime, to?: ExactTime}} rangechange another range was set; without fields: everything
 */

/**
 * Steps a clock over the times at which the view of its layers changed, and waits for their tiles.
 * @extends {Emitter<PlayerEvents>}
 */
export class Player extends Emitter {
  /** @param {Clock} clock @param {TimedLayer | TimedLayer[]} layers @param {PlayerOptions} [options] */
  constructor (clock, layers, options) {
    super()
    this.options = { ...playerDefaults, ...options }
    /** the clock that it moves @type {Clock} */
    this.clock = clock
    this._engines = enginesOf(layers)
    const { speed, pace, loop, range } = this.options
    this._playback = new Playback({
      times: () => this._times(),
      getTime: () => this.clock.getTime(),
      setTime: time => this.clock.setTime(time),
      isShown: () => onMap(this._engines).every(engine => engine.isShown()),
      emit: (type, data) => this._onPlayback(type, data),
      now: () => performance.now(),
      setTimeout: (run, milliseconds) => setTimeout(run, milliseconds),
      clearTimeout: id => clearTimeout(id)
    }, { interval: interval(speed), pace: checkPace(pace), loop: Boolean(loop), range: exactRange(range) })
  }

  /** Plays from the present time; at the end, from the beginning. */
  play () {
    this._playback.play()
    return this
  }

  /** Stops at the present time. */
  pause () {
    this._playback.pause()
    return this
  }

  /** Plays or pauses. */
  toggle () {
    return this.isPlaying() ? this.pause() : this.play()
  }

  /** @returns {boolean} true also while it waits for tiles */
  isPlaying () {
    return this._playback.playing
  }

  /** @returns {number} steps per second */
  getSpeed () {
    return 1000 / this._playback.options.interval
  }

  /** Sets the steps per second; throws BAD_OPTION unless above 0. @param {number} speed */
  setSpeed (speed) {
    this._playback.set({ interval: interval(speed) })
    return this.fire('speedchange', { speed })
  }

  /** @returns {number | null} seconds of map time per second; null: it plays steps at a speed */
  getPace () {
    return this._playback.options.pace
  }

  /**
   * Sets the seconds of map time per second; null plays steps at a speed.
   * @param {number | null} pace seconds
   */
  setPace (pace) {
    this._playback.set({ pace: checkPace(pace) })
    return this.fire('pacechange', { pace })
  }

  /** @returns {boolean} whether it starts again at the end */
  getLoop () {
    return this._playback.options.loop
  }

  /** Sets whether it starts again at the end. @param {boolean} loop */
  setLoop (loop) {
    this._playback.options.loop = Boolean(loop)
    return this.fire('loopchange', { loop: Boolean(loop) })
  }

  /** @returns {{from: ExactTime, to: ExactTime} | null} null: everything */
  getRange () {
    return this._playback.options.range
  }

  /**
   * Sets the period that is played; null is everything. A partial time is its whole period.
   * @param {TimeRange | null} range
   */
  setRange (range) {
    const next = exactRange(range)
    const present = this.getRange()
    if (next?.from === present?.from && next?.to === present?.to) return this
    this._playback.options.range = next
    return this.fire('rangechange', { ...next })
  }

  /** Moves by so many changes (below 0: back), and pauses. @param {number} steps */
  step (steps) {
    return this._go(times => stepFrom(times, this.clock.getTime(), steps))
  }

  /** Goes to the first change of the range, or of all. */
  first () {
    return this._go(times => within(times, this.getRange())[0])
  }

  /** Goes to the last change of the range, or of all. */
  last () {
    return this._go(times => within(times, this.getRange()).pop())
  }

  /**
   * Plays other layers, on another clock if one is given.
   * @param {TimedLayer | TimedLayer[]} layers @param {Clock} [clock]
   */
  setLayers (layers, clock) {
    clock ??= this.clock
    const { playing } = this._playback
    if (playing) this._listen('off')
    this.clock = clock
    this._engines = enginesOf(layers)
    if (playing) {
      this._listen('on')
      this._playback.moved()
    }
    return this
  }

  _go (choose) {
    this.pause()
    const { changes } = uniteChanges(onMap(this._engines).map(engine => engine.changes()))
    const time = choose(changes.map(change => change.time))
    if (time !== undefined) this.clock.setTime(time)
    return this
  }

  _times () {
    const { changes, complete } = uniteChanges(onMap(this._engines).map(engine => engine.changes()))
    return complete ? changes.map(change => change.time) : null
  }

  // listens only while it plays, so that an unused player keeps nothing in memory
  _onPlayback (type, data) {
    if (type === 'play') this._listen('on')
    if (type === 'pause') this._listen('off')
    this.fire(type, data)
  }

  _listen (onOff) {
    for (const engine of this._engines) engine[onOff](EVENTS, this._onEvent, this)
    this.clock[onOff]('timechange', this._onMoved, this)
  }

  _onEvent () {
    this._playback.poke()
  }

  _onMoved () {
    this._playback.moved()
  }
}

/** @param {TimedLayer | TimedLayer[]} layers @returns {HistoryEngine[]} */
export const enginesOf = layers => [layers].flat().map(layer => 'history' in layer ? layer.history : layer)

/**
 * The engines that are on a map: the player ignores all others, and does not wait for them.
 * @param {HistoryEngine[]} engines
 */
export const onMap = engines => engines.filter(engine => engine.isOnMap)

const interval = speed => 1000 / checkPositive('speed', speed)

const checkPace = pace => pace == null ? null : checkPositive('pace', pace)

function checkPositive (option, value) {
  if (!(value > 0 && Number.isFinite(value))) throw new TilecouchError('BAD_OPTION', { option, value })
  return value
}

/** @param {Clock} clock @param {TimedLayer | TimedLayer[]} layers @param {PlayerOptions} [options] */
export const player = (clock, layers, options) => new Player(clock, layers, options)
