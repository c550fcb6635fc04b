// The tile matrix sets: Web Mercator with the zooms, columns and rows of the store. There is one for each size of tiles
// and each deepest zoom: GDAL, for one, takes the deepest of a set for a layer's own, whatever its limits say, and QGIS
// asks for it.
import { MAX_ZOOM, tileRanges } from '../../../core/grid.js'

/** Metres from the middle of the world to its edge, with the digits of the standard. */
export const EDGE = 20037508.3427892

const SCALE = 559082264.0287178 // denominator at zoom 0 with tiles of 256 pixels; a pixel is 0.28 mm
const TILE_SIZE = 256 // pixels, of a layer without tileSize
/** @type {import('../../../core/grid.js').Bbox} */
const WORLD = [-180, -90, 180, 90]

/**
 * @typedef {{id: string, name: string, tileSize: number, deepest: number}} MatrixSet name: what people may write in
 *   addresses instead
 * @param {Record<string, any>} layer
 * @returns {MatrixSet}
 */
export function matrixSetOf (layer) {
  const { tileSize = TILE_SIZE } = layer
  const deepest = zoomsOf(layer).max
  // other sizes have other scales at the same zoom
  const name = tileSize === TILE_SIZE ? 'GoogleMapsCompatible' : `GoogleMapsCompatible_${tileSize}`
  return { id: `${name}_Level${deepest}`, name, tileSize, deepest }
}

/** Names and scales of the standard belong to the standard's size of tiles. @param {MatrixSet} set */
export const wellKnownScaleSet = ({ tileSize }) =>
  tileSize === TILE_SIZE ? 'urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible' : undefined

/** A double has 16 digits. */
export const scaleDenominator = (tileSize, z) => Number((SCALE * TILE_SIZE / tileSize / 2 ** z).toPrecision(16))

/** @param {Record<string, any>} layer */
export const zoomsOf = layer => ({ min: layer.minzoom ?? 0, max: layer.maxzoom ?? MAX_ZOOM })

/** The sets that layers are in, each once. @param {Record<string, any>[]} layers @returns {MatrixSet[]} */
export function matrixSetsOf (layers) {
  const sets = new Map(layers.map(matrixSetOf).map(set => [set.id, set]))
  return [...sets.values()].sort((a, b) => a.tileSize - b.tileSize || a.deepest - b.deepest)
}

/**
 * The columns and rows of a layer at a zoom: one range, as the standard wants it, so one over the antimeridian goes all
 * the way round.
 * @param {Record<string, any>} layer
 */
export function limitsOf (layer, z) {
  const ranges = tileRanges(layer.bounds ?? WORLD, z)
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
  const { min, max } = zoomsOf(layer)
  const limits = []
  for (let z = min; z <= max; z++) {
    limits.push({ z, ...within(limitsOf(layer, z), layer.upstream ? undefined : reach?.get(z)) })
  }
  const isWhole = ({ z, minRow, maxRow, minCol, maxCol }) =>
    minRow === 0 && minCol === 0 && maxRow === 2 ** z - 1 && maxCol === 2 ** z - 1
  return min === 0 && limits.every(isWhole) ? [] : limits
}

/** @param {ReturnType<typeof limitsOf>} limits @param {import('../../../core/grid.js').TileRange} [box] */
function within (limits, box) {
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
