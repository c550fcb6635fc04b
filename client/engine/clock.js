// The time that layers and controls share. Several history layers on one clock move together.
import { endOf } from '../../core/times.js'
import { Emitter } from './emitter.js'

/** `undefined` counts as null, so that a missing time means the newest. */
const exact = time => time == null ? null : endOf(time)

export const clockDefaults = {
  /**
   * @type {Time | null} first time: a Date, an ISO text (a part such as '2024-03' means its end), or null for the
   * newest
   */
  time: null
}

/**
 * @typedef {string | Date} Time a Date, or ISO text. A part such as `2024` or `2024-03` is a period
 * @typedef {string} ExactTime UTC, whole seconds: `2024-03-01T00:00:00Z`. Exact times sort as text
 * @typedef {Partial<typeof clockDefaults>} ClockOptions
 *
 * @typedef {object} TimeRange a period, with both ends
 * @property {Time} from
 * @property {Time} to
 *
 * @typedef {object} ClockEvents
 * @property {{time: ExactTime | null, previous: ExactTime | null}} timechange the clock moved
 */

/**
 * A time that layers and controls share.
 * @extends {Emitter<ClockEvents>}
 */
export class Clock extends Emitter {
  /** @param {ClockOptions} [options] */
  constructor (options) {
    super()
    this.options = { ...clockDefaults, ...options }
    this._time = exact(this.options.time)
  }

  /** @returns {ExactTime | null} the exact time, `2024-03-01T00:00:00Z`, or null for the newest */
  getTime () {
    return this._time
  }

  /**
   * Moves the clock. An invalid time throws BAD_TIME and changes nothing.
   * @param {Time | null} time a part of a time means its end
   */
  setTime (time) {
    const next = exact(time)
    if (next === this._time) return this
    const previous = this._time
    this._time = next
    return this.fire('timechange', { time: next, previous })
  }
}

/** @param {ClockOptions} [options] */
export const clock = options => new Clock(options)
