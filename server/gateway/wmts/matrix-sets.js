// The tile matrix sets: Web Mercator with the zooms, columns and rows of the store, once for each size of tile.
import { MAX_ZOOM, tileRanges } from '../../../core/grid.js'

/** Metres from the middle of the world to its edge, with the digits of the standard. */
export const EDGE = 20037508.3427892

const SCALE = 559082264.0287178 // denominator at zoom 0 with tiles of 256 pixels; a pixel is 0.28 mm
const TILE_SIZE = 256 // pixels, of a layer that does not say
/** @type {import('../../../core/grid.js').Bbox} */
const WORLD = [-180, -90, 180, 90]

/** @param {Record<string, any>} layer */
export const tileSizeOf = layer => layer.tileSize ?? TILE_SIZE

/** The standard's name is only for the standard's size: other sizes have other scales at the same zoom. */
export const matrixSetId = tileSize => tileSize === TILE_SIZE ? 'GoogleMapsCompatible' : `GoogleMapsCompatible_${tileSize}`

export const wellKnownScaleSet = tileSize => tileSize === TILE_SIZE ? 'urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible' : undefined

/** 16 digits are what a double holds; the 17th would be noise. */
export const scaleDenominator = (tileSize, z) => Number((SCALE * TILE_SIZE / tileSize / 2 ** z).toPrecision(16))

/** @param {Record<string, any>} layer */
export const zoomsOf = layer => ({ min: layer.minzoom ?? 0, max: layer.maxzoom ?? MAX_ZOOM })

/**
 * Size of tile -> deepest zoom, of all layers.
 * @param {Record<string, any>[]} layers
 * @returns {Map<number, number>}
 */
export function matrixSetsOf (layers) {
  const sets = new Map()
  for (const layer of layers) sets.set(tileSizeOf(layer), Math.max(sets.get(tileSizeOf(layer)) ?? 0, zoomsOf(layer).max))
  return new Map([...sets].sort(([a], [b]) => a - b))
}

/**
 * The columns and rows of a layer at a zoom: one range, as the standard wants it, so one over the antimeridian goes all
 * the way round.
 * @param {Record<string, any>} layer
 * @param {number} z
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
 * Limits of every zoom of a layer, or nothing where they would only repeat the set: some clients take a zoom without
 * limits as one without tiles, and every client reads less.
 * @param {Record<string, any>} layer
 * @param {number} deepest of the set
 */
export function allLimitsOf (layer, deepest) {
  const { min, max } = zoomsOf(layer)
  const limits = []
  for (let z = min; z <= max; z++) limits.push({ z, ...limitsOf(layer, z) })
  const whole = min === 0 && max === deepest && limits.every(({ z, minRow, maxRow, minCol, maxCol }) => minRow === 0 && minCol === 0 && maxRow === 2 ** z - 1 && maxCol === 2 ** z - 1)
  return whole ? [] : limits
}
