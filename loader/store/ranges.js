// Reads rows of a view in ranges of keys, several ranges a request. Each range is read to its end, however long it is.
import { sequenceNumber } from '../../core/feed-position.js'
import { compareIds } from '../../core/index.js'

// The requests of a listing. A range of keys costs CouchDB as much as some dozens of rows, so neighbours are read
// together.
export const listDefaults = {
  page: 2000, // rows a request, about
  ranges: 200, // ranges of keys a request
  slack: 50, // rows that a range may have gained since it was counted, without another request
  depth: 4, // versions a tile may have: estimates the rows of a part of a column
  sparse: 50, // rows: a column with no more of them is read whole, not in parts
  waste: 50, // rows between two columns that are read as well, so that both are in one range
  columns: 5000, // columns a request, when they are counted
  few: 4096, // columns of an area that are named one by one; of a wider area, the whole box is counted
  near: 32, // columns between two columns of an area that are counted as well, not left out
  spans: 50 // spans of columns a request
}

/**
 * @typedef {{startkey: any[], endkey: any[], startkey_docid?: string, limit: number}} Range limit: rows of an answer;
 *   further rows are read with another request
 */
/** @typedef {{id: string, key: any[], value: any}} Row */
/** @typedef {{rows: Row[], rest?: Range}} Page rest: what the limit left out */

export class RangeReader {
  #seq = 0

  /**
   * @param {import('./couch.js').Couch} couch
   * @param {string} view whose keys are [layer, z, x, y, time?]
   * @param {{settled?: boolean, signal?: AbortSignal}} [options] settled: see #pages
   */
  constructor (couch, view, { settled = false, signal } = {}) {
    this.couch = couch
    this.view = view
    this.settled = settled
    this.signal = signal
  }

  /** Must be awaited before the first read. */
  async open () {
    if (this.settled) this.#seq = await this.#sequence()
    return this
  }

  /** Reads all rows of each range. @param {Range[]} ranges @returns {Promise<Row[][]>} */
  async read (ranges) {
    return Promise.all((await this.#pages(ranges)).map(async ({ rows, rest }) => {
      const pages = [rows]
      for (let next = rest; next;) {
        const [page] = await this.#pages([next])
        pages.push(page.rows)
        next = page.rest
      }
      return pages.flat()
    }))
  }

  /** Reads the rows of one range in pages. The next page is in flight already. @returns {AsyncGenerator<Row[]>} */
  async * pagesOf (range) {
    /** @type {Promise<Page[]> | undefined} */
    let next = this.#pages([range])
    while (next) {
      const [{ rows, rest }] = await next
      next = rest && this.#pages([rest])
      next?.catch(() => {}) // it is awaited after these rows, unless the reader stops
      yield rows
    }
  }

  /**
   * The shards of a database are not read at one moment. A head that moves to the past meanwhile may be missing: the
   * answer of one shard lacks its copy, and that of another has the new head. With `settled`, ranges are read again if
   * anything was written meanwhile. Every version that was stored before is then in one of the two answers.
   * @param {Range[]} ranges
   * @returns {Promise<Page[]>}
   */
  async #pages (ranges) {
    const before = this.#seq
    const first = await this.#query(ranges)
    const hasChanged = this.settled && (this.#seq = await this.#sequence()) !== before
    const second = hasChanged ? await this.#query(ranges) : []
    return ranges.map((range, index) => {
      const answers = hasChanged ? [first[index], second[index]] : [first[index]]
      const fullAnswers = answers.filter(rows => rows.length >= range.limit)
      const ends = fullAnswers.map(rows => rows[rows.length - 1]).sort(compareKeys)
      const rows = hasChanged ? union(first[index], second[index]) : first[index]
      if (!ends.length) return { rows }
      const [end] = ends
      // continues after the last row: ids of tiles have no spaces, and a space sorts before all their characters
      const rest = { ...range, startkey: end.key, startkey_docid: `${end.id} `, limit: listDefaults.page }
      return { rows: hasChanged ? rows.filter(row => compareKeys(row, end) <= 0) : rows, rest }
    })
  }

  async #sequence () {
    return sequenceNumber((await this.couch.request({ path: '', signal: this.signal })).update_seq)
  }

  #query (ranges) {
    return this.couch.queries(this.view, ranges.map(range => ({ ...range, reduce: false })), this.signal)
  }
}

/** The rows of both answers; of two rows with one key, the later one. */
function union (earlier, later) {
  const keys = new Set(later.map(({ key }) => key.join()))
  return [...later, ...earlier.filter(({ key }) => !keys.has(key.join()))].sort(compareKeys)
}

/** In the order of the view: column, row, time, id. */
function compareKeys (a, b) {
  for (let part = 2; part < a.key.length; part++) {
    if (a.key[part] !== b.key[part]) return a.key[part] < b.key[part] ? -1 : 1
  }
  return compareIds(a.id, b.id)
}
