// Finds the columns of a zoom that have rows in a view, and how many. Both the area and the layer limit the columns
// that are counted: the smaller of the two decides.
import { compareInner } from '../../core/index.js'
import { columnsIn, zoomQuery } from '../../core/couch/queries.js'
import { lowerBound } from '../../core/lists.js'
import { listDefaults } from './ranges.js'
import { BY_TILE } from './reader.js'

export const BY_AREA = '_design/versions/_view/by_area'

const UNKNOWN = 1e9 // rows that may lie between two spans

/**
 * @typedef {{view: string, count: (value: any) => number, bytes: (value: any) => number}} Index a view whose keys begin
 * with layer, zoom, column, row
 *
 * @typedef {object} Column
 * @property {number} x
 * @property {number} count rows of the view
 * @property {number} before rows of the view in the columns before it
 * @property {import('../../core/sweep.js').Run[]} [runs] rows of the map that the area touches; all without an area
 */

/** Tiles that exist now. @type {Index} */
export const heads = { view: BY_AREA, count: stats => stats.count, bytes: stats => stats.sum }

/** Every version of every tile. @type {Index} */
export const versions = { view: BY_TILE, count: count => count, bytes: () => 0 }

/**
 * The zooms that have rows, in the order of ids.
 * @param {import('./couch.js').Couch} couch
 * @param {Index} index
 * @param {string} layer
 * @param {{zooms?: import('../../core/grid.js').Zooms, signal?: AbortSignal}} options
 * @returns {Promise<{z: number, count: number, bytes: number}[]>}
 */
export async function zoomsIn (couch, index, layer, { zooms, signal }) {
  const rows = await couch.view(index.view, zoomQuery(layer, zooms), signal)
  return rows.map(({ key, value }) => ({ z: key[1], count: index.count(value), bytes: index.bytes(value) }))
    .filter(({ z }) => Number.isInteger(z)).sort((a, b) => compareInner(a.z, b.z))
}

/** The columns of one zoom that have rows and that the area touches. */
export class Columns {
  // arrays of numbers take less memory than objects: a zoom may have a million columns
  #xs = /** @type {number[]} */ ([])
  #counts = /** @type {number[]} */ ([])
  #before = /** @type {number[]} */ ([])

  constructor (index, layer, z, area) {
    this.index = index
    this.layer = layer
    this.z = z
    this.area = area
  }

  async read (couch, signal) {
    const { index, layer, z, area } = this
    const { columns: limit, spans: most } = listDefaults
    const spans = (area ? spansOf(area, z) : [[0, 2 ** z - 1]]).map(([x0, x1]) => ({ prefix: [layer, z], x0, x1 }))
    const runQueries = queries => couch.queries(index.view, queries, signal)
    let [sum, last] = [0, spans[0]]
    for await (const { span, x, value } of columnsIn(runQueries, spans, { limit, most })) {
      if (span !== last) sum += UNKNOWN
      last = span
      this.#xs.push(x)
      this.#counts.push(index.count(value))
      this.#before.push(sum)
      sum += index.count(value)
    }
    return this
  }

  /** The columns from first to last, ascending. @returns {Generator<Column>} */
  * between (first = 0, last = Infinity) {
    const xs = this.#xs
    for (let index = lowerBound(xs, first); index < xs.length && xs[index] <= last; index++) {
      const column = { x: xs[index], count: this.#counts[index], before: this.#before[index] }
      const runs = this.area?.column(this.z, xs[index])
      if (!runs) yield column
      else if (runs.length) yield { ...column, runs }
    }
  }
}

/** Spans of the columns that an area may touch, from west to east; those of its box if the columns are too many. */
function spansOf (area, z) {
  const spans = []
  let columns = 0
  for (const { x } of area.columns(z)) {
    const last = spans.at(-1)
    if (last && x === last[1]) continue // the area touches the column in several places
    if (++columns > listDefaults.few) {
      return area.grid.ranges(area.bbox, z).map(({ x0, x1 }) => [x0, x1]).sort((a, b) => a[0] - b[0])
    }
    if (last && x <= last[1] + listDefaults.near) last[1] = x
    else spans.push([x, x])
  }
  return spans
}
