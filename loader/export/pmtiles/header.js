// What a PMTiles archive says of itself: the header of 127 bytes, and the metadata in JSON.
import { gzipSync } from 'node:zlib'
import { MAX_LATITUDE } from '../../../core/index.js'
import { HEADER_LENGTH } from './directory.js'

/** Numbers of the types in a header; those of formats in core/images.js. */
export const tileTypes = {
  'application/vnd.mapbox-vector-tile': 1,
  'image/png': 2,
  'image/jpeg': 3,
  'image/webp': 4,
  'image/avif': 5
}
export const VECTOR = 1
const extensions = ['', 'pbf', 'png', 'jpg', 'webp', 'avif'] // by number

const [NONE, GZIP] = [1, 2] // compressions
const WORLD = [-180, -MAX_LATITUDE, 180, MAX_LATITUDE]
const DESCRIBED = ['description', 'attribution', 'legend', 'version', 'tileSize', 'vector_layers'] // fields of a layer, as they are

const clamp = (value, low, high) => Math.min(Math.max(value, low), high)

/**
 * A layer of several image types says the commonest, and all of them in its metadata: viewers tell images apart by themselves.
 * @param {Record<number, number>} types tiles of each type
 */
export function commonest (types) {
  const [[type]] = Object.entries(types).sort((a, b) => b[1] - a[1] || +a[0] - +b[0])
  return +type
}

/**
 * @param {{layer: string, doc: Record<string, any>, time?: string, types: Record<number, number>, more?: Record<string, string>}} archive
 * @returns {Buffer}
 */
export function metadataBytes ({ layer, doc, time, types, more }) {
  const type = commonest(types)
  const mixed = Object.keys(types).length > 1
  return gzipSync(JSON.stringify({
    name: doc.name ?? layer,
    ...Object.fromEntries(DESCRIBED.filter(field => doc[field] !== undefined).map(field => [field, doc[field]])),
    type: 'baselayer',
    format: extensions[type],
    ...(mixed && { formats: Object.keys(types).map(number => extensions[number]).join(',') }),
    ...(type === VECTOR && !doc.vector_layers && { vector_layers: [] }), // it must be there
    ...(time && { time }),
    ...more
  }), { level: 9 })
}

/**
 * @param {object} archive
 * @param {{root: number, metadata: number, leaves: number, data: number}} archive.lengths bytes of each section
 * @param {{addressed: number, entries: number, contents: number}} archive.counts
 * @param {Record<number, number>} archive.types
 * @param {{min: number, max: number}} archive.zooms
 * @param {number[]} [archive.bounds]
 * @param {number[]} [archive.center]
 * @returns {Buffer}
 */
export function headerBytes ({ lengths, counts, types, zooms, bounds, center }) {
  const bytes = Buffer.alloc(HEADER_LENGTH)
  bytes.write('PMTiles\x03', 'latin1')
  let at = 8
  const u64 = value => { at = bytes.writeBigUInt64LE(BigInt(value), at) }
  const u8 = value => { at = bytes.writeUInt8(value, at) }
  const degrees = value => { at = bytes.writeInt32LE(Math.round(value * 1e7), at) }

  let offset = HEADER_LENGTH
  for (const length of [lengths.root, lengths.metadata, lengths.leaves, lengths.data]) {
    u64(offset)
    u64(length)
    offset += length
  }
  for (const count of [counts.addressed, counts.entries, counts.contents]) u64(count)
  const type = commonest(types)
  for (const value of [1, GZIP, type === VECTOR ? GZIP : NONE, type, zooms.min, zooms.max]) u8(value) // 1: clustered
  const box = extent(bounds)
  box.forEach(degrees)
  const [lon, lat, zoom] = middle(box, zooms, center)
  u8(zoom)
  degrees(lon)
  degrees(lat)
  return bytes
}

// a box that crosses the antimeridian cannot be said: readers want west < east
function extent (bounds) {
  if (!bounds) return WORLD
  const [west, south, east, north] = bounds
  return west < east ? [west, south, east, north] : [-180, south, 180, north]
}

/** Where a viewer opens: the layer's own centre when it lies inside, else the middle, at the zoom that shows it whole. */
function middle (box, zooms, center) {
  const [west, south, east, north] = box
  const inside = center && center[0] >= west && center[0] <= east && center[1] >= south && center[1] <= north
  const whole = Math.floor(Math.log2(360 / (east - west)))
  const [lon, lat, zoom] = inside ? center : [(west + east) / 2, (south + north) / 2, whole]
  return [lon, lat, clamp(Math.round(zoom), zooms.min, zooms.max)]
}
