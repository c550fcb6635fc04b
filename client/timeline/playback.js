// Decides when the next step is due. Timers, clock and layers come in as `host`, so that tests control the time.
import { nextToPlay, skipTo, within } from './steps.js'

// milliseconds: with a pace, a step that would be visible for less is skipped
const SHORTEST = 100
const FRAME = 16 // milliseconds

/**
 * @typedef {object} Host
 * @property {() => string[] | null} times the times to step to; null while they are unknown
 * @property {() => string | null} getTime
 * @property {(time: string) => void} setTime
 * @property {() => boolean} isShown whether the map shows the present time
 * @property {(type: string, data?: object) => void} emit
 * @property {() => number} now milliseconds
 * @property {(run: () => void, milliseconds: number) => any} setTimeout
 * @property {(id: any) => void} clearTimeout
 */

/** Steps through the times of a host. A step never starts before the one before it is on the screen. */
export class Playback {
  /** @type {'stopped' | 'changes' | 'tiles' | 'interval'} what it waits for */
  #waitsFor = 'stopped'
  #host
  #timer = null
  #steppedAt = 0
  #stepping = false
  #isAnnounced = false
  #canRestart = false // the first step after play() may go from the end to the beginning

  /**
   * @param {{interval: number, pace: number | null, loop: boolean, range: {from: string, to: string} | null}} options
   *   pace: seconds of map time per second, instead of the interval
   */
  constructor (host, options) {
    this.#host = host
    this.options = options
  }

  get playing () {
    return this.#waitsFor !== 'stopped'
  }

  play () {
    if (this.playing) return
    this.#waitsFor = 'tiles'
    this.#host.emit('play')
    if (!this.playing) return // a listener stopped it
    this.#canRestart = true
    // the first step comes at once, to show that the button works
    if (this.#host.isShown()) this.#step()
    else this.#arrive()
  }

  pause () {
    if (!this.playing) return
    this.#stop()
    this.#host.emit('pause')
  }

  /** Tells it of tiles or changes: it may have waited for them, or must wait for them now. */
  poke () {
    if (this.#waitsFor === 'changes') this.#step()
    else if (this.playing && (this.#waitsFor === 'tiles' || !this.#host.isShown())) this.#wait()
  }

  /**
   * @param {{interval?: number, pace?: number | null}} options interval: milliseconds from step to step; pace: seconds
   *   of map time per second; null: steps at the interval
   */
  set (options) {
    Object.assign(this.options, options)
    if (this.#waitsFor === 'interval') this.#wait()
  }

  /** Something else moved the time: continue from there. */
  moved () {
    if (this.playing && !this.#stepping) this.#arrive()
  }

  #step () {
    const { emit, setTime, times } = this.#host
    const changeTimes = times()
    if (!changeTimes) {
      this.#waitsFor = 'changes'
      return this.#announceWaiting()
    }
    const next = this.#next(changeTimes)
    this.#canRestart = false
    if (next === null) {
      this.#stop()
      emit('end')
      return emit('pause')
    }
    this.#stepping = true
    try {
      setTime(next)
    } finally {
      this.#stepping = false
    }
    if (!this.playing) return
    this.#arrive()
    emit('step', { time: next })
  }

  /** @param {string[]} changeTimes */
  #next (changeTimes) {
    const { range, pace, loop } = this.options
    const time = this.#host.getTime()
    const next = nextToPlay(changeTimes, time, { range, again: this.#canRestart || loop })
    if (!pace || time === null || next === null) return next
    return skipTo(within(changeTimes, range), time, next, pace * SHORTEST)
  }

  /** Milliseconds for which the present step is visible. */
  get #interval () {
    const { interval, pace } = this.options
    const changeTimes = pace ? this.#host.times() : null
    const time = this.#host.getTime()
    const next = changeTimes && this.#next(changeTimes)
    if (!pace || !next || time === null || next <= time) return interval
    return Math.max((Date.parse(next) - Date.parse(time)) / pace, FRAME)
  }

  #arrive () {
    this.#steppedAt = this.#host.now()
    this.#isAnnounced = false
    this.#wait()
  }

  #wait () {
    const interval = this.#interval
    const remaining = this.#steppedAt + interval - this.#host.now()
    if (this.#host.isShown()) {
      // a late step is still visible for a moment
      const delay = this.#waitsFor === 'interval' || remaining > 0 ? Math.max(remaining, 0) : interval / 4
      this.#waitsFor = 'interval'
      return this.#later(() => this.#host.isShown() ? this.#step() : this.#wait(), delay)
    }
    this.#waitsFor = 'tiles'
    if (!this.#isAnnounced) this.#later(() => this.#announceWaiting(), Math.max(remaining, 0))
  }

  #announceWaiting () {
    this.#cancel()
    if (this.#isAnnounced) return
    this.#isAnnounced = true
    this.#host.emit('waiting', { time: this.#host.getTime() })
  }

  #later (run, milliseconds) {
    this.#cancel()
    this.#timer = this.#host.setTimeout(run, milliseconds)
  }

  #cancel () {
    if (this.#timer !== null) this.#host.clearTimeout(this.#timer)
    this.#timer = null
  }

  #stop () {
    this.#cancel()
    this.#waitsFor = 'stopped'
  }
}
