// The tile matrix sets: the grids of the layers with the zooms, columns and rows of the store. Each combination of
// grid, tile size and deepest zoom has its own set. GDAL takes the deepest zoom of a set for that of the layer,
// whatever the limits are, and QGIS requests it.
import { gridOf } from '../../../core/grids/index.js'
import { matrixSetOf, zoomsOf } from '../../../core/wmts.js'
import { coveredOrWhole, rounded, storedIn } from '../coverage.js'

const SCALE = gridOf().matrix(0).scaleDenominator // at zoom 0 of Web Mercator with tiles of 256 pixels
const TILE_SIZE = 256 // pixels, of that scale

/** @typedef {import('../../../core/grids/grid.js').Grid} Grid */
/** @typedef {import('../../../core/wmts.js').MatrixSet} MatrixSet */

/** As OWS writes it: urn:ogc:def:crs:EPSG::2056. @param {Grid} grid */
export function crsOf ({ crs }) {
  const [authority, code] = crs.split(':')
  return `urn:ogc:def:crs:${authority}:${authority === 'OGC' ? '1.3' : ''}:${code}`
}

const WKSS = /^http:\/\/www\.opengis\.net\/def\/wkss\/OGC\/1\.0\//

/** The name of the scales in the standard, as OWS writes it. @param {MatrixSet} set */
export const wellKnownScaleSet = ({ grid }) =>
  grid.set.wellKnownScaleSet?.replace(WKSS, 'urn:ogc:def:wkss:OGC:1.0:')

/** A double has 16 digits. @param {MatrixSet} set @param {import('../../../core/grids/grid.js').Matrix} matrix */
export const scaleDenominator = ({ grid }, matrix) => grid.isWebMercator
  ? Number((SCALE * TILE_SIZE / grid.tileSize / 2 ** matrix.z).toPrecision(16))
  : matrix.scaleDenominator

/** A position in the axis order of its reference system, without digits from rounding errors. */
export const position = ({ northingFirst }, [x, y]) => (northingFirst ? [y, x] : [x, y]).map(rounded).join(' ')

/** The sets that layers are in, each once. @param {Record<string, any>[]} layers @returns {MatrixSet[]} */
export function matrixSetsOf (layers) {
  const sets = new Map(layers.map(matrixSetOf).map(set => [set.id, set]))
  return [...sets.values()].sort((a, b) => a.grid.tileSize - b.grid.tileSize || a.matrices.length - b.matrices.length)
}

/**
 * Limits of every zoom of a layer, or none where they would only repeat the set.
 * @param {Map<number, import('../../../core/grid.js').TileRange>} [reach] zoom -> where the store has tiles
 */
export function allLimitsOf (layer, reach) {
  const grid = gridOf(layer)
  const { min, max } = zoomsOf(layer)
  const limits = []
  for (let z = min; z <= max; z++) {
    limits.push({ matrix: grid.matrix(z), ...storedIn(layer, coveredOrWhole(layer, z), reach?.get(z)) })
  }
  const isWhole = ({ matrix, x0, x1, y0, y1 }) =>
    y0 === 0 && x0 === 0 && y1 === matrix.rows - 1 && x1 === matrix.columns - 1
  return min === grid.firstZoom && limits.every(isWhole) ? [] : limits
}
