// What was used last, within so many bytes. A map finds an entry, a ring of links keeps them in the order of their use, so
// that a hit costs one look-up and a few assignments.

export const memoryDefaults = {
  overhead: 1300, // bytes an entry costs besides its own, as measured: names, dates, links and the buffer's keeping
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
  /** @type {Link<T>} the ring's joint: its `older` was used last, its `newer` longest ago */
  #joint
  #overhead
  #largest

  /**
   * @param {number} maxBytes
   * @param {Partial<typeof memoryDefaults>} [options]
   */
  constructor (maxBytes, { overhead = memoryDefaults.overhead, largestPart = memoryDefaults.largestPart } = {}) {
    this.maxBytes = maxBytes
    this.bytes = 0 // that the entries cost, never more than maxBytes
    this.evicted = 0 // entries that had to make room, ever
    this.#overhead = overhead
    this.#largest = maxBytes * largestPart
    const joint = /** @type {any} */ ({ key: '', value: undefined, cost: 0 })
    joint.newer = joint.older = joint
    this.#joint = joint
  }

  /** Entries. */
  get size () {
    return this.#links.size
  }

  /** @param {string} key @returns {T | undefined} */
  get (key) {
    const link = this.#links.get(key)
    if (link === undefined) return undefined
    const joint = this.#joint
    if (joint.older !== link) {
      cut(link)
      tie(joint, link)
    }
    return link.value
  }

  /** As get, but looking at it is no use of it. @param {string} key @returns {T | undefined} */
  look (key) {
    return this.#links.get(key)?.value
  }

  /**
   * @param {string} key @param {T} value
   * @param {number} bytes of the value itself
   * @returns {boolean} whether it is kept
   */
  set (key, value, bytes) {
    this.delete(key)
    const cost = bytes + key.length + this.#overhead
    if (cost > this.#largest) return false
    while (this.bytes + cost > this.maxBytes) {
      this.#remove(this.#joint.newer)
      this.evicted++
    }
    const link = /** @type {Link<T>} */ ({ key, value, cost, newer: this.#joint, older: this.#joint })
    tie(this.#joint, link)
    this.#links.set(key, link)
    this.bytes += cost
    return true
  }

  /** @param {string} key @returns {boolean} whether it was there */
  delete (key) {
    const link = this.#links.get(key)
    if (link === undefined) return false
    this.#remove(link)
    return true
  }

  clear () {
    this.#links.clear()
    this.#joint.newer = this.#joint.older = this.#joint
    this.bytes = 0
  }

  /** What is kept, in no particular order. */
  * values () {
    for (const { value } of this.#links.values()) yield value
  }

  #remove (link) {
    cut(link)
    this.#links.delete(link.key)
    this.bytes -= link.cost
  }
}

function cut (link) {
  link.newer.older = link.older
  link.older.newer = link.newer
}

/** Puts a link where the newest is. */
function tie (joint, link) {
  link.newer = joint
  link.older = joint.older
  joint.older.newer = link
  joint.older = link
}
