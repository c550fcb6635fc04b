// The time that layers and controls share. Several history layers on one clock move together.
import L from 'leaflet'
import { endOf } from '../core/times.js'

/** `undefined` counts as null, so that a missing time means the newest. */
const exact = time => time == null ? null : endOf(time)

/**
 * A time that can be listened to. Fires `timechange` {time, previous} when it moves.
 */
export const Clock = L.Evented.extend(/** @type {ThisType<any>} */ ({
  options: {
    time: null // where it starts: a Date, an ISO text (a part such as '2024-03' means its end), or null for the newest
  },

  initialize (options) {
    L.Util.setOptions(this, options)
    this._time = exact(this.options.time)
  },

  /** @returns {string | null} the exact time, `2024-03-01T00:00:00Z`, or null for the newest */
  getTime () {
    return this._time
  },

  /**
   * Moves the clock. Throws BAD_TIME, and stays where it is, when the time is none.
   * @param {string | Date | null} time
   */
  setTime (time) {
    const next = exact(time)
    if (next === this._time) return this
    const previous = this._time
    this._time = next
    return this.fire('timechange', { time: next, previous })
  }
}))

/** @param {{time?: string | Date | null}} [options] */
export const clock = options => new (/** @type {any} */ (Clock))(options)
