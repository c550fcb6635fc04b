// The part of the world that a layer covers, in degrees and in columns and rows of its grid. The documents of WMTS, of
// the OGC API, for TMS and for GDAL list it.
import { gridOf } from '../../core/grids/index.js'

/** @typedef {import('../../core/grid.js').TileRange} TileRange */

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high)

/**
 * The box of a layer in degrees. A box over the antimeridian becomes as wide as the world: clients read the corners as
 * minimum and maximum.
 */
export function boundsOf (layer) {
  const grid = gridOf(layer)
  const [west, south, east, north] = layer.bounds ?? grid.bounds
  const [left, right] = west > east ? [-180, 180] : [clamp(west, -180, 180), clamp(east, -180, 180)]
  const [, least, , most] = grid.reach
  return [left, clamp(south, least, most), right, clamp(north, least, most)]
}

/**
 * The columns and rows of a zoom in the bounds of a layer. The standards need one range, so bounds over the
 * antimeridian give all columns. Bounds outside of the grid give undefined.
 * @returns {TileRange | undefined}
 */
export function coveredBy (layer, z) {
  const grid = gridOf(layer)
  if (!layer.bounds) return grid.whole(z)
  const ranges = grid.ranges(layer.bounds, z)
  if (ranges.length === 0) return
  const extreme = (pick, side) => pick(...ranges.map(range => range[side]))
  return {
    x0: extreme(Math.min, 'x0'), x1: extreme(Math.max, 'x1'), y0: extreme(Math.min, 'y0'), y1: extreme(Math.max, 'y1')
  }
}

/** Like `coveredBy`, but all columns and rows if the bounds are outside of the grid. @returns {TileRange} */
export const coveredOrWhole = (layer, z) => coveredBy(layer, z) ?? gridOf(layer).whole(z)

/** Rounds metres to less than a nanometre. */
export const rounded = value => Number(value.toPrecision(15))

/**
 * The part of a range in which the store has tiles. It is the whole range if an upstream may fill it, or if the store
 * has no tiles in it.
 * @param {Record<string, any>} layer @param {TileRange} range of its bounds at a zoom
 * @param {TileRange} [box] where the store has tiles at this zoom
 */
export function storedIn (layer, range, box) {
  if (!box || layer.upstream) return range
  const overlap = {
    x0: Math.max(range.x0, box.x0),
    x1: Math.min(range.x1, box.x1),
    y0: Math.max(range.y0, box.y0),
    y1: Math.min(range.y1, box.y1)
  }
  return overlap.x0 <= overlap.x1 && overlap.y0 <= overlap.y1 ? overlap : range
}
