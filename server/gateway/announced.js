// What _changes has lately said of documents, to judge a read by: one that began before a change may carry what was there
// before it, and must neither be kept nor be handed out after the change was announced.
import { headId } from '../../core/index.js'

export const announcedDefaults = {
  most: 20000, // documents remembered at least, before older ones are forgotten; and twice as many at most
  age: 10000 // milliseconds a change is remembered at least, unless there are too many
}

/**
 * - `true`: as far as anybody knows this is what the store holds
 * - `old`: the document changed while it was read
 * - `behind`: the read began after the change, but came from a copy of a shard that has yet to learn of it
 * @typedef {'true' | 'old' | 'behind'} Verdict
 */

export class Announced {
  // Two maps instead of one in the order of announcement: a map whose oldest entry goes with every new one is slow
  /** @type {Map<string, {rev: string, deleted: boolean, at: number}>} */
  #young = new Map()
  #old = new Map()
  #turned = 0 // when the young one was begun
  #closed = 0 // what was announced last of the old ones
  #count = 0 // of beginnings and announcements: tells which came first, which clocks do not
  #horizon = 0 // reads that began before this cannot be judged

  /** @param {Partial<typeof announcedDefaults> & {clock?: {now: () => number}}} [options] */
  constructor ({ most = announcedDefaults.most, age = announcedDefaults.age, clock = Date } = {}) {
    this.most = most
    this.age = age
    this.clock = clock
  }

  /** A read begins. What this answers is given to `judge` when it has ended. */
  begin () {
    return ++this.#count
  }

  /** @param {string} id @param {string} rev @param {boolean} deleted */
  announce (id, rev, deleted) {
    const when = this.clock.now()
    if (this.#young.size >= this.most || when - this.#turned > this.age) {
      // reads that began before what is forgotten now can no longer be judged
      this.#horizon = this.#closed
      this.#closed = this.#count
      this.#old = this.#young
      this.#young = new Map()
      this.#turned = when
    }
    const change = { rev, deleted, at: ++this.#count }
    this.#young.set(id, change)
    // the timeline of a tile is another thing that is read
    this.#young.set(timelineKey(headId(id)), change)
  }

  #of (key) {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  /** Everything may have changed. */
  reset () {
    this.#young.clear()
    this.#old.clear()
    this.#horizon = ++this.#count
  }

  /**
   * @param {string} id
   * @param {string | null} rev what was read; null: there is no such document
   * @param {number} begun
   * @returns {Verdict}
   */
  judge (id, rev, begun) {
    if (begun <= this.#horizon) return 'old'
    const change = this.#of(id)
    if (change === undefined || (change.deleted ? rev === null : rev === change.rev)) return 'true'
    if (change.at > begun) return 'old'
    if (rev === null) return change.deleted ? 'true' : 'behind'
    return generation(rev) < generation(change.rev) ? 'behind' : 'true'
  }

  /** Whether a revision is a later one than was last announced. @param {string} id @param {string} rev */
  isNewer (id, rev) {
    const change = this.#of(id)
    return change === undefined || generation(rev) > generation(change.rev)
  }

  /** @param {string} id of the head @param {number} begun @returns {Verdict} */
  judgeTimeline (id, begun) {
    const change = this.#of(timelineKey(id))
    return begun <= this.#horizon || (change !== undefined && change.at > begun) ? 'old' : 'true'
  }
}

/** The name under which a tile's timeline is kept: no document has it, since a version's time is never empty. */
export const timelineKey = id => `${id}@`

const generation = rev => Number.parseInt(rev, 10)
