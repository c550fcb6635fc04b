// Lists the documents of an area at a store. Tiles come from the view versions/by_tile: ranges of columns, many in one
// request. Each row has the revision and the size of an image; documents are not read.
import { STORE_ID, editionId, isTileId, layerId, parseTileId, styleId } from '../../core/index.js'
import { columnsIn, zoomQuery } from '../../core/couch/queries.js'

export const BY_TILE = '_design/versions/_view/by_tile'

export const listingDefaults = {
  page: 1000, // rows per request
  ranges: 100, // ranges of rows per request
  spans: 500, // sums per request
  columns: 10000 // columns per answer
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
    this.bytes = 0 // of answers
  }

  /** Sends queries to a view and returns the rows of each. */
  ask (view, queries, perRequest = this.limits.spans) {
    const onBytes = bytes => { this.bytes += bytes }
    return this.couch.queries(view, queries, this.signal, { most: perRequest, onBytes })
  }

  /**
   * Lists the documents that are not tiles: the layer, its editions, the marker of the store; and the styles.
   * @returns {Promise<{documents: ListedDocument[], styles: ListedDocument[]}>} styles: oldest first
   */
  async layerDocuments () {
    const { keys, ...editions } = layerDocumentRanges(this.layer)
    const answers = await this.ask('_all_docs', [{ keys }, editions, styleRange(this.layer)])
    const [layerRows, editionRows, styles] =
      answers.map(rows => liveRows(rows).filter(({ id }) => this.selection.has(id)))
    return { documents: [...layerRows, ...editionRows], styles: selectedStyles(styles, this.selection) }
  }

  /**
   * Reads the winning revisions of documents.
   * @param {string[]} ids
   * @returns {Promise<{id: string, rev: string | undefined}[]>} rev: undefined if the store does not have it
   */
  async winners (ids) {
    if (!ids.length) return []
    const [rows] = await this.ask('_all_docs', [{ keys: ids }])
    const revs = new Map(liveRows(rows).map(({ id, rev }) => [id, rev]))
    return ids.map(id => ({ id, rev: revs.get(id) }))
  }

  /**
   * The zooms of the selection that have rows.
   * @param {string} [view] whose keys begin with layer and zoom
   * @param {number} [level] 3: with the kind that comes next in the keys
   */
  async zooms (view = BY_TILE, level = 2) {
    const [rows] = await this.ask(view, [zoomQuery(this.layer, this.selection.zooms, level)])
    return rows.map(({ key: [, z, kind], value }) => ({ z, kind, value })).filter(({ z }) => Number.isInteger(z))
  }

  /**
   * The columns of each zoom that have rows, in the width of the area.
   * @param {string} [view]
   * @param {string} [kind] where keys have one between zoom and column
   * @returns {Promise<Map<number, Map<number, any>>>}
   */
  async columns (zooms, view = BY_TILE, kind = undefined) {
    const valuesByZoom = new Map(zooms.map(z => [z, new Map()]))
    const prefixOf = z => [this.layer, z, ...(kind === undefined ? [] : [kind])]
    const spans = zooms.flatMap(z => this.#spansOf(z)).map(span => ({ ...span, prefix: prefixOf(span.z) }))
    const ask = queries => this.ask(view, queries)
    const columns = columnsIn(ask, spans, { limit: this.limits.columns })
    for await (const { span, x, value } of columns) valuesByZoom.get(span.prefix[1])?.set(x, value)
    return valuesByZoom
  }

  /** The columns that the area lies in, without gaps. */
  #spansOf (z) {
    const { area } = this.selection
    if (!area) return [{ z, x0: 0, x1: 2 ** z - 1 }]
    return (area.rectangles(z) ?? area.grid.ranges(area.bbox, z)).map(({ x0, x1 }) => ({ z, x0, x1 }))
  }

  /** The rows of a column that belong to the area. @returns {import('../../core/sweep.js').Run[]} */
  runsOf (z, x) {
    return this.selection.area ? this.selection.area.column(z, x) : [[0, 2 ** z - 1]]
  }

  /**
   * The parts of these columns that belong to the area.
   * @param {Map<number, Map<number, number>>} columns by zoom, with their counts of rows
   * @returns {Generator<Range>} ascending
   */
  * ranges (columns) {
    for (const [z, counts] of [...columns].sort(([a], [b]) => a - b)) {
      for (const x of [...counts.keys()].sort((a, b) => a - b)) {
        for (const [y0, y1] of this.runsOf(z, x)) yield { z, x, y0, y1, count: counts.get(x) }
      }
    }
  }

  /**
   * Reads the versions in these ranges, in parts with whole tiles. Sends the next request while a part is processed.
   * @param {Iterable<Range>} ranges ascending
   * @returns {AsyncGenerator<ListedPage>}
   */
  async * read (ranges) {
    const pending = [...ranges]
    for (let request = this.#request(pending); request;) {
      const { parts, rest: unread } = await request
      pending.unshift(...unread)
      const [next] = pending
      request = this.#request(pending)
      if (parts.length) yield { parts, next: next && [next.z, next.x, next.y0] }
    }
  }

  /** Takes as many of the first ranges as have about a page of rows, and requests them. @param {Range[]} pending */
  #request (pending) {
    const { page, ranges } = this.limits
    let [count, rows] = [0, 0]
    while (count < Math.min(ranges, pending.length)) {
      rows += pending[count].count ?? 1
      if (count && rows > page) break
      count++
    }
    if (!count) return undefined
    const answer = this.#readRanges(pending.splice(0, count))
    answer.catch(() => {}) // awaited after the request before it, if that one succeeds
    return answer
  }

  /**
   * Reads a page of each range. A longer range is read up to its last complete tile.
   * @param {(Range & {limit?: number})[]} ranges
   */
  async #readRanges (ranges) {
    const limits = ranges.map(({ limit = this.limits.page }) => limit)
    const queries = ranges.map(({ z, x, y0, y1 }, index) => (
      { reduce: false, startkey: [this.layer, z, x, y0], endkey: [this.layer, z, x, y1, {}], limit: limits[index] }
    ))
    const answers = await this.ask(BY_TILE, queries, this.limits.ranges)
    const parts = /** @type {ListedRange[]} */ ([])
    const unread = /** @type {(Range & {limit?: number})[]} */ ([])
    for (const [index, rows] of answers.entries()) {
      const { z, x, y0, y1 } = ranges[index]
      const limit = limits[index]
      const end = rows.length < limit ? y1 + 1 : Math.min(y1, Math.ceil(rows[rows.length - 1].key[3]))
      const versions = rows.filter(row => row.key[3] < end).flatMap(row => this.#version(row, z, x))
      if (end > y0) parts.push({ z, x, y0, y1: end - 1, rows: versions })
      // one tile with more versions than a page is read at once
      if (end <= y1) unread.push({ z, x, y0: end, y1, count: Infinity, limit: end > y0 ? undefined : limit * 4 })
    }
    return { parts, rest: unread }
  }

  /** Leaves out documents whose fields do not fit their id. @returns {ListedVersion[]} */
  #version ({ id, key: [, , , y, time], value: { rev, bytes, gone } }, z, x) {
    if (!isTileId(id)) return []
    const tile = parseTileId(id)
    if (tile.layer !== this.layer || tile.z !== z || tile.x !== x || tile.y !== y) return []
    return [{ id, rev, time, y, bytes, gone }]
  }
}

/** The documents in rows of _all_docs. @returns {ListedDocument[]} */
export const liveRows = rows =>
  rows.filter(({ id, value }) => id && value && !value.deleted).map(({ id, value }) => ({ id, rev: value.rev }))

/** The versions of one tile that belong to a selection: all, the head, or those that a map shows from a time on. */
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
 * The rows that belong to a selection, and rows that are already on the device.
 * @param {ListedVersion[]} rows ascending by tile
 * @param {import('../../core/mirror/index.js').Selection} selection
 * @param {Map<string, any>} [localRevs] by id
 */
export function * selectedRows (rows, selection, localRevs) {
  for (let from = 0, to = 0; from < rows.length; from = to) {
    while (to < rows.length && rows[to].y === rows[from].y) to++
    const tile = rows.slice(from, to)
    const chosen = new Set(selectedOfTile(tile, selection))
    for (const row of tile) if (chosen.has(row) || localRevs?.has(row.id)) yield row
  }
}

/**
 * The styles that are valid at the times of a selection. A style is valid until the next one.
 * @param {ListedDocument[]} styles of a layer, oldest first
 * @param {import('../../core/mirror/index.js').Selection} selection
 */
function selectedStyles (styles, { layers, current, since }) {
  if (current) return styles.slice(-1)
  if (!since) return styles
  const [layer] = /** @type {Set<string>} */ (layers)
  const later = styles.findIndex(({ id }) => id > styleId(layer, since))
  return styles.slice(Math.max(0, (later < 0 ? styles.length : later) - 1))
}

/** The range of ids of the styles of a layer. */
export const styleRange = layer => ({ startkey: styleId(layer), endkey: styleId(layer, '~') })

/** The ids and the range of ids of a layer's documents that are neither tiles nor styles. */
export const layerDocumentRanges = layer => (
  { keys: [STORE_ID, layerId(layer)], startkey: editionId(layer, ''), endkey: editionId(layer, '~') }
)

/** @param {{id: string}} row */
const isHead = ({ id }) => !id.includes('@')

/**
 * The parts of ranges from a position on.
 * @param {Iterable<Range>} ranges ascending
 * @param {TilePosition} position
 * @returns {Generator<Range>}
 */
export function * rangesFrom (ranges, [z, x, y]) {
  for (const range of ranges) {
    if (range.z < z || (range.z === z && range.x < x)) continue
    const y0 = range.z === z && range.x === x ? Math.max(range.y0, y) : range.y0
    if (y0 <= range.y1) yield { ...range, y0 }
  }
}
