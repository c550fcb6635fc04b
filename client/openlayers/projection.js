// Other grids than Web Mercator in OpenLayers: the projection of a grid, and its tile grid.
import TileGrid from 'ol/tilegrid/TileGrid.js'
import { fromLonLat, get, toLonLat } from 'ol/proj.js'
import { register } from 'ol/proj/proj4.js'
import { TilecouchError } from '../../core/errors.js'

/**
 * The projection of a grid: one that was registered with OpenLayers, or by proj4js.
 * @param {import('../../core/grids/grid.js').Grid} grid
 */
export function projectionOf (grid) {
  const { crs, definition, box, inDegrees, isWebMercator, proj4 } = grid
  const code = inDegrees ? 'EPSG:4326' : crs // in any order of the axes: OpenLayers has longitudes first
  if (!get(code)) {
    if (!proj4) throw new TilecouchError('NO_PROJ4', { crs })
    proj4.defs(crs, definition)
    register(proj4)
  }
  const projection = /** @type {import('ol/proj/Projection.js').default} */ (get(code))
  if (!isWebMercator && !inDegrees) {
    if (!projection.getExtent()) projection.setExtent(box)
    grid.useProjection({
      forward: place => /** @type {[number, number]} */ (fromLonLat(place, projection)),
      inverse: place => /** @type {[number, number]} */ (toLonLat(place, projection))
    })
  }
  return projection
}

/**
 * The tiles of a grid, as OpenLayers counts them: zooms begin with 0, also where the grid begins later.
 * @param {import('../../core/grids/grid.js').Grid} grid
 */
export function tileGridOf (grid, minZoom, maxZoom) {
  const matrixAt = z => grid.matrix(Math.max(z, grid.firstZoom))
  const zooms = Array.from({ length: maxZoom + 1 }, (_, z) => z)
  return new TileGrid({
    minZoom,
    resolutions: zooms.map(z => matrixAt(z).cellSize * 2 ** Math.max(0, grid.firstZoom - z)),
    origins: zooms.map(z => matrixAt(z).origin),
    sizes: zooms.map(z => [matrixAt(z).columns, matrixAt(z).rows]),
    tileSize: grid.tileSize
  })
}
