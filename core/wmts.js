// What the WMTS of the gateway calls the grid and the format of a layer: its capabilities have it, and files for other
// programs name it.
import { formatOfLayer } from './formats.js'
import { WEB_MERCATOR, gridOf } from './grids/index.js'

const WELL_KNOWN = 'GoogleMapsCompatible' // what WMTS 1.0.0 calls Web Mercator

/**
 * @typedef {{id: string, name: string, grid: import('./grids/grid.js').Grid,
 *   matrices: import('./grids/grid.js').Matrix[]}} MatrixSet
 *   name: what people may write in addresses instead
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
 * The zooms that a layer has in its grid: without maxzoom, to the deepest one with tiles, or to that of the grid.
 * @param {Record<string, any>} layer @param {Map<number, any>} [reach] zoom -> where the store has tiles
 */
export function zoomsOf (layer, reach) {
  const { firstZoom, lastZoom } = gridOf(layer)
  const within = zoom => Math.min(Math.max(zoom, firstZoom), lastZoom)
  const deepest = reach?.size && !layer.upstream ? Math.max(...reach.keys()) : lastZoom
  return { min: within(layer.minzoom ?? firstZoom), max: within(layer.maxzoom ?? deepest) }
}

/** What a program has to name to get the layer. @param {Record<string, any>} layer */
export function wmtsOf (layer) {
  const { id, grid } = matrixSetOf(layer)
  return { crs: grid.crs, set: id, type: formatOfLayer(layer).type }
}
