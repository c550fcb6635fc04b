// What a PMTiles archive says of itself: the header of 127 bytes, and the metadata in JSON.
import { MAX_LATITUDE } from '../../../core/index.js'
import { metadataOf } from '../metadata.js'
import { HEADER_LENGTH } from './directory.js'

/** Numbers of the types in a header. */
export const tileTypes = {
  'application/vnd.mapbox-vector-tile': 1,
  'image/png': 2,
  'image/jpeg': 3,
  'image/webp': 4,
  'image/avif': 5
}
export const VECTOR = 1

const extensions = ['', 'pbf', 'png', 'jpg', 'webp', 'avif'] // by number of the type
const [NONE, GZIP] = [1, 2] // compressions
const WORLD = [-180, -MAX_LATITUDE, 180, MAX_LATITUDE]

/** @typedef {Record<number, number>} Types tiles of each type */

/**
 * Where images are of several types the header says the commonest: viewers tell images apart by themselves.
 * @param {Types} types
 */
function commonest (types) {
  const [[type]] = Object.entries(types).sort((a, b) => b[1] - a[1] || +a[0] - +b[0])
  return +type
}

/**
 * @param {import('../target.js').TargetOptions} options
 * @param {import('../facts.js').Facts} facts
 * @param {Types} types
 * @returns {{metadata: Record<string, any>, bounds: number[], center: number[]}}
 */
export function describe ({ layer, doc, time, area, metadata }, facts, types) {
  const { bounds, center, minzoom, maxzoom, json, ...said } = metadataOf({ ...doc, bounds: doc.bounds && widened(doc.bounds) }, facts, { layer, time, area, metadata })
  const type = commonest(types)
  const mixed = Object.keys(types).length > 1
  return {
    metadata: {
      ...said,
      format: extensions[type],
      ...(mixed && { formats: Object.keys(types).map(number => extensions[number]).join(',') }),
      ...(type === VECTOR && { vector_layers: doc.vector_layers ?? [] })
    },
    bounds: bounds ? numbers(bounds) : WORLD,
    center: center ? numbers(center) : [0, 0, 0]
  }
}

const numbers = text => text.split(',').map(Number)

// a box that crosses the antimeridian cannot be said: readers want west < east
const widened = ([west, south, east, north]) => west < east ? [west, south, east, north] : [-180, south, 180, north]

/**
 * @param {object} archive
 * @param {{root: number, metadata: number, leaves: number, data: number}} archive.lengths bytes of each section, in their order
 * @param {{addressed: number, entries: number, contents: number}} archive.counts
 * @param {Types} archive.types
 * @param {{min: number, max: number}} archive.zooms
 * @param {number[]} archive.bounds
 * @param {number[]} archive.center
 * @returns {Buffer}
 */
export function headerBytes ({ lengths, counts, types, zooms, bounds, center: [lon, lat, zoom] }) {
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
  bounds.forEach(degrees)
  u8(Math.min(Math.max(Math.round(zoom), zooms.min), zooms.max))
  degrees(lon)
  degrees(lat)
  return bytes
}
