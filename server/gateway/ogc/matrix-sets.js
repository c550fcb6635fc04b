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
