// The 127 bytes that a PMTiles archive begins with, every field of them held against the format and the file.
import { formats } from '../../../core/index.js'

export const HEADER_BYTES = 127
const ROOT_END = 16384 // bytes that readers ask for first: the root directory lies in them

const packings = ['unknown', 'none', 'gzip', 'brotli', 'zstd']
const types = ['unknown', 'mvt', 'png', 'jpeg', 'webp', 'avif', 'mlt']

/** Name -> where its offset stands; its length follows. */
const sections = { root: 8, metadata: 24, leaves: 40, data: 56 }

/**
 * @typedef {{offset: number, length: number}} Section
 * @typedef {object} Header
 * @property {Section} root
 * @property {Section} metadata
 * @property {Section} leaves
 * @property {Section} data
 * @property {number} addressed
 * @property {number} entries
 * @property {number} contents
 * @property {boolean} clustered
 * @property {string} packing of directories and metadata
 * @property {string} tilePacking
 * @property {string} type
 * @property {string} [ext] of its tiles
 * @property {number} minzoom
 * @property {number} maxzoom
 * @property {import('../../../core/grid.js').Bbox} [bounds]
 */

/**
 * @param {Buffer} bytes the first of the file
 * @param {number} size of the file
 * @param {(code: string, why: string) => void} tell
 * @returns {Header | undefined} nothing when there is no sense in reading on
 */
export function readHeader (bytes, size, tell) {
  if (bytes.toString('latin1', 0, 7) !== 'PMTiles') return void tell('damaged-file', 'it does not begin as PMTiles do')
  if (bytes.length < HEADER_BYTES) return void tell('damaged-file', `it has only ${size} bytes`)
  if (bytes[7] !== 3) return void tell('bad-structure', `it is of version ${bytes[7]} of the format, not 3`)
  const header = /** @type {any} */ ({})
  for (const [name, at] of Object.entries(sections)) header[name] = { offset: number(bytes, at), length: number(bytes, at + 8) }
  if (!areSectionsSound(header, size, tell)) return undefined
  const [addressed, entries, contents] = [72, 80, 88].map(at => number(bytes, at))
  if (bytes[96] > 1) tell('bad-structure', `clustered is ${bytes[96]}, not 0 or 1`)
  const packing = packings[bytes[97]]
  const tilePacking = packings[bytes[98]]
  const type = types[bytes[99]]
  if (!packing || packing === 'unknown') tell('bad-structure', `internal compression ${bytes[97]}`)
  if (!tilePacking || tilePacking === 'unknown') tell('bad-structure', `tile compression ${bytes[98]}`)
  if (!type) tell('bad-structure', `tile type ${bytes[99]}`)
  Object.assign(header, {
    addressed, entries, contents, clustered: bytes[96] === 1,
    packing: packing ?? 'unknown', tilePacking: tilePacking ?? 'unknown', type: type ?? 'unknown', ext: formats[type]?.ext,
    ...readMap(bytes, tell)
  })
  return header
}

// beyond 2^53 it is no length of anything
const number = (bytes, at) => Number(bytes.readBigUInt64LE(at))

function areSectionsSound (header, size, tell) {
  let isSound = true
  let end = HEADER_BYTES
  let before = 'header'
  const wrong = why => {
    tell('bad-structure', why)
    isSound = false
  }
  const list = Object.keys(sections).map(name => ({ name, ...header[name] })).filter(({ length }) => length)
  for (const { name, offset, length } of list.sort((a, b) => a.offset - b.offset || a.length - b.length)) {
    if (!Number.isSafeInteger(offset + length) || offset + length > size) {
      wrong(`${name} would end at byte ${offset + length}, the file has ${size}`)
      header[name].length = Math.max(0, Math.min(length, size - offset)) // what there is of it can be looked at
    }
    if (offset < end) wrong(`${name} begins at byte ${offset}, within ${before}`)
    end = Math.max(end, offset + length)
    before = name
  }
  if (!header.root.length) wrong('there is no root directory')
  else if (header.root.offset + header.root.length > ROOT_END) wrong(`the root directory ends at byte ${header.root.offset + header.root.length}, beyond the first ${ROOT_END}`)
  // a file that was cut off has sections that begin beyond its end
  return isSound || header.root.length > 0
}

function readMap (bytes, tell) {
  const [minzoom, maxzoom, centerZoom] = [bytes[100], bytes[101], bytes[118]]
  if (minzoom > maxzoom || maxzoom > 30) tell('bad-structure', `zooms ${minzoom} to ${maxzoom}`)
  const degrees = [102, 106, 110, 114, 119, 123].map(at => bytes.readInt32LE(at) / 1e7)
  const [west, south, east, north, lon, lat] = degrees
  const isBox = Math.abs(west) <= 180 && Math.abs(east) <= 180 && Math.abs(south) <= 90 && Math.abs(north) <= 90 && south <= north
  const isSaid = degrees.slice(0, 4).some(Boolean)
  if (!isBox) tell('bad-structure', `bounds ${degrees.slice(0, 4)}`)
  else if (!isSaid) tell('sparse-metadata', 'there are no bounds')
  if (Math.abs(lon) > 180 || Math.abs(lat) > 90) tell('bad-structure', `center ${lon}, ${lat}`)
  if (minzoom <= maxzoom && (centerZoom < minzoom || centerZoom > maxzoom)) tell('odd-structure', `zoom ${centerZoom} of the center is none of ${minzoom} to ${maxzoom}`)
  return { minzoom, maxzoom, ...(isBox && isSaid && { bounds: [west, south, east, north] }) }
}
