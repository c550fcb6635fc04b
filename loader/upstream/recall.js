// A brief memory, of so many things at most.

const MOST = 10000 // entries, a hundred bytes each

/** @typedef {{until: number, error?: import('../../core/errors.js').TilecouchError}} Entry until: milliseconds since 1970; error: instead of "missing" */

export class Recall {
  /** @type {Map<string, Entry>} */
  #entries = new Map()

  constructor (most = MOST) {
    this.most = most
  }

  /** What was remembered, while it holds. @param {string} key @returns {Entry | undefined} */
  get (key) {
    const entry = this.#entries.get(key)
    if (!entry || entry.until > Date.now()) return entry
    this.#entries.delete(key)
    return undefined
  }

  /** @param {string} key @param {Entry} entry */
  set (key, entry) {
    if (entry.until <= Date.now()) return
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    // the oldest go first: they are the next to be forgotten anyway
    if (this.#entries.size > this.most) this.#entries.delete(/** @type {string} */ (this.#entries.keys().next().value))
  }
}
