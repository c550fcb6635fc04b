// What `@2023` means: the version that a tile showed at a time, found on its timeline, which is kept in memory as the
// bytes are. Another time of the same tile costs one read at most. The past never asks an upstream.
import { asOf, endOf } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'

const ATTEMPTS = 4 // looks at a timeline that changes meanwhile
// written times whose end is remembered: a clock has few positions, and asks for each many times
const MOST_TIMES = 2000

export class AsOf {
  /** @type {Map<string, {end: string, at: number}>} at: milliseconds since 1970 */
  #ends = new Map()

  /** @param {{cache: import('./cache.js').TileCache, reader: import('./reader.js').StoreReader}} parts */
  constructor ({ cache, reader }) {
    this.cache = cache
    this.reader = reader
  }

  /**
   * The end of a time that is yet to come: the map as of then is the present one, unless that is dated later still.
   * @param {string} time as written @param {number} now milliseconds since 1970
   */
  endInFuture (time, now) {
    const { end, at } = this.#endOf(time)
    return at >= now ? end : undefined
  }

  /** From memory alone. @param {string} id of the head @param {string} time as written */
  peek (id, time) {
    const moments = this.cache.timeline(id)
    const moment = moments && asOf(moments, this.#endOf(time).end)
    const entry = moment && this.cache.entry(moment.id)
    return entry?.bytes && entry.time === moment?.time ? entry.hit : undefined
  }

  /**
   * @param {string} id of the head @param {string} time as written @param {AbortSignal} [signal]
   * @returns {Promise<import('./index.js').Found>}
   */
  async get (id, time, signal) {
    const when = this.#endOf(time).end
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      /** @type {import('./reader.js').Moment[]} */
      const moments = this.cache.timeline(id) ?? await this.reader.timeline(id, signal)
      const moment = asOf(moments, when)
      if (!moment) break
      const known = this.cache.entry(moment.id)
      const entry = known ?? await this.reader.document(moment.id, signal)
      if (entry?.time === moment.time) {
        if (!entry.bytes) break // gone at that time
        return known ? entry.hit : { entry, outcome: 'miss' }
      }
      this.cache.forgetTimeline(id) // there is a newer head since it was read, or a version was removed
    }
    throw new TilecouchError('TILE_NOT_FOUND', { id, time })
  }

  #endOf (time) {
    let known = this.#ends.get(time)
    if (known === undefined) {
      const end = endOf(time)
      known = { end, at: Date.parse(end) }
      if (this.#ends.size >= MOST_TIMES) this.#ends.clear()
      this.#ends.set(time, known)
    }
    return known
  }
}
