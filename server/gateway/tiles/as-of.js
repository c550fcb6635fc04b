// What `@2023` in an address means: the tile as of the end of 2023 (endOf in core/times.js), that is the version with
// the greatest time up to then. It is found on the timeline of the tile, which is kept in memory like the bytes: for
// another time of the same tile, one read at most. Upstreams are never asked for the past.
import { LRUCache } from 'lru-cache'
import { asOf, endOf } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'
import { Guesses } from './guesses.js'

const ATTEMPTS = 4 // for a timeline that changes meanwhile
const MOST_TIMES = 2000 // times whose end is remembered: a clock has few positions, and each is asked for many times

export class AsOf {
  /** @type {LRUCache<string, {end: string, at: number}>} at: milliseconds since 1970 */
  #ends = new LRUCache({ max: MOST_TIMES })

  /** @param {Pick<import('./index.js').Parts, 'cache' | 'reader' | 'limits'>} parts */
  constructor ({ cache, reader, limits }) {
    this.cache = cache
    this.reader = reader
    this.guesses = new Guesses({ cache, reader, limits })
  }

  /** The end of a written time in the future: the map as of then is the present one, unless that has a later time. */
  endInFuture (time) {
    const { end, at } = this.endOf(time)
    return at >= Date.now() ? end : undefined
  }

  /** From memory alone. @param {string} id of the head @param {string} time as written */
  peek (id, time) {
    const { end } = this.endOf(time)
    const moments = this.cache.timeline(id)
    const guess = moments ? undefined : this.guesses.of(id, end)
    const moment = moments ? asOf(moments, end) : guess
    const entry = moment && this.cache.entry(moment.id)
    if (!entry?.bytes) return undefined
    return (guess ? this.guesses.isRight(guess, entry, id, end) : entry.time === moment?.time) ? entry.hit : undefined
  }

  /** @param {string} id of the head @param {string} time as written @returns {Promise<import('./index.js').Found>} */
  async get (id, time, signal) {
    const when = this.endOf(time).end
    const version = await this.#guess(id, when, signal) ?? await this.#find(id, when, signal)
    if (!version?.entry.bytes) throw new TilecouchError('TILE_NOT_FOUND', { id, time }) // none, or gone at that time
    return version
  }

  /** Without its timeline. @returns {Promise<import('./index.js').Found | undefined>} */
  async #guess (id, when, signal) {
    const guess = this.cache.timeline(id) ? undefined : this.guesses.of(id, when)
    if (!guess) return undefined
    const cached = this.cache.find(guess.id)
    const entry = cached === undefined ? await this.reader.documents.get(guess.id, signal) : cached
    const isRight = entry && this.guesses.isRight(guess, entry, id, when)
    this.guesses.learn(id, when, isRight ? { time: guess.time, current: guess.time === undefined } : {})
    return isRight ? foundOf(entry, cached) : undefined
  }

  /** By its timeline. @returns {Promise<import('./index.js').Found | undefined>} */
  async #find (id, when, signal) {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      /** @type {import('./reader.js').Moment[]} */
      const moments = this.cache.timeline(id) ?? await this.reader.timelines.get(id, signal)
      const moment = asOf(moments, when)
      if (!moment) return undefined
      const cached = this.cache.entry(moment.id)
      const entry = cached ?? await this.reader.documents.get(moment.id, signal)
      if (entry?.time === moment.time) {
        this.guesses.learn(id, when, moment)
        return foundOf(entry, cached)
      }
      this.cache.forgetTimeline(id) // there is a newer head since it was read, or a version was removed
    }
    return undefined
  }

  /**
   * The document that an address means, as far as it is known or can be guessed.
   * @param {string} id of the head @param {string} [time] as written @returns {string | null | undefined} null: none
   */
  documentOf (id, time) {
    if (time === undefined) return id
    const { end } = this.endOf(time)
    const moments = this.cache.peekTimeline(id)
    return moments ? asOf(moments, end)?.id ?? null : this.guesses.of(id, end)?.id
  }

  /** @param {string} time as written @returns {{end: string, at: number}} at: milliseconds since 1970 */
  endOf (time) {
    const knownEnd = this.#ends.get(time)
    if (knownEnd) return knownEnd
    const end = endOf(time)
    const exactEnd = { end, at: Date.parse(end) }
    this.#ends.set(time, exactEnd)
    return exactEnd
  }
}

/** @param {import('./entry.js').Entry} entry @param {any} cached it was in memory */
const foundOf = (entry, cached) => cached ? entry.hit : { entry, outcome: 'miss' }
