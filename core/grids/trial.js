// Checks the grid of a layer. A custom set may name any projection, which is tried on every matrix, so that readers of
// the layer never get coordinates that are not numbers. Not in index.js because pages that draw a layer do not need it.
import { TilecouchError } from '../errors.js'
import { gridOf } from './index.js'
import { reachOf } from './outline.js'

/** Grid that was tried -> why it is unusable. @type {WeakMap<import('./grid.js').Grid, string | undefined>} */
const faultsByGrid = new WeakMap()

/**
 * Throws an error if the grid of a layer or its projection is unusable. The projection is only tried with proj4js.
 * @param {{grid?: any, tileSize?: number}} layer its document @returns {import('./grid.js').Grid}
 */
export function checkGrid (layer) {
  const grid = gridOf(layer)
  if (typeof grid.field === 'string') return grid
  if (!faultsByGrid.has(grid)) faultsByGrid.set(grid, whyUnusable(grid))
  const why = faultsByGrid.get(grid)
  if (why) throw new TilecouchError('BAD_GRID', { why })
  return grid
}

/** @param {import('./grid.js').Grid} grid */
function whyUnusable (grid) {
  if (!grid.proj4 && !grid.inDegrees) return undefined
  try {
    const reaches = grid.matrices.map(({ z }) => grid.inDegrees
      ? grid.rangeBounds(z, grid.whole(z))
      : reachOf(grid, grid.rangeExtent(z, grid.whole(z))))
    const middles = reaches.map(([west, south, east, north]) => grid.toCrs([(west + east) / 2, (south + north) / 2]))
    const areGood = reaches.every(isReach) && middles.flat().every(Number.isFinite)
    return areGood ? undefined : 'its projection gives no places for its matrices'
  } catch (error) {
    return error.details?.why ?? `its projection cannot be used: ${error?.message ?? error}`
  }
}

const isReach = ([west, south, east, north]) =>
  [west, south, east, north].every(Number.isFinite) && west < east && south < north &&
  south >= -90 && north <= 90 && east - west <= 360
