// The latest changes that the feed of the store reported, to check reads: a read that began before a change may
// return the state before it, which must neither be kept nor be answered after the change was reported.
import { generation } from '../../../core/couch/answers.js'
import { headId } from '../../../core/index.js'

export const recentChangesDefaults = {
  most: 20000, // documents remembered at least, before older ones are forgotten; and twice as many at most
  age: 10000 // milliseconds a change is remembered at least, unless there are too many
}

/**
 * - `current`: as far as known, this is the state of the store
 * - `outdated`: the document changed while it was read
 * - `behind`: the read began after the change, but came from a copy of a shard that has not got it yet
 * @typedef {'current' | 'outdated' | 'behind'} Verdict
 */

export class RecentChanges {
  // Two maps instead of one in the order of the changes: a map whose oldest entry goes with every new one is slow
  /** @type {Map<string, {rev: string, deleted: boolean, at: number}>} */
  #newer = new Map()
  #older = new Map()
  #turned = 0 // when the newer one was begun
  #closed = 0 // number of the last change in the older one
  #count = 0 // of reads and changes: gives their order, which clocks do not
  #horizon = 0 // reads that began before this cannot be checked

  /** @param {Partial<typeof recentChangesDefaults> & {clock?: {now: () => number}}} [options] */
  constructor ({ most = recentChangesDefaults.most, age = recentChangesDefaults.age, clock = Date } = {}) {
    this.most = most
    this.age = age
    this.clock = clock
  }

  /** A read begins. The number is given to `check` when it has ended. */
  beginRead () {
    return ++this.#count
  }

  add (id, rev, deleted) {
    const when = this.clock.now()
    if (this.#newer.size >= this.most || when - this.#turned > this.age) {
      // reads that began before what is forgotten now can no longer be checked
      this.#horizon = this.#closed
      this.#closed = this.#count
      this.#older = this.#newer
      this.#newer = new Map()
      this.#turned = when
    }
    const change = { rev, deleted, at: ++this.#count }
    this.#newer.set(id, change)
    this.#newer.set(timelineKey(headId(id)), change) // the timeline of a tile is read apart from it
  }

  #of (key) {
    return this.#newer.get(key) ?? this.#older.get(key)
  }

  /** Everything may have changed. */
  reset () {
    this.#newer.clear()
    this.#older.clear()
    this.#horizon = ++this.#count
  }

  /** @param {string | null} rev that was read; null: there is no such document @returns {Verdict} */
  check (id, rev, begun) {
    if (begun <= this.#horizon) return 'outdated'
    const change = this.#of(id)
    if (change === undefined || (change.deleted ? rev === null : rev === change.rev)) return 'current'
    if (change.at > begun) return 'outdated'
    if (rev === null) return change.deleted ? 'current' : 'behind'
    return generation(rev) < generation(change.rev) ? 'behind' : 'current'
  }

  /** Whether a revision is newer than the last one reported. */
  isNewer (id, rev) {
    const change = this.#of(id)
    return change === undefined || generation(rev) > generation(change.rev)
  }

  /** @param {string} id of the head @returns {Verdict} */
  checkTimeline (id, begun) {
    const change = this.#of(timelineKey(id))
    return begun <= this.#horizon || (change !== undefined && change.at > begun) ? 'outdated' : 'current'
  }
}

/** The key of a tile's timeline: no document has such an id, since the time of a version is never empty. */
export const timelineKey = id => `${id}@`
