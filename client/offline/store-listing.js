// Lists the versions of an area at a store, from the view versions/by_tile: ranges of columns, many in one request.
// Each row has the revision and the size of an image; documents are not read.
import { STORE_ID, editionId, isTileId, layerId, parseTileId, styleId } from '../../core/index.js'
import { columnsIn, zoomQuery } from '../../core/couch/queries.js'

export const BY_TILE = '_design/versions/_view/by_tile'
export const BY_AREA = '_design/versions/_view/by_area'
export const REST_BY_AREA = '_design/versions/_view/rest_by_area'

export const listingDefaults = {
  page: 2000, // rows a request, as far as they can be foretold
  firstPage: 250, // rows of the first one, before anything is known of the line
  leastPage: 50, // rows a request on a line that breaks time and again
  pageTime: 1000, // milliseconds a request is meant to take: on a slow line the next ones are smaller
  ranges: 100, // ranges of rows a request
  spans: 500, // sums a request
  columns: 10000 // columns a range of them answers at once
}

/**
 * @typedef {{z: number, x: number, y0: number, y1: number, count?: number}} Range rows of one column. count: of rows of
 * the view at most, where that is known
 * @typedef {{id: string, rev: string, time: string, y: number, bytes: number, gone: boolean}} ListedVersion
 * @typedef {{z: number, x: number, y0: number, y1: number, rows: ListedVersion[]}} ListedRange every version of its
 *   tiles
 * @typedef {{id: string, rev: string}} ListedDocument
 * @typedef {[z: number, x: number, y: number]} TilePosition of the first tile that was not read yet
 * @typedef {{parts: ListedRange[], next: TilePosition | undefined}} ListedPage next: where the following page begins
 */

export class StoreListing {
  #page // rows that are asked for at once

  /**
   * @param {import('../mirror/http.js').HttpCouch} couch
   * @param {import('../../core/mirror/index.js').Selection} selection of one layer
   * @param {{signal?: AbortSignal, limits?: Partial<typeof listingDefaults>}} [options]
   */
  constructor (couch, selection, { signal, limits } = {}) {
    this.couch = couch
    this.selection = selection
    this.signal = signal
    this.limits = { ...listingDefaults, ...limits }
    /** @type {string} */
    this.layer = [.../** @type {Set<string>} */ (selection.layers)][0]
    this.requests = 0
    this.bytes = 0 // of answers
    this.#page = Math.min(this.limits.firstPage, this.limits.page)
  }

  /** The rows of each query. */
  ask (view, queries, most = this.limits.spans, options = {}) {
    this.requests += Math.ceil(queries.length / most)
    const onBytes = bytes => { this.bytes += bytes }
    return this.couch.queries(view, queries, this.signal, { most, onBytes, ...options })
  }

  /**
   * The documents that belong and are no tiles: the layer, its editions, the marker of the store; and its styles.
   * @returns {Promise<{documents: ListedDocument[], styles: ListedDocument[]}>} styles: oldest first
   */
  async layerDocuments () {
    const { keys, ...editions } = layerDocumentRanges(this.layer)
    const answers = await this.ask('_all_docs', [{ keys }, editions, styleRange(this.layer)])
    const [named, edited, styles] = answers.map(rows => rows
      .filter(({ id, value }) => id && value && !value.deleted && this.selection.has(id))
      .map(({ id, value }) => ({ id, rev: value.rev })))
    return { documents: [...named, ...edited], styles: heldStyles(styles, this.selection) }
  }

  /**
   * The zooms of the selection that hold anything.
   * @param {string} [view] whose keys begin with layer and zoom
   * @param {number} [level] 3: with the kind that comes next in the keys
   */
  async zooms (view = BY_TILE, level = 2) {
    const [rows] = await this.ask(view, [zoomQuery(this.layer, this.selection.zooms, level)])
    return rows.map(({ key: [, z, kind], value }) => ({ z, kind, value })).filter(({ z }) => Number.isInteger(z))
  }

  /**
   * The columns of each zoom that hold anything, in the width of the area.
   * @param {string} [view]
   * @param {string} [kind] where keys have one between zoom and column
   * @returns {Promise<Map<number, Map<number, any>>>}
   */
  async columns (zooms, view = BY_TILE, kind = undefined) {
    const found = new Map(zooms.map(z => [z, new Map()]))
    const prefixOf = z => [this.layer, z, ...(kind === undefined ? [] : [kind])]
    const spans = zooms.flatMap(z => this.spansOf(z)).map(span => ({ ...span, prefix: prefixOf(span.z) }))
    const ask = queries => this.ask(view, queries)
    const columns = columnsIn(ask, spans, { limit: this.limits.columns })
    for await (const { span, x, value } of columns) found.get(span.prefix[1])?.set(x, value)
    return found
  }

  /** The columns that the area lies in, without gaps. */
  spansOf (z) {
    const { area } = this.selection
    if (!area) return [{ z, x0: 0, x1: 2 ** z - 1 }]
    return (area.rectangles(z) ?? area.grid.ranges(area.bbox, z)).map(({ x0, x1 }) => ({ z, x0, x1 }))
  }

  /** What of a column belongs to the area. @returns {import('../../core/sweep.js').Run[]} */
  runsOf (z, x) {
    return this.selection.area ? this.selection.area.column(z, x) : [[0, 2 ** z - 1]]
  }

  /**
   * What of these columns belongs to the area.
   * @param {Map<number, Map<number, number>>} columns with their rows in the view
   * @returns {Generator<Range>}
   */
  * ranges (columns) {
    for (const [z, counts] of [...columns].sort(([a], [b]) => a - b)) {
      for (const x of [...counts.keys()].sort((a, b) => a - b)) {
        for (const [y0, y1] of this.runsOf(z, x)) yield { z, x, y0, y1, count: counts.get(x) }
      }
    }
  }

  /**
   * The versions in these ranges, in parts with whole tiles; the next request is sent while one part is processed.
   * @param {Iterable<Range>} ranges ascending
   * @returns {AsyncGenerator<ListedPage>}
   */
  async * read (ranges) {
    const left = new RangeQueue(ranges)
    const begin = () => {
      const some = left.take(this.limits.ranges, this.#page)
      if (!some.length) return undefined
      const answer = this.#readRanges(some)
      answer.catch(() => {}) // it is awaited after the one before it, if it is still wanted
      return { some, answer }
    }
    for (let request = begin(); request;) {
      let answer
      try {
        answer = await request.answer
      } catch (error) {
        // the line breaks before such an answer is complete: the same again, in smaller ones
        if (!error.details?.isBroken || this.#page <= this.limits.leastPage) throw error
        this.#page = Math.max(this.limits.leastPage, this.#page >> 2)
        left.putBack(request.some)
        request = begin()
        continue
      }
      left.putBack(answer.rest)
      const { next } = left
      request = begin()
      if (answer.parts.length) yield { parts: answer.parts, next: next && [next.z, next.x, next.y0] }
    }
  }

  /** Fits the size of the next request to the line. @param {number} took milliseconds */
  #measure (rows, took) {
    const { page, leastPage, pageTime } = this.limits
    const fit = Math.max(rows, leastPage) * pageTime / Math.max(took, 1)
    this.#page = Math.round(Math.min(page, Math.max(leastPage, Math.min(fit, 2 * this.#page))))
  }

  /**
   * A range with more than a page is answered up to the last tile that is there whole.
   * @param {(Range & {limit?: number})[]} ranges
   */
  async #readRanges (ranges) {
    const limits = ranges.map(({ limit = this.#page }) => limit)
    const began = performance.now()
    const queries = ranges.map(({ z, x, y0, y1 }, at) => (
      { reduce: false, startkey: [this.layer, z, x, y0], endkey: [this.layer, z, x, y1, {}], limit: limits[at] }
    ))
    const isDivisible = this.#page > this.limits.leastPage
    const answers = await this.ask(BY_TILE, queries, this.limits.ranges, { isDivisible })
    this.#measure(answers.reduce((sum, rows) => sum + rows.length, 0), performance.now() - began)
    const parts = /** @type {ListedRange[]} */ ([])
    const rest = /** @type {(Range & {limit?: number})[]} */ ([])
    for (const [at, rows] of answers.entries()) {
      const { z, x, y0, y1 } = ranges[at]
      const end = rows.length < limits[at] ? y1 + 1 : Math.min(y1, Math.ceil(rows[rows.length - 1].key[3]))
      const versions = rows.filter(row => row.key[3] < end).flatMap(row => this.#version(row, z, x))
      if (end > y0) parts.push({ z, x, y0, y1: end - 1, rows: versions })
      // one tile with more versions than a page is read at once
      if (end <= y1) rest.push({ z, x, y0: end, y1, count: Infinity, limit: end > y0 ? undefined : limits[at] * 4 })
    }
    return { parts, rest }
  }

  /** Leaves out documents whose fields do not fit their id. @returns {ListedVersion[]} */
  #version ({ id, key: [, , , y, time], value: { rev, bytes, gone } }, z, x) {
    if (!isTileId(id)) return []
    const tile = parseTileId(id)
    if (tile.layer !== this.layer || tile.z !== z || tile.x !== x || tile.y !== y) return []
    return [{ id, rev, time, y, bytes, gone }]
  }
}

/** Ranges that are still to be read, in order. */
class RangeQueue {
  #ranges
  #back = /** @type {Range[]} */ ([])

  constructor (ranges) {
    this.#ranges = ranges[Symbol.iterator]()
  }

  /** The first, which stays. @returns {Range | undefined} */
  get next () {
    if (!this.#back.length) {
      const { value } = this.#ranges.next()
      if (value) this.#back.push(value)
    }
    return this.#back[0]
  }

  /** Some that are read before all others. @param {Range[]} ranges */
  putBack (ranges) {
    this.#back.unshift(...ranges)
  }

  /** As many as hold about so many rows. @param {number} most ranges */
  take (most, rows) {
    const some = []
    let filled = 0
    for (let { next } = this; next && some.length < most; { next } = this) {
      filled += next.count ?? 1
      if (some.length && filled > rows) break
      some.push(next)
      this.#back.shift()
    }
    return some
  }
}

/** What of the versions of one tile belongs to a selection: all, the head, or what a map since some time shows. */
function selectedOfTile (rows, { current, since }) {
  if (current) return rows.filter(isHead)
  if (!since) return rows
  const earlier = rows.filter(row => !isHead(row) && row.time <= since)
  const before = earlier.reduce((last, row) => last.time > row.time ? last : row, earlier[0])
  const head = rows.find(isHead)
  const isHidden = before && head && head.time > before.time && head.time <= since
  return rows.filter(row => isHead(row) || row.time >= since || (row === before && !isHidden))
}

/**
 * What belongs to a selection, and what is on the device already: that stays.
 * @param {ListedVersion[]} rows ascending by tile
 * @param {Map<string, any>} there
 */
export function * selectedRows (rows, selection, there) {
  for (let from = 0, to = 0; from < rows.length; from = to) {
    while (to < rows.length && rows[to].y === rows[from].y) to++
    const tile = rows.slice(from, to)
    const chosen = new Set(selectedOfTile(tile, selection))
    for (const row of tile) if (chosen.has(row) || there.has(row.id)) yield row
  }
}

/**
 * The styles that hold at the times of a selection. A style holds until the next one.
 * @param {ListedDocument[]} styles of a layer, oldest first @param {import('../../core/mirror/index.js').Selection} selection
 */
function heldStyles (styles, { layers, current, since }) {
  if (current) return styles.slice(-1)
  if (!since) return styles
  const [layer] = /** @type {Set<string>} */ (layers)
  const later = styles.findIndex(({ id }) => id > styleId(layer, since))
  return styles.slice(Math.max(0, (later < 0 ? styles.length : later) - 1))
}

/** Where the styles of a layer are. */
export const styleRange = layer => ({ startkey: styleId(layer), endkey: styleId(layer, '~') })

/** Where a layer's documents are that are neither tiles nor styles. */
export const layerDocumentRanges = layer => (
  { keys: [STORE_ID, layerId(layer)], startkey: editionId(layer, ''), endkey: editionId(layer, '~') }
)

/** @param {{id: string}} row */
export const isHead = ({ id }) => !id.includes('@')

/**
 * Runs a task for every page. Rejects with the first failure, when nothing is under way any more.
 * @param {AsyncIterable<ListedPage>} pages
 * @param {(parts: ListedRange[]) => Promise<void>} task
 * @param {{most: number, onFailed: () => void, onSettled?: (next: TilePosition) => void}} options most: pages at once;
 *   onSettled: called with the position up to which all pages are done
 */
export async function eachPage (pages, task, { most, onFailed, onSettled }) {
  const under = new Set()
  let failure
  let last = Promise.resolve(true) // whether all pages up to now are done
  try {
    for await (const { parts, next } of pages) {
      const done = task(parts).then(() => true, error => {
        failure ??= error
        return false
      })
      const work = last = Promise.all([last, done]).then(all => {
        const isDone = all.every(Boolean)
        if (isDone && next) onSettled?.(next)
        return isDone
      }).finally(() => under.delete(work))
      under.add(work)
      while (under.size >= most && !failure) await Promise.race(under)
      if (failure) break
    }
  } catch (error) {
    failure ??= error
  }
  if (failure) onFailed()
  await Promise.all(under)
  if (failure) throw failure
}

/** What of ranges comes before a tile. @param {Iterable<Range>} ranges ascending @returns {Generator<Range>} */
export function * rangesBefore (ranges, [z, x, y]) {
  for (const range of ranges) {
    if (range.z > z || (range.z === z && range.x > x)) return
    const y1 = range.z === z && range.x === x ? Math.min(range.y1, y - 1) : range.y1
    if (range.y0 <= y1) yield { ...range, y1 }
  }
}

/**
 * The rest of them.
 * @param {Iterable<Range>} ranges ascending
 * @param {TilePosition} [spot]
 * @returns {Generator<Range>}
 */
export function * rangesFrom (ranges, [z, x, y] = [0, 0, 0]) {
  for (const range of ranges) {
    if (range.z < z || (range.z === z && range.x < x)) continue
    const y0 = range.z === z && range.x === x ? Math.max(range.y0, y) : range.y0
    if (y0 <= range.y1) yield { ...range, y0 }
  }
}
