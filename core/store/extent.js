// The zooms and boxes of tiles. A load writes them into the layer document, an export into its target.
import { parseArea } from '../area.js'
import { gridOf } from '../grids/index.js'
import { extensionOf } from '../images.js'
import { byCount } from '../values.js'

/** @typedef {import('../grid.js').Bbox} Bbox */
/** @typedef {import('../grids/grid.js').Grid} Grid */

const USUAL = 256 // pixels: the tile size of a layer that states none

const clamp = (value, most) => Math.min(Math.max(value, -most), most)

/** The box of columns and rows seen at each zoom. */
export class Extent {
  /**
   * Zoom -> west, north, east and south most of the columns and rows.
   * @type {Map<number, [number, number, number, number]>}
   */
  zooms = new Map()
  /** Pixels per side of the tiles, if the images show it. @type {number | undefined} */
  tileSize

  /** @param {Grid} [grid] of the tiles */
  constructor (grid = gridOf()) {
    this.grid = grid
  }

  add (z, x, y) {
    if (!this.grid.has(z, x, y)) return // the store refuses this tile
    const box = this.zooms.get(z)
    if (!box) this.zooms.set(z, [x, y, x, y])
    else {
      if (x < box[0]) box[0] = x
      if (y < box[1]) box[1] = y
      if (x > box[2]) box[2] = x
      if (y > box[3]) box[3] = y
    }
  }

  /** A box of degrees that touches all tiles. The tiles of each zoom can be derived from it. */
  get bounds () {
    return /** @type {Bbox} */ (this.widen())
  }

  /**
   * Widens bounds until they touch the tiles of every zoom. The finest zoom shows the bounds of a map most exactly,
   * and coarse tiles reach far beyond them. A side moves only if a zoom has tiles that the bounds do not touch.
   * @param {Bbox} [bounds] the bounds so far
   */
  widen (bounds, grid = this.grid) {
    const finestFirst = [...this.zooms].sort((a, b) => b[0] - a[0])
    for (const [z, box] of finestFirst) bounds = bounds ? touching(grid, bounds, z, box) : edgesOf(grid, z, box)
    return bounds
  }
}

/** @typedef {[number, number, number, number]} Box columns and rows: west, north, east and south most */

/** @param {Grid} grid @returns {Bbox} */
function edgesOf (grid, z, /** @type {Box} */ [x0, y0, x1, y1]) {
  const [west, south, east, north] = grid.rangeBounds(z, { x0, y0, x1, y1 })
  return [clamp(west, 180), clamp(south, 90), clamp(east, 180), clamp(north, 90)]
}

/** @param {Grid} grid @param {Box} box @returns {Bbox} */
function touching (grid, bounds, z, box) {
  if (!grid.isWebMercator) return touchesAll(grid, bounds, z, box) ? bounds : union(bounds, edgesOf(grid, z, box))
  const ranges = grid.ranges(bounds, z)
  const [{ y0, y1 }] = ranges
  const [west, south, east, north] = edgesOf(grid, z, box)
  const isWithin = ranges.some(({ x0, x1 }) => box[0] >= x0 && box[2] <= x1)
  const bottom = box[3] > y1 ? south : bounds[1]
  const top = box[1] < y0 ? north : bounds[3]
  if (isWithin) return [bounds[0], bottom, bounds[2], top]
  if (ranges.length > 1) return [-180, bottom, 180, top]
  return [box[0] < ranges[0].x0 ? west : bounds[0], bottom, box[2] > ranges[0].x1 ? east : bounds[2], top]
}

/** Whether bounds touch every tile of a box. Bounds are rectangles only in grids of degrees. @param {Grid} grid */
function touchesAll (grid, bounds, z, /** @type {Box} */ [x0, y0, x1, y1]) {
  const area = parseArea({ bbox: bounds, grid })
  const parts = area.rectangles(z) ??
    Array.from(area.columns(z, x0, x1), ({ x, y0: first, y1: last }) => ({ x0: x, x1: x, y0: first, y1: last }))
  const columns = parts.filter(part => part.y0 <= y0 && part.y1 >= y1)
    .map(part => Math.max(0, Math.min(part.x1, x1) - Math.max(part.x0, x0) + 1))
  return columns.reduce((sum, count) => sum + count, 0) === x1 - x0 + 1
}

/**
 * Widens the zooms and bounds of a layer document to the tiles that were loaded into it.
 * @param {{types: Record<string, number>}} summary
 */
export function widen (stored, extent, summary) {
  const levels = [...extent.zooms.keys()]
  if (!levels.length) return stored
  const [commonest] = byCount(summary.types)
  const { minzoom, maxzoom, bounds, upstream } = stored
  const isUnusual = extent.tileSize !== undefined && extent.tileSize !== USUAL
  return {
    ...stored,
    // a layer with an upstream has more than the loaded tiles: limits that it did not have are not added
    ...((!upstream || minzoom !== undefined) && { minzoom: Math.min(minzoom ?? Infinity, ...levels) }),
    ...((!upstream || maxzoom !== undefined) && { maxzoom: Math.max(maxzoom ?? 0, ...levels) }),
    ...((!upstream || bounds) && { bounds: extent.widen(bounds, gridOf(stored)) }),
    ...(stored.tileSize === undefined && isUnusual && { tileSize: extent.tileSize }),
    ...(!stored.format && commonest && { format: extensionOf(commonest) })
  }
}

/** The smallest box around two boxes; one may be missing. If one crosses the antimeridian: all longitudes. */
export function union (a, b) {
  if (!a || !b) return a ?? b ?? null
  const [west, east] = [Math.min(a[0], b[0]), Math.max(a[2], b[2])]
  const crossing = [a, b].filter(box => box[0] > box[2]).length
  const isAllLongitudes = crossing === 1 || (crossing === 2 && west <= east)
  return [isAllLongitudes ? -180 : west, Math.min(a[1], b[1]), isAllLongitudes ? 180 : east, Math.max(a[3], b[3])]
}
