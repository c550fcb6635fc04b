// Which columns of a zoom hold anything, and how much. An area and a layer are both asked for what they have, and the
// smaller of the two decides.
import { compareInner } from '../../core/index.js'
import { columnsIn, zoomQuery } from '../../core/couch/queries.js'
import { lowerBound } from '../../core/lists.js'
import { listDefaults } from './ranges.js'
import { BY_TILE } from './reader.js'

export const BY_AREA = '_design/versions/_view/by_area'

const UNKNOWN = 1e9 // rows there may be between two spans

/**
 * @typedef {{view: string, count: (value: any) => number, bytes: (value: any) => number}} Index a view whose keys begin
 * with layer, zoom, column, row
 *
 * @typedef {object} Column
 * @property {number} x
 * @property {number} count rows of the view
 * @property {number} before rows of the view in the columns before it
 * @property {import('../../core/sweep.js').Run[]} [runs] rows of the map that the area touches; all unless there is one
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
export async function zoomsIn (couch, index, layer, { zooms, signal }) {
  const rows = await couch.view(index.view, zoomQuery(layer, zooms), signal)
  return rows.map(({ key, value }) => ({ z: key[1], count: index.count(value), bytes: index.bytes(value) }))
    .filter(({ z }) => Number.isInteger(z)).sort((a, b) => compareInner(a.z, b.z))
}

/** The columns of one zoom that hold anything and that the area touches. */
export class Columns {
  // each number in an array of its own: a zoom may have a million columns
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
    const ask = queries => couch.queries(index.view, queries, signal)
    let [sum, last] = [0, spans[0]]
    for await (const { span, x, value } of columnsIn(ask, spans, { limit, most })) {
      if (span !== last) sum += UNKNOWN
      last = span
      this.#xs.push(x)
      this.#counts.push(index.count(value))
      this.#before.push(sum)
      sum += index.count(value)
    }
    return this
  }

  /** Those from first to last, ascending. @returns {Generator<Column>} */
  * between (first = 0, last = Infinity) {
    const xs = this.#xs
    for (let at = lowerBound(xs, first); at < xs.length && xs[at] <= last; at++) {
      const column = { x: xs[at], count: this.#counts[at], before: this.#before[at] }
      const runs = this.area?.column(this.z, xs[at])
      if (!runs) yield column
      else if (runs.length) yield { ...column, runs }
    }
  }
}

/** From west to east, the columns that an area may touch and what lies near, or those of its box if they are many. */
function spansOf (area, z) {
  const spans = []
  let columns = 0
  for (const { x } of area.columns(z)) {
    const last = spans.at(-1)
    if (last && x === last[1]) continue // touched in several places
    if (++columns > listDefaults.few) {
      return area.grid.ranges(area.bbox, z).map(({ x0, x1 }) => [x0, x1]).sort((a, b) => a[0] - b[0])
    }
    if (last && x <= last[1] + listDefaults.near) last[1] = x
    else spans.push([x, x])
  }
  return spans
}
