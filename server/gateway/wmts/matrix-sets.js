// The tile matrix sets: the grids of the layers with the zooms, columns and rows of the store. There is one for each
// grid, each size of tiles and each deepest zoom: GDAL, for one, takes the deepest of a set for a layer's own, whatever
// its limits say, and QGIS asks for it.
import { gridOf } from '../../../core/grids/index.js'
import { matrixSetOf, zoomsOf } from '../../../core/wmts.js'

const SCALE = gridOf().matrix(0).scaleDenominator // at zoom 0 of Web Mercator with tiles of 256 pixels
const TILE_SIZE = 256 // pixels, of that scale

/** @typedef {import('../../../core/grids/grid.js').Grid} Grid */
/** @typedef {import('../../../core/wmts.js').MatrixSet} MatrixSet */

/** As OWS writes it: urn:ogc:def:crs:EPSG::2056. @param {Grid} grid */
export function crsOf ({ crs }) {
  const [authority, code] = crs.split(':')
  return `urn:ogc:def:crs:${authority}:${authority === 'OGC' ? '1.3' : ''}:${code}`
}

/** The name of the scales in the standard, as OWS writes it. @param {MatrixSet} set */
export const wellKnownScaleSet = ({ grid }) =>
  grid.set.wellKnownScaleSet?.replace(/^http:\/\/www\.opengis\.net\/def\/wkss\/OGC\/1\.0\//, 'urn:ogc:def:wkss:OGC:1.0:')

/** A double has 16 digits. @param {MatrixSet} set @param {import('../../../core/grids/grid.js').Matrix} matrix */
export const scaleDenominator = ({ grid }, matrix) => grid.isWebMercator
  ? Number((SCALE * TILE_SIZE / grid.tileSize / 2 ** matrix.z).toPrecision(16))
  : matrix.scaleDenominator

/** A place in the order of the axes of its system, without digits that arithmetic has made. */
export const position = ({ northingFirst }, [x, y]) => (northingFirst ? [y, x] : [x, y]).map(rounded).join(' ')

/** Metres to less than a nanometre. */
export const rounded = value => Number(value.toPrecision(15))

/** The sets that layers are in, each once. @param {Record<string, any>[]} layers @returns {MatrixSet[]} */
export function matrixSetsOf (layers) {
  const sets = new Map(layers.map(matrixSetOf).map(set => [set.id, set]))
  return [...sets.values()].sort((a, b) => a.grid.tileSize - b.grid.tileSize || a.matrices.length - b.matrices.length)
}

/** What a matrix covers, in its system. @param {Grid} grid @param {number} z */
export function boxOf (grid, z) {
  const { columns, rows } = grid.matrix(z)
  const [left, , , top] = grid.extent(z, 0, 0)
  const [, bottom, right] = grid.extent(z, columns - 1, rows - 1)
  return [left, bottom, right, top]
}

/**
 * The columns and rows of a layer at a zoom: one range, as the standard wants it, so one over the antimeridian goes all
 * the way round. Bounds of which the grid has nothing say nothing.
 * @param {Record<string, any>} layer
 */
export function limitsOf (layer, z) {
  const grid = gridOf(layer)
  const ranges = layer.bounds ? grid.ranges(layer.bounds, z) : []
  const { columns, rows } = grid.matrix(z)
  if (!ranges.length) return { minRow: 0, maxRow: rows - 1, minCol: 0, maxCol: columns - 1 }
  return {
    minRow: ranges[0].y0,
    maxRow: ranges[0].y1,
    minCol: Math.min(...ranges.map(({ x0 }) => x0)),
    maxCol: Math.max(...ranges.map(({ x1 }) => x1))
  }
}

/**
 * Limits of every zoom of a layer, or none where they would only repeat the set. A zoom that covers a part of the
 * bounds alone says so, unless an upstream may fill the rest.
 * @param {Record<string, any>} layer
 * @param {Map<number, import('../../../core/grid.js').TileRange>} [reach] zoom -> where the store has tiles
 */
export function allLimitsOf (layer, reach) {
  const grid = gridOf(layer)
  const { min, max } = zoomsOf(layer)
  const limits = []
  for (let z = min; z <= max; z++) {
    const within = withinBox(limitsOf(layer, z), layer.upstream ? undefined : reach?.get(z))
    limits.push({ matrix: grid.matrix(z), ...within })
  }
  const isWhole = ({ matrix, minRow, maxRow, minCol, maxCol }) =>
    minRow === 0 && minCol === 0 && maxRow === matrix.rows - 1 && maxCol === matrix.columns - 1
  return min === grid.firstZoom && limits.every(isWhole) ? [] : limits
}

/** @param {ReturnType<typeof limitsOf>} limits @param {import('../../../core/grid.js').TileRange} [box] */
function withinBox (limits, box) {
  if (!box) return limits
  const { minRow, maxRow, minCol, maxCol } = limits
  const both = {
    minRow: Math.max(minRow, box.y0),
    maxRow: Math.min(maxRow, box.y1),
    minCol: Math.max(minCol, box.x0),
    maxCol: Math.min(maxCol, box.x1)
  }
  return both.minRow <= both.maxRow && both.minCol <= both.maxCol ? both : limits
}
