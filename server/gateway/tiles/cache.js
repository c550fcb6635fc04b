// The tiles and timelines in memory; changes of the store remove them. The key of a head or a past version is the id of
// its document; see timelineKey for timelines. Entries that were read ahead (ahead.js) have their own memory until a
// client requests them, so that they evict no requested entries.
import { headId, parseTileId } from '../../../core/index.js'
import { entryOf } from './entry.js'
import { Memory } from './memory.js'
import { RecentChanges, timelineKey } from './recent-changes.js'

const cacheDefaults = {
  missing: 10000, // milliseconds that a missing tile is remembered, unless a change removes the entry
  missingPart: 1 / 64, // of the memory, additional, for missing tiles: invented names must not evict tiles
  missingOverhead: 250, // bytes of an entry for a missing tile
  aheadPart: 1 / 8, // of the memory, additional, for tiles that were read ahead
  moment: 250 // bytes of a version on a timeline
}

/**
 * @typedef {import('./reader.js').Moment} Moment
 * @typedef {import('./ahead.js').Block} Block
 */

export class TileCache {
  /** @param {Omit<import('./index.js').Parts, 'store' | 'metrics' | 'cache' | 'reader' | 'asOf' | 'options'>} parts */
  constructor ({ memory, layers, upstreams, follower, limits }) {
    this.limits = { ...cacheDefaults, ...limits }
    this.memory = memory
    const { aheadPart, missingPart, missingOverhead: overhead } = this.limits
    /** @type {Memory<{value: any, bytes: number, block: Block}>} */
    this.ahead = new Memory(memory.maxBytes * aheadPart)
    /** Called at the first use of an entry that was read ahead. @type {(block: Block, key: string) => void} */
    this.onUse = () => {}
    /** Keys without a document, and until when each is valid. @type {Memory<number>} */
    this.missing = new Memory(memory.maxBytes * missingPart, { overhead })
    this.layers = layers
    this.upstreams = upstreams
    this.follower = follower
    this.changes = new RecentChanges()
    this.epoch = 0 // raised when layers change
  }

  /** @param {string} id of a head or a past version @returns {import('./entry.js').Entry | undefined} */
  entry (id) {
    const entry = this.#get(id)
    return entry === undefined || entry.epoch === this.epoch ? entry : this.#updateExpiry(entry)
  }

  #get (key) {
    return this.memory.get(key) ?? (this.ahead.size ? this.#promote(key) : undefined)
  }

  /** Moves an entry that was read ahead to the requested entries. */
  #promote (key) {
    const readAhead = this.ahead.peek(key)
    if (readAhead === undefined) return undefined
    this.ahead.delete(key)
    this.memory.keep(key, readAhead.value, readAhead.bytes)
    this.onUse(readAhead.block, key)
    return readAhead.value
  }

  /** Whether a tile is in memory or known to be missing; this is not a use. @param {string} id */
  has (id) {
    return (this.memory.peek(id) ?? this.ahead.peek(id)) !== undefined || this.#isMissing(id)
  }

  /** A timeline in memory; this is not a use. @param {string} id of the head @returns {Moment[] | undefined} */
  peekTimeline (id) {
    const key = timelineKey(id)
    return this.memory.peek(key) ?? this.ahead.peek(key)?.value ?? (this.#isMissing(key) ? [] : undefined)
  }

  /** The entry of a document in memory; null: there is no such document; undefined: unknown. */
  find (id) {
    return this.entry(id) ?? (this.#isMissing(id) ? null : undefined)
  }

  /** @param {string} id of the head @returns {Moment[] | undefined} */
  timeline (id) {
    return this.#get(timelineKey(id)) ?? (this.#isMissing(timelineKey(id)) ? [] : undefined)
  }

  /** @param {string} id of the head */
  forgetTimeline (id) {
    const key = timelineKey(id)
    this.memory.delete(key)
    this.ahead.delete(key)
    this.missing.delete(key)
  }

  #isMissing (key) {
    const until = this.missing.get(key)
    return until !== undefined && Date.now() < until
  }

  /** @param {number} [until] milliseconds since 1970 */
  setMissing (key, until = Date.now() + this.limits.missing) {
    if (this.follower.isAnchored) this.missing.keep(key, until, 0)
  }

  /**
   * Takes a document that was read.
   * @param {any} doc null when there is none
   * @param {boolean} isCurrent whether it may be kept
   * @param {Block} [block] for which it was read ahead
   * @returns {import('./entry.js').Entry | null}
   */
  takeDocument (id, doc, isCurrent, block) {
    if (!doc) {
      const { layer, z, x, y } = parseTileId(id)
      const isCovered = this.upstreams.of(this.layers.peek(layer))?.covers(z, x, y)
      if (isCurrent && !isCovered) this.setMissing(id) // if it is covered, the upstream decides
      return null
    }
    const entry = this.#updateExpiry(entryOf(doc))
    if (isCurrent) this.#put(entry, block)
    return entry
  }

  /**
   * Takes a timeline that was read.
   * @param {string} id of the head @param {Moment[]} moments @param {boolean} isCurrent @param {Block} [block]
   */
  takeTimeline (id, moments, isCurrent, block) {
    const key = timelineKey(id)
    if (isCurrent && !moments.length) this.setMissing(key)
    else if (isCurrent && this.follower.isAnchored) this.#keep(key, moments, moments.length * this.limits.moment, block)
    return moments
  }

  /**
   * Takes a tile that this gateway has written, or could not write.
   * @param {import('./entry.js').Entry} entry rev is null if the store has not accepted it: the next change removes it
   * @param {number} readNumber from `changes.beginRead()`
   */
  takeWritten (entry, readNumber) {
    this.#updateExpiry(entry)
    this.forgetTimeline(entry.id)
    const { id, rev } = entry
    // otherwise another revision was reported meanwhile, of an earlier or a later writer
    const isCurrent = this.changes.check(id, rev ?? '', readNumber) === 'current'
    if (isCurrent || (rev !== null && this.changes.isNewer(id, rev))) this.#put(entry)
    return entry
  }

  #put (entry, block) {
    if (!this.follower.isAnchored) return
    this.missing.delete(entry.id)
    this.#keep(entry.id, entry, entry.cost, block)
  }

  #keep (key, value, bytes, block) {
    this.ahead.delete(key)
    if (block === undefined) this.memory.keep(key, value, bytes)
    else this.ahead.keep(key, { value, bytes, block }, bytes)
  }

  #updateExpiry (entry) {
    const layer = this.layers.peek(entry.layer)
    entry.epoch = this.epoch
    return entry.fit(layer, this.upstreams.of(layer))
  }

  /** A document of the store has changed. @param {{id: string, rev: string, deleted: boolean}} change */
  changed ({ id, rev, deleted }) {
    this.changes.add(id, rev, deleted)
    const head = headId(id)
    this.missing.delete(head)
    this.forgetTimeline(head)
    // keep the entry if it has this revision: our own write, or a read that was faster than the report
    const isOutdated = entry => entry !== undefined && (entry.rev !== rev || deleted)
    if (isOutdated(this.memory.peek(id))) this.memory.delete(id)
    if (isOutdated(this.ahead.peek(id)?.value)) this.ahead.delete(id)
  }

  /** Removes everything: any document may have changed. */
  reset () {
    this.changes.reset()
    this.memory.clear()
    this.ahead.clear()
    this.missing.clear()
  }

  /** Layers have changed: tiles may have other expiry times or upstreams. Each entry is updated at its next use. */
  layersChanged () {
    this.epoch++
    this.missing.clear()
  }
}
