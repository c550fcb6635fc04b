// Revisions that a target has refused. The checkpoint names them, so that it may pass them; every session tries them
// again.

const MOST = 200 // named revisions; with more the checkpoint stays where it is
const LONGEST = 200 // characters of a reason

/** @typedef {import('./peer.js').Refused} Refused */

const keyOf = (id, rev) => `${id} ${rev}`

export class Refusals {
  /** @type {Map<string, Refused>} */
  #named = new Map()
  #unnamed = 0
  #refusedAgain // while they are tried again

  /** Whether the checkpoint has to be written. */
  isChanged = false

  /** How many revisions the target lacks. */
  get size () {
    return this.#named.size + this.#unnamed
  }

  /** Whether there are more than can be named. */
  get isFull () {
    return this.#unnamed > 0
  }

  /** @returns {Refused[]} */
  get list () {
    return [...this.#named.values()]
  }

  /**
   * A session begins; it finds again those without a name.
   * @param {any} list of the checkpoint, which anybody may have written
   */
  open (list) {
    this.#unnamed = 0
    for (const one of Array.isArray(list) ? list : []) {
      if (typeof one?.id === 'string' && typeof one.rev === 'string') this.#named.set(keyOf(one.id, one.rev), one)
    }
  }

  /** @param {Refused} refused */
  add ({ id, rev, error, reason }) {
    const key = keyOf(id, rev)
    this.#refusedAgain?.add(key)
    this.isChanged = true
    if (this.#named.size < MOST || this.#named.has(key)) {
      this.#named.set(key, { id, rev, error, reason: reason?.slice(0, LONGEST) })
    } else this.#unnamed++
  }

  /** Forgets documents that the target has now, and their ancestors. @param {any[]} docs */
  arrived (docs) {
    if (!this.#named.size) return
    for (const { _id: id, _rev: rev, _revisions: { start, ids } = { start: 0, ids: [] } } of docs) {
      this.#forget(keyOf(id, rev))
      ids.forEach((hash, at) => this.#forget(keyOf(id, `${start - at}-${hash}`)))
    }
  }

  #forget (key) {
    if (this.#named.delete(key)) this.isChanged = true
  }

  /** @param {(rows: {id: string, revs: string[]}[]) => Promise<void>} copy */
  async tryAgain (copy) {
    const before = [...this.#named]
    if (!before.length) return
    this.#refusedAgain = new Set()
    await copy(before.map(([, { id, rev }]) => ({ id, revs: [/** @type {string} */ (rev)] })))
    // the target has the others now, or the source does not have them any more
    for (const [key] of before) if (!this.#refusedAgain.has(key)) this.#forget(key)
    this.#refusedAgain = undefined
  }
}
