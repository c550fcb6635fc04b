// The Web Mercator grid in XYZ numbering: y grows southwards. Areas are counted and walked by columns, never tile by
// tile.
import { TilecouchError } from './errors.js'

export const MAX_ZOOM = 30

/** The name of this grid as a tile matrix set. */
export const WEB_MERCATOR = 'WebMercatorQuad'

/** Whether the tiles of a layer are in this grid. @param {{grid?: any}} layer its document */
export const isInWebMercator = ({ grid = WEB_MERCATOR }) => grid === WEB_MERCATOR

/** Beyond this latitude there are no tiles: the projection cuts the world to a square. */
export const MAX_LATITUDE = 85.0511287798066

/**
 * An edge this near to an edge of a tile lies on it. It is a part of the world's width: 40 micrometres, more than
 * rounding errors.
 */
export const EDGE = 1e-12

/**
 * @typedef {[number, number, number, number]} Bbox west, south, east, north in degrees; west > east crosses the
 *   antimeridian
 */
/** @typedef {{min: number, max: number}} Zooms */
/** @typedef {{x0: number, x1: number, y0: number, y1: number}} TileRange inclusive */

const clamp = (value, low, high) => Math.min(Math.max(value, low), high)

/** @param {number} z @param {number} x @param {number} y */
export function checkTile (z, x, y) {
  const across = 2 ** z
  const bad = why => new TilecouchError('BAD_TILE', { value: `${z}/${x}/${y}`, why })
  if (!Number.isInteger(z) || z < 0 || z > MAX_ZOOM) throw bad('zoom outside 0 to 30')
  if (!Number.isInteger(x) || !Number.isInteger(y) || x < 0 || y < 0 || x >= across || y >= across) {
    throw bad(`zoom ${z} has columns and rows 0 to ${across - 1}`)
  }
  return { z, x, y }
}

/** Column of a longitude, with its fraction. */
export const lonToX = (lon, z) => (lon + 180) / 360 * 2 ** z

/** Row of a latitude, with its fraction. */
export function latToY (lat, z) {
  const sin = Math.sin(clamp(lat, -MAX_LATITUDE, MAX_LATITUDE) * Math.PI / 180)
  return clamp(0.5 - Math.log((1 + sin) / (1 - sin)) / (4 * Math.PI), 0, 1) * 2 ** z
}

export const xToLon = (x, z) => x / 2 ** z * 360 - 180

export const yToLat = (y, z) => Math.atan(Math.sinh(Math.PI * (1 - 2 * y / 2 ** z))) * 180 / Math.PI

/** The tile that a place lies in. */
export function tileAt (lon, lat, z) {
  const last = 2 ** z - 1
  return { z, x: clamp(Math.floor(lonToX(lon, z)), 0, last), y: clamp(Math.floor(latToY(lat, z)), 0, last) }
}

/** @returns {Bbox} */
export const tileBounds = (z, x, y) => [xToLon(x, z), yToLat(y + 1, z), xToLon(x + 1, z), yToLat(y, z)]

/** The eastern longitude of a box, above 180 if the box crosses the antimeridian. @param {Bbox} bbox */
export const eastOf = ([west, , east]) => east < west ? east + 360 : east

/** Whether a tile lies in one of these ranges. @param {TileRange[]} ranges */
export const isInRanges = (ranges, x, y) =>
  ranges.some(({ x0, x1, y0, y1 }) => x0 <= x && x <= x1 && y0 <= y && y <= y1)

/** Converts a row between XYZ and TMS, which counts from the south. */
export const flipY = (z, y) => 2 ** z - 1 - y

/** Bing's name of a tile: one digit a zoom. */
export function quadkey (z, x, y) {
  let key = ''
  for (let bit = z - 1; bit >= 0; bit--) key += (Math.floor(x / 2 ** bit) % 2) + 2 * (Math.floor(y / 2 ** bit) % 2)
  return key
}

/** @param {string} key */
export function parseQuadkey (key) {
  if (typeof key !== 'string' || !/^[0-3]{0,30}$/.test(key)) throw new TilecouchError('BAD_QUADKEY', { value: key })
  let x = 0
  let y = 0
  for (const digit of key) {
    x = x * 2 + (+digit & 1)
    y = y * 2 + (+digit >> 1)
  }
  return { z: key.length, x, y }
}

/** `5.9,45.8,10.5,47.8` or an array of four numbers. @param {string | number[]} input @returns {Bbox} */
export function parseBbox (input) {
  const numberOf = part => part.trim() === '' ? NaN : Number(part)
  const parts = typeof input === 'string' ? input.split(',').map(numberOf) : input
  const isValid = Array.isArray(parts) && parts.length === 4 && parts.every(Number.isFinite) &&
    Math.abs(parts[0]) <= 180 && Math.abs(parts[2]) <= 180 && parts[1] >= -90 && parts[3] <= 90 && parts[1] <= parts[3]
  if (!isValid) throw new TilecouchError('BAD_BBOX', { value: input })
  return /** @type {Bbox} */ (parts)
}

/** `7` or `0-14`. @param {string | number | Zooms} input @returns {Zooms} */
export function parseZooms (input) {
  const text = typeof input === 'object' ? `${input?.min}-${input?.max}` : String(input)
  const match = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(text)
  const min = match ? +match[1] : NaN
  const max = match ? +(match[2] ?? match[1]) : NaN
  if (!(min <= max && max <= MAX_ZOOM)) throw new TilecouchError('BAD_ZOOM', { value: input })
  return { min, max }
}

/**
 * The tiles of one zoom that a box touches: one range, or two when it crosses the antimeridian. A box that only meets
 * the edge of a tile from outside does not touch it.
 * @param {Bbox} bbox @param {number} z
 * @returns {TileRange[]}
 */
export function tileRanges ([west, south, east, north], z) {
  // a box that ends at the antimeridian does not cross it
  if (west > east && east === -180) east = 180
  if (west > east && west === 180) west = -180
  const last = 2 ** z - 1
  const first = value => clamp(Math.floor(value + EDGE * 2 ** z), 0, last)
  const final = (value, from) => Math.max(from, clamp(Math.ceil(value - EDGE * 2 ** z) - 1, 0, last))
  const y0 = first(latToY(north, z))
  const y1 = final(latToY(south, z), y0)
  const span = (from, to) => {
    const x0 = first(lonToX(from, z))
    return { x0, x1: final(lonToX(to, z), x0), y0, y1 }
  }
  if (west <= east) return [span(west, east)]
  const [right, left] = [span(west, 180), span(-180, east)]
  // a box nearly around the world meets itself at low zooms: no tile may come twice
  return left.x1 >= right.x0 ? [{ x0: 0, x1: last, y0, y1 }] : [left, right]
}
