// A least-recently-used cache, bounded by bytes.
import { LRUCache } from 'lru-cache'

const ENTRY_BYTES = 1300 // an entry costs them besides its own, as measured: names, dates, links, the Buffer object
const LARGEST_PART = 1 / 8 // of the limit that one entry may take; a larger one would push out too many others

/** @template {{}} T */
export class Memory {
  /** @type {LRUCache<string, T>} */
  #entries
  #overhead
  #largest
  evicted = 0 // entries that were removed to make room, ever

  /** @param {number} maxBytes 0: nothing is kept @param {{overhead?: number, largestPart?: number}} [options] */
  constructor (maxBytes, { overhead = ENTRY_BYTES, largestPart = LARGEST_PART } = {}) {
    this.maxBytes = maxBytes
    this.#overhead = overhead
    this.#largest = maxBytes * largestPart
    this.#entries = new LRUCache({
      maxSize: Math.max(1, Math.floor(maxBytes)),
      dispose: (value, key, reason) => { if (reason === 'evict') this.evicted++ }
    })
  }

  /** Entries. */
  get size () {
    return this.#entries.size
  }

  /** That the entries cost, never more than maxBytes. */
  get bytes () {
    return this.#entries.calculatedSize
  }

  /** @returns {T | undefined} */
  get (key) {
    return this.#entries.get(key)
  }

  /** The same, without counting it as used. @returns {T | undefined} */
  peek (key) {
    return this.#entries.peek(key)
  }

  /** @param {T} value @param {number} bytes of the value itself @returns {boolean} whether it is kept */
  set (key, value, bytes) {
    const size = bytes + key.length + this.#overhead
    if (size <= this.#largest) this.#entries.set(key, value, { size })
    else this.#entries.delete(key)
    return size <= this.#largest
  }

  /** @returns {boolean} whether it was there */
  delete (key) {
    return this.#entries.delete(key)
  }

  clear () {
    this.#entries.clear()
  }
}
