// A set of somebody else's may name any projection. It is tried on every matrix before a layer is believed, so that
// nobody who reads the layer meets places that are no numbers. Apart from index.js: pages that draw a layer do without.
import { TilecouchError } from '../errors.js'
import { gridOf } from './index.js'
import { reachOf } from './outline.js'

/** What is wrong with grids that were tried. @type {WeakMap<import('./grid.js').Grid, string | undefined>} */
const tried = new WeakMap()

/**
 * Throws what is wrong with the grid of a layer, its projection included. Without proj4js that cannot be tried.
 * @param {{grid?: any, tileSize?: number}} layer its document @returns {import('./grid.js').Grid}
 */
export function checkGrid (layer) {
  const grid = gridOf(layer)
  if (typeof grid.field === 'string') return grid
  if (!tried.has(grid)) tried.set(grid, whyUnusable(grid))
  const why = tried.get(grid)
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
