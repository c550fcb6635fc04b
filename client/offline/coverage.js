// Tells which tiles of a view are on the device, and whether all tiles beneath them are too. Lists the areas once and
// reads whole columns, never single tiles.
import { rangesIn } from '../../core/area.js'
import { gridOf } from '../../core/grids/index.js'

const EDGE = 1e-6 // fraction of a tile: nearer edges count as equal
const MAX_DEPTH = 4 // zooms beneath a tile to check in areas that are not boxes: 256 places per tile

/**
 * @typedef {import('../source/couch-source.js').Column} Column
 * @typedef {'whole' | 'part'} Coverage whole: the tile and all tiles beneath it that any area contains. part: some of
 *   them
 */

/**
 * @param {any} offline an OfflineStore
 * @param {Column[]} columns
 * @param {{bounds?: import('../../core/grid.js').Bbox, grid?: string | object, tileSize?: number}} [doc] of the layer:
 *   beyond its bounds, nothing is missing
 * @returns {Promise<Map<string, Coverage>>} by `z/x/y`, without tiles that are not on the device
 */
export async function coverageOf (offline, layer, columns, doc) {
  await Promise.resolve(offline.ready).catch(() => {}) // the page handles an error of `ready`
  const areas = offline.areas.list().filter(area => area.layer === layer && area.state !== 'removing')
  const versions = await offline.device.versions(layer, columns)
  /** @type {Map<string, Coverage>} */
  const coverage = new Map()
  columns.forEach(({ z, x, y0, y1 }, index) => {
    const rows = new Set(versions[index].filter(({ current, gone }) => current && !gone).map(version => version.y))
    for (let y = y0; y <= y1; y++) {
      const touching = areas.filter(area => isNear(area, z, x, y))
      const isWhole = rows.has(y) && touching.length > 0 && isWholeIn(touching, { z, x, y }, doc)
      const isPart = rows.has(y) || touching.some(area => z < area.selection.zooms.min && area.status().tiles > 0)
      if (isWhole || isPart) coverage.set(`${z}/${x}/${y}`, isWhole ? 'whole' : 'part')
    }
  })
  return coverage
}

/** Whether an area contains a tile or any tile beneath it. */
const isNear = ({ selection: { zooms, area } }, z, x, y) => z <= zooms.max && (!area || area.has(z, x, y))

// tiles beneath are checked down to the deepest zoom of the areas that touch the tile
function isWholeIn (areas, tile, doc) {
  const deepest = zooms => Math.min(zooms.max, gridOf(doc).lastZoom) // an area may name zooms beyond those of the grid
  const depth = Math.max(...areas.map(({ selection }) => deepest(selection.zooms)))
  return areas.some(({ isComplete, selection: { zooms, area } }) => (
    isComplete && deepest(zooms) === depth && zooms.min <= tile.z && (!area || contains(area, tile, depth, doc))
  ))
}

/** Whether an area contains all places of a zoom beneath a tile. */
function contains (area, tile, depth, doc) {
  const rectangles = area.rectangles(depth)
  if (rectangles) return tilesBeneath(tile, depth, doc).every(inner => rectangles.some(outer => isInside(inner, outer)))
  const z = Math.min(depth, tile.z + MAX_DEPTH)
  for (const { x0, x1, y0, y1 } of tilesBeneath(tile, z, doc)) {
    for (let x = x0; x <= x1; x++) {
      if (!area.column(z, x).some(([first, last]) => first <= y0 && y1 <= last)) return false
    }
  }
  return true
}

/**
 * The places of a zoom beneath a tile, within the bounds of the layer.
 * @returns {import('../../core/grid.js').TileRange[]}
 */
function tilesBeneath ({ z, x, y }, depth, doc) {
  const bounds = doc?.bounds
  const grid = gridOf(doc)
  const { origin, span, columns, rows } = grid.matrix(depth)
  const [left, bottom, right, top] = grid.extent(z, x, y)
  const first = place => Math.max(0, Math.floor(place + EDGE))
  const last = (place, count) => Math.min(count, Math.ceil(place - EDGE)) - 1
  const range = {
    x0: first((left - origin[0]) / span[0]), x1: last((right - origin[0]) / span[0], columns),
    y0: first((origin[1] - top) / span[1]), y1: last((origin[1] - bottom) / span[1], rows)
  }
  return bounds ? rangesIn(grid.ranges(bounds, depth), range) : [range]
}

const isInside =
  (inner, outer) => outer.x0 <= inner.x0 && inner.x1 <= outer.x1 && outer.y0 <= inner.y0 && inner.y1 <= outer.y1
