// What a layer holds in the order of its ids, now or as of a time, without its bytes and in bounded memory. The views have
// their keys as numbers: they are read in ranges of columns that come in the order of ids, and sorted within a column.
import { pMapIterable } from 'p-map'
import { TilecouchError, asOf, checkLayer, compareRows, endOf, layerId, tileId, timeline, versionId } from '../../core/index.js'
import { columnsIn, heads, versions, zoomsIn } from './columns.js'
import { PAGE, RangeReader } from './ranges.js'
import { tallColumn, tilesIn } from './tall.js'

const SPARSE = 200 // rows of a column that are rather read whole than asked for in parts
const SLACK = 50 // rows a range may have got since it was counted, before its rest must be asked for
const RANGES = 100 // ranges a request
const AHEAD = 2 // requests on their way

/**
 * A version as the index knows it. Of what list() finds without a time, `time`, `rev` and `expires` are not known: the
 * index it is read from knows the present only, and is not made longer by a long past.
 * @typedef {object} Listed
 * @property {string} id of the document: a head's or a past version's
 * @property {string} layer
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {boolean} current
 * @property {boolean} gone
 * @property {number} size bytes
 * @property {string} [time]
 * @property {string} [rev]
 * @property {string} [expires]
 *
 * @typedef {{id: string, z: number, x: number, y: number, versions: (Listed & {time: string, rev: string})[]}} ListedTile id of its head; versions: oldest first
 *
 * @typedef {object} ListOptions
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {AbortSignal} [signal]
 *
 * @typedef {import('./columns.js').Column} Column
 * @typedef {import('./ranges.js').Range & {index: number, whole: boolean, columns: Map<number, Column>}} ColumnRange index: of its last column; whole: no row of its columns is left out
 */

/**
 * Every tile that has or had anything, with its versions, ascending by id.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {ListOptions} [options]
 * @returns {AsyncGenerator<ListedTile>}
 */
export async function * listTiles (couch, layer, options = {}) {
  for await (const { z, x, y, rows } of groups(couch, versions, layer, options)) {
    const id = tileId(layer, z, x, y)
    const all = timeline(rows.map(row => describeVersion(layer, row)))
    // a head that went to the past between two answers stands there as well
    for (const version of all.slice(0, -1)) if (version.current) Object.assign(version, { current: false, id: versionId(layer, z, x, y, version.time) })
    yield { id, z, x, y, versions: all }
  }
}

/**
 * What exists as of a time, or now; never what is gone. Ascending by the id of the tile.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {ListOptions & {time?: string}} [options] a partial time is the end of its period
 * @returns {AsyncGenerator<Listed>}
 */
export async function * list (couch, layer, { time, ...options } = {}) {
  if (time === undefined) {
    for await (const { z, x, y, rows: [{ id, value }] } of groups(couch, heads, layer, options)) {
      yield { id, layer, z, x, y, current: true, gone: false, size: value }
    }
    return
  }
  const when = endOf(time)
  for await (const tile of listTiles(couch, layer, options)) {
    const version = asOf(tile.versions, when)
    if (version && !version.gone) yield version
  }
}

/**
 * What list() would give, counted. Now: by the sums of the index; as of a time: by listing.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {ListOptions & {time?: string}} [options]
 */
export async function countListed (couch, layer, options = {}) {
  const sum = { tiles: 0, bytes: 0 }
  for await (const { size } of list(couch, layer, options)) {
    sum.tiles++
    sum.bytes += size
  }
  return sum
}

/** @param {string} layer @param {import('./ranges.js').Row} row @returns {ListedTile['versions'][0]} */
function describeVersion (layer, { id, key, value: { rev, bytes, expires, gone } }) {
  const [, z, x, y, time] = key
  return { id, layer, z, x, y, time, current: !id.includes('@'), rev, size: bytes, gone, ...(expires && { expires }) }
}

/** The rows of each tile together, ascending by id. @returns {AsyncGenerator<import('./tall.js').TileRows & {z: number}>} */
async function * groups (couch, index, layer, options) {
  const zooms = await zoomsIn(couch, index, checkLayer(layer), options)
  if (!zooms.length && !await couch.get(layerId(layer))) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  const reader = await new RangeReader(couch, index.view, { settled: index === versions, signal: options.signal }).open()
  for (const { z } of zooms) {
    const columns = columnsIn(couch, index, layer, z, options)
    const answers = pMapIterable(requests(columns, [layer, z]), async ({ tall, ranges }) => (
      tall ? tallColumn(reader, tall, [layer, z], PAGE) : shortColumns(ranges, await reader.read(ranges))
    ), { concurrency: AHEAD })
    for await (const tiles of answers) {
      for await (const tile of tiles) yield { z, ...tile }
    }
  }
}

/**
 * Columns put together to requests of about a page. Columns that follow one another in ids and in numbers are one range.
 * @param {AsyncIterable<Column>} columns
 */
async function * requests (columns, prefix) {
  /** @type {ColumnRange[]} */
  let ranges = []
  let rows = 0
  for await (const column of columns) {
    const parts = column.runs && column.count > SPARSE ? column.runs : [outline(column.runs)]
    const most = parts.map(part => Math.min(column.count, 4 * (part[1] - part[0] + 1)))
    const count = most.reduce((sum, part) => sum + part, 0)
    if (ranges.length && (rows + count > PAGE || ranges.length >= RANGES)) {
      yield { ranges }
      ranges = []
      rows = 0
    }
    if (count > PAGE) yield { tall: column }
    else {
      rows += count
      const last = ranges.at(-1)
      if (last && last.index + 1 === column.index && last.whole && isWhole(column)) extend(last, column, count)
      else parts.forEach((part, at) => ranges.push(rangeOf(prefix, column, part, most[at])))
    }
  }
  if (ranges.length) yield { ranges }
}

/** From the first row that is wanted to the last. @returns {import('../../core/sweep.js').Run} */
const outline = runs => runs ? [runs[0][0], runs[runs.length - 1][1]] : [0, 2 ** 30]

const isWhole = column => !column.runs || column.count <= SPARSE

/** @returns {ColumnRange} */
const rangeOf = (prefix, column, [y0, y1], count) => ({
  startkey: [...prefix, column.x, y0],
  endkey: [...prefix, column.x, y1, {}],
  limit: count + SLACK,
  index: column.index,
  whole: isWhole(column),
  columns: new Map([[column.x, column]])
})

/** @param {ColumnRange} range @param {Column} column @param {number} count */
function extend (range, column, count) {
  const [, y1] = outline(column.runs)
  range.endkey.splice(-3, 2, column.x, y1)
  range.limit += count
  range.index = column.index
  range.columns.set(column.x, column)
}

/** Of the rows of ranges, those that are wanted, as tiles in the order of ids. */
function * shortColumns (ranges, answers) {
  /** @type {import('./tall.js').TileRows[]} */
  let column = []
  for (const [at, { columns }] of ranges.entries()) {
    for (const tile of tilesIn(answers[at])) {
      const wanted = columns.get(tile.x)
      if (!wanted || !(wanted.runs ?? [[0, Infinity]]).some(([y0, y1]) => tile.y >= y0 && tile.y <= y1)) continue
      if (column.length && column[0].x !== tile.x) {
        yield * inOrder(column)
        column = []
      }
      column.push(tile)
    }
  }
  yield * inOrder(column)
}

const inOrder = tiles => tiles.sort((a, b) => compareRows(a.y, b.y))
