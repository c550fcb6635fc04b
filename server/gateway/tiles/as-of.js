// What `@2023` in an address means: the tile as of the end of 2023 (endOf in core/times.js), that is the version with
// the greatest time up to then. It is found on the timeline of the tile, which is kept in memory like the bytes: for
// another time of the same tile, one read at most. Upstreams are never asked for the past.
import { asOf, endOf } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'

const ATTEMPTS = 4 // for a timeline that changes meanwhile
const MOST_TIMES = 2000 // times whose end is remembered: a clock has few positions, and each is asked for many times

export class AsOf {
  /** @type {Map<string, {end: string, at: number}>} at: milliseconds since 1970 */
  #ends = new Map()

  /** @param {{cache: import('./cache.js').TileCache, reader: import('./reader.js').StoreReader}} parts */
  constructor ({ cache, reader }) {
    this.cache = cache
    this.reader = reader
  }

  /**
   * The end of a time in the future: the map as of then is the present one, unless that has a still later time.
   * @param {string} time as written
   * @param {number} now milliseconds since 1970
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

  /** @param {string} id of the head @param {string} time as written @returns {Promise<import('./index.js').Found>} */
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
