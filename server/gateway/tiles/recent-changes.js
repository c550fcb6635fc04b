// The latest changes that the feed of the store reported, to check reads: a read that began before a change may
// return the old state. After the report, the old state must neither be kept nor be answered.
import { LRUCache } from 'lru-cache'
import { generation } from '../../../core/couch/answers.js'
import { headId } from '../../../core/index.js'

const MOST = 40000 // documents and timelines remembered
const AGE = 10000 // milliseconds in which a copy of a shard may lag behind a change

/**
 * - `current`: as far as known, this is the state of the store
 * - `outdated`: the document changed while it was read
 * - `behind`: the read began after the change, but came from a copy of a shard that lacks it
 * @typedef {'current' | 'outdated' | 'behind'} Verdict
 */

export class RecentChanges {
  /** By document or timeline. @type {LRUCache<string, {rev: string, deleted: boolean, order: number,
   *   reportedAt: number}>} reportedAt: milliseconds since 1970 */
  #changes
  #count = 0 // reads and changes so far: gives their order, which clocks do not
  #horizon = 0 // reads that began before this cannot be checked

  constructor ({ most = MOST } = {}) {
    this.#changes = new LRUCache({
      max: most,
      // the oldest goes first: reads that began before it can no longer be checked
      dispose: ({ order }, key, reason) => { if (reason === 'evict') this.#horizon = order }
    })
  }

  /** To be called when a read begins. Pass the number to `check` after the read. */
  beginRead () {
    return ++this.#count
  }

  add (id, rev, deleted) {
    const change = { rev, deleted, order: ++this.#count, reportedAt: Date.now() }
    this.#changes.set(id, change)
    this.#changes.set(timelineKey(headId(id)), change) // the timeline of a tile is read separately
  }

  /** Forgets everything: any document may have changed. */
  reset () {
    this.#changes.clear()
    this.#horizon = ++this.#count
  }

  /** @param {string | null} rev that was read; null: there is no such document @returns {Verdict} */
  check (id, rev, readNumber) {
    if (readNumber <= this.#horizon) return 'outdated'
    const change = this.#changes.peek(id)
    if (change === undefined || (change.deleted ? rev === null : rev === change.rev)) return 'current'
    if (change.order > readNumber) return 'outdated'
    if (Date.now() - change.reportedAt > AGE) return 'current'
    if (rev === null) return change.deleted ? 'current' : 'behind'
    return generation(rev) < generation(change.rev) ? 'behind' : 'current'
  }

  /** Whether a revision is newer than the last one reported. */
  isNewer (id, rev) {
    const change = this.#changes.peek(id)
    return change === undefined || generation(rev) > generation(change.rev)
  }

  /** @param {string} id of the head @returns {Verdict} */
  checkTimeline (id, readNumber) {
    const change = this.#changes.peek(timelineKey(id))
    return readNumber <= this.#horizon || (change !== undefined && change.order > readNumber) ? 'outdated' : 'current'
  }
}

/** The key of a tile's timeline: no document has such an id, since the time of a version is never empty. */
export const timelineKey = id => `${id}@`
