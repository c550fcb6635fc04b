// The names of the grid and the format of a layer in the WMTS of the gateway. Its capabilities and files for other
// programs use them.
import { formatOfLayer } from './formats.js'
import { WEB_MERCATOR } from './grid.js'
import { gridOf } from './grids/index.js'

const WELL_KNOWN = 'GoogleMapsCompatible' // the name of Web Mercator in WMTS 1.0.0

/**
 * @typedef {{id: string, name: string, grid: import('./grids/grid.js').Grid,
 *   matrices: import('./grids/grid.js').Matrix[]}} MatrixSet
 *   name: a second name, which people may write in addresses
 * @param {Record<string, any>} layer
 * @returns {MatrixSet}
 */
export function matrixSetOf (layer) {
  const grid = gridOf(layer)
  const { max } = zoomsOf(layer)
  const [name, unique] = [grid.id, grid.uniqueId]
    .map(id => grid.isWebMercator ? id.replace(WEB_MERCATOR, WELL_KNOWN) : id)
  const matrices = grid.matrices.filter(({ z }) => z <= max)
  return { id: `${unique}_Level${grid.matrix(max).id}`, name, grid, matrices }
}

/**
 * The zooms that a layer has in its grid: without maxzoom, to the deepest zoom with tiles, or to the last zoom of the
 * grid.
 * @param {Record<string, any>} layer @param {Map<number, any>} [reach] zoom -> where the store has tiles
 */
export function zoomsOf (layer, reach) {
  const { firstZoom, lastZoom } = gridOf(layer)
  const clampZoom = zoom => Math.min(Math.max(zoom, firstZoom), lastZoom)
  const deepest = reach?.size && !layer.upstream ? Math.max(...reach.keys()) : lastZoom
  return { min: clampZoom(layer.minzoom ?? firstZoom), max: clampZoom(layer.maxzoom ?? deepest) }
}

/** The names that a program needs to request the layer. @param {Record<string, any>} layer */
export function wmtsOf (layer) {
  const { id, grid } = matrixSetOf(layer)
  return { crs: grid.crs, set: id, type: formatOfLayer(layer).type }
}
