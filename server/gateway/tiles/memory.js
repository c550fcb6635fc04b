// A least-recently-used cache, bounded by bytes.
import { LRUCache } from 'lru-cache'

const ENTRY_BYTES = 1300 // measured overhead of an entry: names, dates, links, the Buffer object
const LARGEST_PART = 1 / 8 // of the limit that one entry may take: a larger one would evict too many others

const wholeBytes = bytes => Math.max(1, Math.floor(bytes))

/**
 * @template {{}} T
 * @extends {LRUCache<string, T>}
 */
export class Memory extends LRUCache {
  /** @param {number} maxBytes 0: nothing is kept @param {{overhead?: number, largestPart?: number}} [options] */
  constructor (maxBytes, { overhead = ENTRY_BYTES, largestPart = LARGEST_PART } = {}) {
    const counts = { evicted: 0 } // entries that were removed to make room, ever
    super({
      maxSize: wholeBytes(maxBytes),
      maxEntrySize: wholeBytes(maxBytes * largestPart),
      dispose: (value, key, reason) => { if (reason === 'evict') counts.evicted++ }
    })
    this.maxBytes = maxBytes
    this.overhead = overhead
    this.counts = counts
  }

  /** Bytes that the entries take, never more than maxBytes. */
  get bytes () {
    return this.calculatedSize
  }

  /** @param {string} key @param {T} value @param {number} bytes of the value @returns {boolean} whether it is kept */
  keep (key, value, bytes) {
    const size = bytes + key.length + this.overhead
    this.set(key, value, { size })
    return size <= this.maxEntrySize
  }
}
