// Finds the version of a tile as of a time. `@2023` in an address means the end of 2023 (endOf in core/times.js): the
// version with the greatest time up to that second. The version is looked up on the timeline of the tile. The timeline
// stays in memory, so another time of the same tile costs one read at most. Upstreams are never asked for the past.
import { LRUCache } from 'lru-cache'
import { asOf, endOf } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'
import { Guesses } from './guesses.js'

const ATTEMPTS = 4 // reads of a timeline that changes meanwhile
const MOST_TIMES = 2000 // times whose end is remembered: clients request the few positions of a clock often

export class AsOf {
  /** @type {LRUCache<string, {end: string, at: number}>} at: milliseconds since 1970 */
  #ends = new LRUCache({
    max: MOST_TIMES,
    memoMethod: time => {
      const end = endOf(time)
      return { end, at: Date.parse(end) }
    }
  })

  /** @param {Pick<import('./index.js').Parts, 'cache' | 'reader' | 'limits'>} parts */
  constructor ({ cache, reader, limits }) {
    this.cache = cache
    this.reader = reader
    this.guesses = new Guesses({ cache, reader, limits })
  }

  /** The end of a written time, if it is in the future: such a map shows the newest tiles up to that end. */
  endInFuture (time) {
    const { end, at } = this.endOf(time)
    return at >= Date.now() ? end : undefined
  }

  /** Looks in memory only. @param {string} id of the head @param {string} time as written */
  peek (id, time) {
    const { end } = this.endOf(time)
    const moments = this.cache.timeline(id)
    const guess = moments ? undefined : this.guesses.of(id, end)
    const moment = moments ? asOf(moments, end) : guess
    const entry = moment && this.cache.entry(moment.id)
    if (!entry?.bytes) return undefined
    return (guess ? this.guesses.isRight(guess, entry, id, end) : entry.time === moment?.time) ? entry.hit : undefined
  }

  /**
   * @param {string} id of the head @param {string} time as written
   * @returns {Promise<import('./index.js').TileAnswer>}
   */
  async get (id, time, signal) {
    const end = this.endOf(time).end
    const version = await this.#guess(id, end, signal) ?? await this.#find(id, end, signal)
    if (!version?.entry.bytes) throw new TilecouchError('TILE_NOT_FOUND', { id, time }) // none, or gone at that time
    return version
  }

  /** Tries a guess, without reading the timeline. @returns {Promise<import('./index.js').TileAnswer | undefined>} */
  async #guess (id, end, signal) {
    const guess = this.cache.timeline(id) ? undefined : this.guesses.of(id, end)
    if (!guess) return undefined
    const cached = this.cache.find(guess.id)
    const entry = cached === undefined ? await this.reader.documents.get(guess.id, signal) : cached
    const isRight = entry && this.guesses.isRight(guess, entry, id, end)
    this.guesses.learn(id, end, isRight ? { time: guess.time, current: guess.time === undefined } : {})
    return isRight ? answerOf(entry, cached) : undefined
  }

  /** Finds the version on the timeline of the tile. @returns {Promise<import('./index.js').TileAnswer | undefined>} */
  async #find (id, end, signal) {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      /** @type {import('./reader.js').Moment[]} */
      const moments = this.cache.timeline(id) ?? await this.reader.timelines.get(id, signal)
      const moment = asOf(moments, end)
      if (!moment) return undefined
      const cached = this.cache.entry(moment.id)
      const entry = cached ?? await this.reader.documents.get(moment.id, signal)
      if (entry?.time === moment.time) {
        this.guesses.learn(id, end, moment)
        return answerOf(entry, cached)
      }
      this.cache.forgetTimeline(id) // it is outdated: there is a newer head, or a version was removed
    }
    return undefined
  }

  /**
   * The id of the document that an address means, if its timeline is in memory or if it can be guessed.
   * @param {string} id of the head @param {string} [time] as written @returns {string | null | undefined}
   *   null: no version; undefined: unknown
   */
  documentOf (id, time) {
    if (time === undefined) return id
    const { end } = this.endOf(time)
    const moments = this.cache.peekTimeline(id)
    return moments ? asOf(moments, end)?.id ?? null : this.guesses.of(id, end)?.id
  }

  /** @param {string} time as written @returns {{end: string, at: number}} at: milliseconds since 1970 */
  endOf (time) {
    return this.#ends.get(time) ?? this.#ends.memo(time)
  }
}

/** @param {import('./entry.js').Entry} entry @param {any} cached if it was in memory */
const answerOf = (entry, cached) => cached ? entry.hit : { entry, outcome: 'miss' }
