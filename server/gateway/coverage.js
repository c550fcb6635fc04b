// Which part of the world, and which columns and rows of its grid, a layer covers.
import { gridOf } from '../../core/grids/index.js'

/** @typedef {import('../../core/grid.js').TileRange} TileRange */

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high)

/**
 * The box of a layer in degrees. One over the antimeridian goes all the way round: clients read the corners as least
 * and most.
 */
export function boundsOf (layer) {
  const grid = gridOf(layer)
  const [west, south, east, north] = layer.bounds ?? grid.bounds
  const [left, right] = west > east ? [-180, 180] : [clamp(west, -180, 180), clamp(east, -180, 180)]
  const [, least, , most] = grid.reach
  return [left, clamp(south, least, most), right, clamp(north, least, most)]
}

/**
 * The columns and rows of a zoom in the bounds of a layer: one range, as the standards want it, so one over the
 * antimeridian goes all the way round. Nothing where the bounds lie outside of the grid.
 * @returns {TileRange | undefined}
 */
export function coveredBy (layer, z) {
  const grid = gridOf(layer)
  if (!layer.bounds) return grid.whole(z)
  const ranges = grid.ranges(layer.bounds, z)
  if (ranges.length === 0) return
  const each = (pick, side) => pick(...ranges.map(range => range[side]))
  return { x0: each(Math.min, 'x0'), x1: each(Math.max, 'x1'), y0: each(Math.min, 'y0'), y1: each(Math.max, 'y1') }
}

/**
 * What of a range the store has tiles in, unless an upstream may fill the rest; all of it where that is nothing.
 * @param {Record<string, any>} layer @param {TileRange} range of its bounds at a zoom
 * @param {TileRange} [box] where the store has tiles at this zoom
 */
export function storedIn (layer, range, box) {
  if (!box || layer.upstream) return range
  const both = {
    x0: Math.max(range.x0, box.x0),
    x1: Math.min(range.x1, box.x1),
    y0: Math.max(range.y0, box.y0),
    y1: Math.min(range.y1, box.y1)
  }
  return both.x0 <= both.x1 && both.y0 <= both.y1 ? both : range
}
