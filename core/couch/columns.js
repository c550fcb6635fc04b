// Zooms and columns that hold anything, from the reduce of a view whose keys begin with layer, zoom and column: it
// costs what the columns cost, and not their tiles. For listings of a store in Node (loader/store) and on a device
// (client/offline).
import { MAX_ZOOM } from '../grid.js'

/**
 * The query for zooms.
 * @param {string} layer
 * @param {import('../grid.js').Zooms} [zooms]
 * @param {number} [level] of keys
 */
export const zoomQuery = (layer, { min, max } = { min: 0, max: MAX_ZOOM }, level = 2) => (
  { startkey: [layer, min], endkey: [layer, max, {}], group_level: level }
)

/** @typedef {{prefix: any[], x0: number, x1: number}} Span of columns. prefix: what keys have before the column */

/**
 * @template {Span} S
 * @param {(queries: object[]) => Promise<any[][]>} ask answers the rows of each query
 * @param {S[]} spans
 * @param {{limit: number, most?: number}} limits limit: columns that a query answers at once; most: spans a request
 * @returns {AsyncGenerator<{span: S, x: number, value: any}>} in the order of the spans, ascending
 */
export async function * columnsIn (ask, spans, { limit, most = spans.length }) {
  const queryOf = ({ prefix, x0, x1 }) => (
    { startkey: [...prefix, x0], endkey: [...prefix, x1, {}], group_level: prefix.length + 1, limit }
  )
  for (let at = 0; at < spans.length; at += most) {
    const some = spans.slice(at, at + most)
    const answers = await ask(some.map(queryOf))
    for (const [index, span] of some.entries()) {
      let rows = /** @type {any[] | undefined} */ (answers[index])
      while (rows) {
        const found = rows.map(({ key, value }) => ({ span, x: key[span.prefix.length], value }))
        yield * found.filter(({ x }) => Number.isInteger(x))
        const x0 = rows.length < limit ? Infinity : Math.floor(found[limit - 1].x) + 1
        rows = x0 <= span.x1 ? (await ask([queryOf({ ...span, x0 })]))[0] : undefined
      }
    }
  }
}
