// Which columns of a zoom hold anything, and how much: from the reduce of a view, so that the cost is that of the columns
// and not of the tiles. An area and a layer are both asked for what they have, and the smaller of the two decides.
import { compareInner, tileRanges } from '../../core/index.js'
import { columnsById } from '../../core/order.js'
import { BY_TILE } from './reader.js'

export const BY_AREA = '_design/sizes/_view/by_area'

const PAGE = 5000 // columns a request
const FEW = 4096 // columns of an area that are named one by one; a wider one is asked for as a whole
const SPANS = 50 // spans a request

/**
 * @typedef {{view: string, count: (value: any) => number, bytes: (value: any) => number}} Index a view whose keys begin with layer, zoom, column, row
 * @typedef {object} Column
 * @property {number} x
 * @property {number} index among all columns that hold anything, ascending
 * @property {number} count rows of the view
 * @property {number} bytes where the view sums them
 * @property {import('../../core/sweep.js').Run[]} [runs] rows of the map that the area touches; all unless there is an area
 */

/** Tiles that exist now. @type {Index} */
export const heads = { view: BY_AREA, count: stats => stats.count, bytes: stats => stats.sum }

/** Every version of every tile. @type {Index} */
export const versions = { view: BY_TILE, count: count => count, bytes: () => 0 }

/**
 * The zooms that hold anything, in the order of ids.
 * @param {import('./couch.js').Couch} couch
 * @param {Index} index
 * @param {string} layer
 * @param {{zooms?: import('../../core/grid.js').Zooms, signal?: AbortSignal}} options
 * @returns {Promise<{z: number, count: number, bytes: number}[]>}
 */
export async function zoomsIn (couch, index, layer, { zooms = { min: 0, max: 30 }, signal }) {
  const rows = await couch.view(index.view, { startkey: [layer, zooms.min], endkey: [layer, zooms.max, {}], group_level: 2 }, signal)
  return rows.map(({ key, value }) => ({ z: key[1], count: index.count(value), bytes: index.bytes(value) }))
    .sort((a, b) => compareInner(a.z, b.z))
}

/**
 * The columns of a zoom that hold anything and that the area touches, in the order of ids.
 * @param {import('./couch.js').Couch} couch
 * @param {Index} index
 * @param {string} layer
 * @param {number} z
 * @param {{area?: import('../../core/area.js').Area, signal?: AbortSignal}} options
 * @returns {AsyncGenerator<Column>}
 */
export async function * columnsIn (couch, index, layer, z, { area, signal }) {
  /** @type {{xs: number[], counts: number[], bytes: number[]}} numbers in arrays of their own: a zoom may have a million columns */
  const found = { xs: [], counts: [], bytes: [] }
  const spans = area ? spansOf(area, z) : [/** @type {[number, number]} */ ([0, 2 ** z - 1])]
  for (let at = 0; at < spans.length; at += SPANS) await readSpans(couch, index, [layer, z], spans.slice(at, at + SPANS), found, signal)

  function * between (first, last) {
    for (let at = lowerBound(found.xs, first); at < found.xs.length && found.xs[at] <= last; at++) {
      yield { x: found.xs[at], index: at, count: found.counts[at], bytes: found.bytes[at] }
    }
  }
  for (const column of columnsById(z, between)) {
    if (!area) yield column
    else {
      const runs = area.column(z, column.x)
      if (runs.length) yield { ...column, runs }
    }
  }
}

async function readSpans (couch, index, prefix, spans, found, signal) {
  let queries = spans
  while (queries.length) {
    const answers = await couch.queries(index.view, queries.map(([x0, x1]) => (
      { startkey: [...prefix, x0], endkey: [...prefix, x1, {}], group_level: 3, limit: PAGE }
    )), signal)
    const full = answers.findIndex(rows => rows.length === PAGE)
    const whole = full < 0 ? answers : answers.slice(0, full + 1)
    for (const { key, value } of whole.flat()) {
      found.xs.push(key[2])
      found.counts.push(index.count(value))
      found.bytes.push(index.bytes(value))
    }
    // what follows a full page comes after the rest of it
    queries = full < 0 ? [] : [[found.xs.at(-1) + 1, queries[full][1]], ...queries.slice(full + 1)].filter(([x0, x1]) => x0 <= x1)
  }
}

/** From west to east, the columns an area may touch: exactly where they are few, else those of its box. */
function spansOf (area, z) {
  /** @type {[number, number][]} */
  const spans = []
  let columns = 0
  for (const { x } of area.columns(z)) {
    const last = spans.at(-1)
    if (last && x === last[1]) continue // touched in several places
    if (++columns > FEW) return tileRanges(area.bbox, z).map(({ x0, x1 }) => [x0, x1]).sort((a, b) => a[0] - b[0])
    if (last && x === last[1] + 1) last[1] = x
    else spans.push([x, x])
  }
  return spans
}

function lowerBound (sorted, value) {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}
