// Rows of a view in ranges of keys, several ranges a request, each to its end however long it is.
import { sequenceNumber } from '../../core/feed-position.js'
import { compareIds } from '../../core/index.js'

// How a listing asks. A range of keys costs CouchDB as much as some dozens of rows, so that neighbours are asked for
// together.
export const listDefaults = {
  page: 2000, // rows a request, about
  ranges: 200, // ranges of keys a request
  slack: 50, // rows a range may have got since it was counted, before its rest must be asked for
  depth: 4, // versions a tile may have, for a guess at a part of a column
  sparse: 50, // rows of a column that are rather read whole than in parts
  waste: 50, // rows between two columns that are read as well, so that both are in one range
  columns: 5000, // columns a request, when they are counted
  few: 4096, // columns of an area that are named one by one; a wider area is asked for as a whole
  near: 32, // columns between two of an area that are rather counted than left out
  spans: 50 // spans of columns a request
}

/**
 * @typedef {{startkey: any[], endkey: any[], startkey_docid?: string, limit: number}} Range limit: rows of an answer;
 *   what is beyond is asked for
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

  /** To be awaited before anything is read. */
  async open () {
    if (this.settled) this.#seq = await this.#sequence()
    return this
  }

  /** The rows of each range, as many as there are. @param {Range[]} ranges @returns {Promise<Row[][]>} */
  async read (ranges) {
    return Promise.all((await this.#pages(ranges)).map(async ({ rows, rest }) => {
      const all = [rows]
      for (let next = rest; next;) {
        const [page] = await this.#pages([next])
        all.push(page.rows)
        next = page.rest
      }
      return all.flat()
    }))
  }

  /** The rows of one range in pages, the next page on its way already. @returns {AsyncGenerator<Row[]>} */
  async * pagesOf (range) {
    /** @type {Promise<Page[]> | undefined} */
    let next = this.#pages([range])
    while (next) {
      const [{ rows, rest }] = await next
      next = rest && this.#pages([rest])
      next?.catch(() => {}) // it is awaited after these rows, if anybody still wants them
      yield rows
    }
  }

  /**
   * The shards of a database are not read at one moment. A head that goes to the past meanwhile may be missing from
   * both answers: its copy was not yet in the one, and it was no more in the other. `settled` reads again what was read
   * while anything was written: every version that stood before is in one of the two.
   * @param {Range[]} ranges
   * @returns {Promise<Page[]>}
   */
  async #pages (ranges) {
    const before = this.#seq
    const first = await this.#query(ranges)
    const changed = this.settled && (this.#seq = await this.#sequence()) !== before
    const second = changed ? await this.#query(ranges) : []
    return ranges.map((range, at) => {
      const answers = changed ? [first[at], second[at]] : [first[at]]
      const full = answers.filter(rows => rows.length >= range.limit)
      const ends = full.map(rows => rows[rows.length - 1]).sort(compareKeys)
      const rows = changed ? union(first[at], second[at]) : first[at]
      if (!ends.length) return { rows }
      const [end] = ends
      // no id of a tile has a space, which sorts before everything an id may go on with
      const rest = { ...range, startkey: end.key, startkey_docid: `${end.id} `, limit: listDefaults.page }
      return { rows: changed ? rows.filter(row => compareKeys(row, end) <= 0) : rows, rest }
    })
  }

  async #sequence () {
    return sequenceNumber((await this.couch.request({ path: '', signal: this.signal })).update_seq)
  }

  #query (ranges) {
    return this.couch.queries(this.view, ranges.map(range => ({ ...range, reduce: false })), this.signal)
  }
}

/** The rows of both; of two for a key, the later one. */
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
