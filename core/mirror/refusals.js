// The revisions that a target has refused. The checkpoint lists them, so that it may move past them. Every session
// tries to copy them again.

const MOST = 200 // listed revisions; with more the checkpoint does not move
const LONGEST = 200 // characters of a reason

/** @typedef {import('./peer.js').Refused} Refused */

const keyOf = (id, rev) => `${id} ${rev}`

export class Refusals {
  /** @type {Map<string, Refused>} */
  #listed = new Map()
  #unlisted = 0
  #refusedAgain // keys, only during tryAgain

  /** Whether the checkpoint has to be written. */
  isChanged = false

  /** The number of revisions that the target lacks. */
  get size () {
    return this.#listed.size + this.#unlisted
  }

  /** Whether there are more than the list can hold. */
  get isFull () {
    return this.#unlisted > 0
  }

  /** @returns {Refused[]} */
  get list () {
    return [...this.#listed.values()]
  }

  /**
   * Begins a session. Unlisted refusals are found again, because the checkpoint has not passed them.
   * @param {any} list of the checkpoint; may be invalid
   */
  open (list) {
    this.#unlisted = 0
    for (const row of Array.isArray(list) ? list : []) {
      if (typeof row?.id === 'string' && typeof row.rev === 'string') this.#listed.set(keyOf(row.id, row.rev), row)
    }
  }

  /** @param {Refused} refused */
  add ({ id, rev, error, reason }) {
    const key = keyOf(id, rev)
    this.#refusedAgain?.add(key)
    this.isChanged = true
    if (this.#listed.size < MOST || this.#listed.has(key)) {
      this.#listed.set(key, { id, rev, error, reason: reason?.slice(0, LONGEST) })
    } else this.#unlisted++
  }

  /** Removes documents that the target has now, and their ancestors. @param {any[]} docs */
  arrived (docs) {
    if (!this.#listed.size) return
    for (const { _id: id, _rev: rev, _revisions: { start, ids } = { start: 0, ids: [] } } of docs) {
      this.#forget(keyOf(id, rev))
      ids.forEach((hash, index) => this.#forget(keyOf(id, `${start - index}-${hash}`)))
    }
  }

  #forget (key) {
    if (this.#listed.delete(key)) this.isChanged = true
  }

  /** @param {(rows: {id: string, revs: string[]}[]) => Promise<void>} copy */
  async tryAgain (copy) {
    const listedBefore = [...this.#listed]
    if (!listedBefore.length) return
    this.#refusedAgain = new Set()
    await copy(listedBefore.map(([, { id, rev }]) => ({ id, revs: [/** @type {string} */ (rev)] })))
    // the target now has the others, or the source no longer has them
    for (const [key] of listedBefore) if (!this.#refusedAgain.has(key)) this.#forget(key)
    this.#refusedAgain = undefined
  }
}
