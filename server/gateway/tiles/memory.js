// A least-recently-used cache, bounded by bytes. A map finds an entry, a ring of links keeps the order of use, so that
// a hit costs one look-up and a few assignments.


export const memoryDefaults = {
  overhead: 1300, // bytes an entry costs besides its own, as measured: names, dates, links, the Buffer object
  largestPart: 1 / 8 // of the limit that one entry may take; a larger one would push out too many others
}

/**
 * @template T
 * @typedef {object} Link
 * @property {string} key
 * @property {T} value
 * @property {number} cost bytes
 * @property {Link<T>} newer
 * @property {Link<T>} older
 */

/** @template T */
export class Memory {
  /** @type {Map<string, Link<T>>} */
  #links = new Map()
  /** @type {Link<T>} where the ring begins: its `older` was used last, its `newer` longest ago */
  #start
  #overhead
  #largest

  /** @param {any} maxBytes @param {Partial<typeof memoryDefaults>} [options] */
  constructor (maxBytes, { overhead = memoryDefaults.overhead, largestPart = memoryDefaults.largestPart } = {}) {
    this.maxBytes = maxBytes
    this.bytes = 0 // that the entries cost, never more than maxBytes
    this.evicted = 0 // entries that were removed to make room, ever
    this.#overhead = overhead
    this.#largest = maxBytes * largestPart
    const start = /** @type {any} */ ({ key: '', value: undefined, cost: 0 })
    start.newer = start.older = start
    this.#start = start
  }

  /** Entries. */
  get size () {
    return this.#links.size
  }

  /** @returns {T | undefined} */
  get (key) {
    const link = this.#links.get(key)
    if (link === undefined) return undefined
    const start = this.#start
    if (start.older !== link) {
      unlink(link)
      append(start, link)
    }
    return link.value
  }

  /** The same, without counting it as used. @returns {T | undefined} */
  peek (key) {
    return this.#links.get(key)?.value
  }

  /** @param {T} value @param {number} bytes of the value itself @returns {boolean} whether it is kept */
  set (key, value, bytes) {
    this.delete(key)
    const cost = bytes + key.length + this.#overhead
    if (cost > this.#largest) return false
    while (this.bytes + cost > this.maxBytes) {
      this.#remove(this.#start.newer)
      this.evicted++
    }
    const link = /** @type {Link<T>} */ ({ key, value, cost, newer: this.#start, older: this.#start })
    append(this.#start, link)
    this.#links.set(key, link)
    this.bytes += cost
    return true
  }

  /** Takes an entry out. @returns {T | undefined} */
  take (key) {
    const link = this.#links.get(key)
    if (link !== undefined) this.#remove(link)
    return link?.value
  }

  /** @returns {boolean} whether it was there */
  delete (key) {
    const link = this.#links.get(key)
    if (link === undefined) return false
    this.#remove(link)
    return true
  }

  clear () {
    this.#links.clear()
    this.#start.newer = this.#start.older = this.#start
    this.bytes = 0
  }

  /** What is kept, in no particular order. */
  * values () {
    for (const { value } of this.#links.values()) yield value
  }

  #remove (link) {
    unlink(link)
    this.#links.delete(link.key)
    this.bytes -= link.cost
  }
}

function unlink (link) {
  link.newer.older = link.older
  link.older.newer = link.newer
}

/** Makes a link the one that was used last. */
function append (start, link) {
  link.newer = start
  link.older = start.older
  start.older.newer = link
  start.older = link
}
