// What a store holds of an area now, from its time index: ranges of columns, many in one request, each row with the revision and
// the size of an image. The documents themselves are not read.
import { batchesOf } from '../../core/batches.js'
import { MAX_ZOOM, STORE_ID, TilecouchError, editionId, isTileId, layerId, parseTileId, tileRanges } from '../../core/index.js'
import { askQueries } from '../../core/mirror/index.js'

export const BY_TILE = '_design/versions/_view/by_tile'
export const BY_AREA = '_design/sizes/_view/by_area'
export const REST_BY_AREA = '_design/sizes/_view/rest_by_area'

export const listingDefaults = {
  page: 2000, // rows a request, as far as they can be foretold
  ranges: 100, // ranges of rows a request
  spans: 500, // sums a request
  columns: 10000 // columns a range of them answers at once
}

/**
 * @typedef {{z: number, x: number, y0: number, y1: number, count?: number}} Range rows of one column; count: of the view at most, where that is known
 * @typedef {{id: string, rev: string, time: string, y: number, bytes: number, gone: boolean}} Row of a version
 * @typedef {{z: number, x: number, y0: number, y1: number, rows: Row[]}} Part every version of the tiles of a range
 */

export class Listing {
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
  }

  /** The rows of each query. @param {string} view @param {any[]} queries @returns {Promise<any[][]>} */
  async ask (view, queries, most = this.limits.spans) {
    try {
      this.requests += Math.ceil(queries.length / most)
      return await askQueries(this.couch, view, queries, { most, signal: this.signal })
    } catch (error) {
      if (error.details?.status === 404) throw new TilecouchError('INDEX_MISSING', { view: view.replace('_design/', '').replace('_view/', '') })
      throw error
    }
  }

  /** The documents that belong and are no tiles: the layer, its editions, the marker of the store. @returns {Promise<{id: string, rev: string}[]>} */
  async named () {
    this.requests++
    const { keys, ...editions } = namedOf(this.layer)
    const answers = await askQueries(this.couch, '_all_docs', [{ keys }, editions], { most: 2, signal: this.signal })
    return answers.flat().filter(({ id, value }) => id && value && !value.deleted && this.selection.has(id)).map(({ id, value }) => ({ id, rev: value.rev }))
  }

  /** The zooms of the selection that hold anything. @param {string} [view] whose keys begin with layer and zoom @param {number} [level] 3: apart by what comes next */
  async zooms (view = BY_TILE, level = 2) {
    const { min, max } = this.selection.zooms ?? { min: 0, max: MAX_ZOOM }
    const [rows] = await this.ask(view, [{ startkey: [this.layer, min], endkey: [this.layer, max, {}], group_level: level }])
    return rows.map(({ key: [, z, kind], value }) => ({ z, kind, value })).filter(({ z }) => Number.isInteger(z))
  }

  /**
   * The columns of each zoom that hold anything, in the width of the area.
   * @param {number[]} zooms @param {string} [view] @param {string} [kind] where that stands between zoom and column
   * @returns {Promise<Map<number, Map<number, any>>>}
   */
  async columns (zooms, view = BY_TILE, kind = undefined) {
    const found = new Map(zooms.map(z => [z, new Map()]))
    const limit = this.limits.columns
    const key = (z, ...more) => [this.layer, z, ...(kind === undefined ? [] : [kind]), ...more]
    const at = key(0).length
    let spans = zooms.flatMap(z => this.spansOf(z))
    while (spans.length) {
      const answers = await this.ask(view, spans.map(({ z, x0, x1 }) => ({ startkey: key(z, x0), endkey: key(z, x1, {}), group_level: at + 1, limit })))
      const rest = []
      for (const [index, rows] of answers.entries()) {
        const { z, x1 } = spans[index]
        for (const row of rows) if (Number.isInteger(row.key[at])) found.get(z)?.set(row.key[at], row.value)
        if (rows.length === limit) rest.push({ z, x0: Math.floor(rows[limit - 1].key[at]) + 1, x1 })
      }
      spans = rest.filter(({ x0, x1 }) => x0 <= x1)
    }
    return found
  }

  /** The columns that the area lies in, without gaps. @param {number} z */
  spansOf (z) {
    const { area } = this.selection
    if (!area) return [{ z, x0: 0, x1: 2 ** z - 1 }]
    return (area.rectangles(z) ?? tileRanges(area.bbox, z)).map(({ x0, x1 }) => ({ z, x0, x1 }))
  }

  /** What of a column belongs to the area. @param {number} z @param {number} x @returns {import('../../core/sweep.js').Run[]} */
  runsOf (z, x) {
    return this.selection.area ? this.selection.area.column(z, x) : [[0, 2 ** z - 1]]
  }

  /** What of these columns belongs to the area. @param {Map<number, Map<number, number>>} columns with their rows in the view @returns {Generator<Range>} */
  * within (columns) {
    for (const [z, counts] of columns) {
      for (const x of [...counts.keys()].sort((a, b) => a - b)) {
        for (const [y0, y1] of this.runsOf(z, x)) yield { z, x, y0, y1, count: counts.get(x) }
      }
    }
  }

  /**
   * The versions in these ranges, in parts that hold their tiles whole; the next request is on its way while one is looked at.
   * @param {Iterable<Range>} ranges
   * @returns {AsyncGenerator<Part[]>}
   */
  async * read (ranges) {
    const { page, ranges: most } = this.limits
    const requests = batchesOf(ranges, { most, bytes: page, sizeOf: ({ count = 1 }) => count }) // rows, and not bytes: of about a page
    const following = async () => (await requests.next()).value
    const begin = some => {
      const answer = some && this.#parts(some)
      answer?.catch(() => {}) // it is awaited after the one before it, if anybody still wants it
      return answer
    }
    for (let next = begin(await following()); next;) {
      const { parts, rest } = await next
      next = begin(rest.length ? rest : await following())
      if (parts.length) yield parts
    }
  }

  /** A range with more than a page is answered up to the last tile that is there whole. @param {(Range & {limit?: number})[]} ranges */
  async #parts (ranges) {
    const limits = ranges.map(({ limit = this.limits.page }) => limit)
    const answers = await this.ask(BY_TILE, ranges.map(({ z, x, y0, y1 }, at) => (
      { reduce: false, startkey: [this.layer, z, x, y0], endkey: [this.layer, z, x, y1, {}], limit: limits[at] }
    )), this.limits.ranges)
    const parts = /** @type {Part[]} */ ([])
    const rest = /** @type {(Range & {limit?: number})[]} */ ([])
    for (const [at, rows] of answers.entries()) {
      const { z, x, y0, y1 } = ranges[at]
      const end = rows.length < limits[at] ? y1 + 1 : Math.min(y1, Math.ceil(rows[rows.length - 1].key[3]))
      const versions = rows.filter(row => row.key[3] < end).flatMap(row => this.#version(row, z, x))
      if (end > y0) parts.push({ z, x, y0, y1: end - 1, rows: versions })
      // one tile with more versions than a page is read at once
      if (end <= y1) rest.push({ z, x, y0: end, y1, limit: end > y0 ? undefined : limits[at] * 4 })
    }
    return { parts, rest }
  }

  /** Nothing for what says that it is a tile and is not called so. @returns {Row[]} */
  #version ({ id, key: [, , , y, time], value: { rev, bytes, gone } }, z, x) {
    if (!isTileId(id)) return []
    const tile = parseTileId(id)
    if (tile.layer !== this.layer || tile.z !== z || tile.x !== x || tile.y !== y) return []
    return [{ id, rev, time, y, bytes, gone }]
  }
}

/**
 * What of the versions of one tile belongs to a selection: all, the head alone, or what was to be seen at a time or came later.
 * @param {Row[]} rows @param {import('../../core/mirror/index.js').Selection} selection
 */
function chosenOf (rows, { current, since }) {
  if (current) return rows.filter(isHead)
  if (!since) return rows
  const before = rows.filter(row => !isHead(row) && row.time <= since).reduce((last, row) => last && last.time > row.time ? last : row, /** @type {Row | undefined} */ (undefined))
  const head = rows.find(isHead)
  const isHidden = before && head && head.time > before.time && head.time <= since
  return rows.filter(row => isHead(row) || row.time >= since || (row === before && !isHidden))
}

/**
 * What belongs of many tiles, and what of them is there already: what was to be seen once stays.
 * @param {Row[]} rows ascending by tile @param {import('../../core/mirror/index.js').Selection} selection @param {Map<string, any>} there
 */
export function * chosenIn (rows, selection, there) {
  for (let from = 0, to = 0; from < rows.length; from = to) {
    while (to < rows.length && rows[to].y === rows[from].y) to++
    const tile = rows.slice(from, to)
    const chosen = new Set(chosenOf(tile, selection))
    for (const row of tile) if (chosen.has(row) || there.has(row.id)) yield row
  }
}

/** Where a layer's documents are that are no tiles. @param {string} layer */
export const namedOf = layer => ({ keys: [STORE_ID, layerId(layer)], startkey: editionId(layer, ''), endkey: editionId(layer, '~') })

/** @param {{id: string}} row */
export const isHead = ({ id }) => !id.includes('@')
