// The latest changes that the feed of the store reported, to check reads: a read that began before a change may
// return the state before it, which must neither be kept nor be answered after the change was reported.
import { LRUCache } from 'lru-cache'
import { generation } from '../../../core/couch/answers.js'
import { headId } from '../../../core/index.js'

const MOST = 40000 // documents and timelines remembered
const AGE = 10000 // milliseconds in which a copy of a shard may lag behind a change

/**
 * - `current`: as far as known, this is the state of the store
 * - `outdated`: the document changed while it was read
 * - `behind`: the read began after the change, but came from a copy of a shard that has not got it yet
 * @typedef {'current' | 'outdated' | 'behind'} Verdict
 */

export class RecentChanges {
  /** By document or timeline; when: milliseconds. @type {LRUCache<string, {rev: string, deleted: boolean, at: number,
   *   when: number}>} */
  #changes
  #count = 0 // of reads and changes: gives their order, which clocks do not
  #horizon = 0 // reads that began before this cannot be checked

  constructor ({ most = MOST } = {}) {
    this.#changes = new LRUCache({
      max: most,
      // the oldest goes first: reads that began before it can no longer be checked
      dispose: ({ at }, key, reason) => { if (reason === 'evict') this.#horizon = at }
    })
  }

  /** A read begins. The number is given to `check` when it has ended. */
  beginRead () {
    return ++this.#count
  }

  add (id, rev, deleted) {
    const change = { rev, deleted, at: ++this.#count, when: Date.now() }
    this.#changes.set(id, change)
    this.#changes.set(timelineKey(headId(id)), change) // the timeline of a tile is read apart from it
  }

  /** Everything may have changed. */
  reset () {
    this.#changes.clear()
    this.#horizon = ++this.#count
  }

  /** @param {string | null} rev that was read; null: there is no such document @returns {Verdict} */
  check (id, rev, begun) {
    if (begun <= this.#horizon) return 'outdated'
    const change = this.#changes.peek(id)
    if (change === undefined || (change.deleted ? rev === null : rev === change.rev)) return 'current'
    if (change.at > begun) return 'outdated'
    if (Date.now() - change.when > AGE) return 'current'
    if (rev === null) return change.deleted ? 'current' : 'behind'
    return generation(rev) < generation(change.rev) ? 'behind' : 'current'
  }

  /** Whether a revision is newer than the last one reported. */
  isNewer (id, rev) {
    const change = this.#changes.peek(id)
    return change === undefined || generation(rev) > generation(change.rev)
  }

  /** @param {string} id of the head @returns {Verdict} */
  checkTimeline (id, begun) {
    const change = this.#changes.peek(timelineKey(id))
    return begun <= this.#horizon || (change !== undefined && change.at > begun) ? 'outdated' : 'current'
  }
}

/** The key of a tile's timeline: no document has such an id, since the time of a version is never empty. */
export const timelineKey = id => `${id}@`
