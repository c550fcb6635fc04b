// The tile matrix sets of the layers: those of their grids.
import { formats } from '../../../core/images.js'
import { gridOf } from '../../../core/grids/index.js'

/** The collection of a layer has tiles of one kind. @param {Record<string, any>} layer */
export const isVector = layer => layer.format === formats.mvt.ext

/** Vector tiles have no pixels, so they are in the set of the usual size. @param {Record<string, any>} layer */
export const gridFor = layer => gridOf({ grid: layer.grid, tileSize: isVector(layer) ? undefined : layer.tileSize })

/** The grids of layers, each once, and Web Mercator. @param {Record<string, any>[]} layers */
export const gridsOf = layers => [...new Map([{}, ...layers].map(gridFor).map(grid => [grid.uniqueId, grid])).values()]

/**
 * The columns and rows of a zoom that a layer covers: one range, so one over the antimeridian goes all the way round.
 * Nothing where the bounds of the layer lie outside of its grid.
 * @param {Record<string, any>} layer @param {number} z
 * @returns {import('../../../core/grid.js').TileRange | undefined}
 */
export function coveredBy (layer, z) {
  const grid = gridFor(layer)
  const { columns, rows } = grid.matrix(z)
  if (!layer.bounds) return { x0: 0, x1: columns - 1, y0: 0, y1: rows - 1 }
  const ranges = grid.ranges(layer.bounds, z)
  if (ranges.length === 0) return
  const each = (pick, side) => pick(...ranges.map(range => range[side]))
  return { x0: each(Math.min, 'x0'), x1: each(Math.max, 'x1'), y0: each(Math.min, 'y0'), y1: each(Math.max, 'y1') }
}

/**
 * The zooms that a layer has: without maxzoom, to the deepest one with tiles.
 * @param {Record<string, any>} layer @param {Map<number, any>} [reach] zoom -> where the store has tiles
 */
export function zoomsOf ({ minzoom = 0, maxzoom, upstream, ...layer }, reach) {
  const { firstZoom, lastZoom } = gridFor(layer)
  const deepest = maxzoom ?? (upstream || !reach?.size ? lastZoom : Math.max(...reach.keys()))
  return { min: Math.max(minzoom, firstZoom), max: Math.min(deepest, lastZoom) }
}

/**
 * A set as JSON, with the names of version 1.0 beside those of 2.0: GDAL 3.6 reads no others.
 * @param {import('../../../core/grids/grid.js').Grid} grid
 */
export const matrixSet = ({ set, crsUri, uniqueId }) => ({
  ...set,
  id: uniqueId,
  type: 'TileMatrixSetType',
  identifier: uniqueId,
  supportedCRS: crsUri,
  tileMatrices: set.tileMatrices.map(matrix =>
    ({ ...matrix, identifier: matrix.id, topLeftCorner: matrix.pointOfOrigin }))
})
