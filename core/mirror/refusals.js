// What a target did not take. It is remembered beside the checkpoint, which may pass it only therefore, and tried again with every session.

const MOST = 200 // revisions that are remembered by name; beyond those a checkpoint stays where it is
const LONGEST = 200 // characters of a reason

/** @typedef {import('./peer.js').Refused} Refused */

const keyOf = (id, rev) => `${id} ${rev}`

export class Refusals {
  /** @type {Map<string, Refused>} */
  #named = new Map()
  #unnamed = 0
  #again = /** @type {Set<string> | undefined} */ (undefined) // refused once more, while they are tried again

  /** Whether there is anything that has not been written down. */
  isChanged = false

  /** Revisions that the target lacks for that. */
  get size () {
    return this.#named.size + this.#unnamed
  }

  /** Whether there are more than can be remembered. */
  get isFull () {
    return this.#unnamed > 0
  }

  /** @returns {Refused[]} */
  get list () {
    return [...this.#named.values()]
  }

  /** A session begins: what was not named is found again by what it reads. @param {any} list of the checkpoint, which anybody may have written */
  open (list) {
    this.#unnamed = 0
    for (const one of Array.isArray(list) ? list : []) if (typeof one?.id === 'string' && typeof one.rev === 'string') this.#named.set(keyOf(one.id, one.rev), one)
  }

  /** @param {Refused} refused */
  add ({ id, rev, error, reason }) {
    const key = keyOf(id, rev)
    this.#again?.add(key)
    this.isChanged = true
    if (this.#named.size < MOST || this.#named.has(key)) this.#named.set(key, { id, rev, error, reason: reason?.slice(0, LONGEST) })
    else this.#unnamed++
  }

  /** @param {any[]} docs that are at the target now, and with them what they follow */
  settle (docs) {
    if (!this.#named.size) return
    for (const { _id: id, _rev: rev, _revisions: { start, ids } = { start: 0, ids: [] } } of docs) {
      for (const key of [keyOf(id, rev), ...ids.map((hash, at) => keyOf(id, `${start - at}-${hash}`))]) this.#forget(key)
    }
  }

  #forget (key) {
    if (this.#named.delete(key)) this.isChanged = true
  }

  /** @param {(rows: {id: string, revs: string[]}[]) => Promise<void>} carry */
  async tryAgain (carry) {
    const before = [...this.#named]
    if (!before.length) return
    this.#again = new Set()
    await carry(before.map(([, { id, rev }]) => ({ id, revs: [/** @type {string} */ (rev)] })))
    // the others are there, or at the source no more
    for (const [key] of before) if (!this.#again.has(key)) this.#forget(key)
    this.#again = undefined
  }
}
