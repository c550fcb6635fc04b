// Reads and writes the header of a PMTiles archive, its first 127 bytes, and reads its metadata. The header says where
// the sections are, how they are packed, and which zooms and bounds the map has.
import { formats } from '../../../core/index.js'
import { byCount } from '../../../core/values.js'
import { canUnpack, unpack } from '../unpack.js'
import { sourceLimits } from '../reading.js'

export const HEADER_BYTES = 127
export const FIRST_BYTES = 16384 // bytes that readers ask for first: header and root directory lie in them

// by their numbers in a header
const packings = ['unknown', 'none', 'gzip', 'brotli', 'zstd']
const types = ['unknown', 'mvt', 'png', 'jpeg', 'webp', 'avif', 'mlt']
const [NONE, GZIP] = [1, 2]
export const VECTOR = 1

/** Content type -> its number. */
export const tileTypes = Object.fromEntries(
  types.flatMap((name, number) => formats[name] ? [[formats[name].type, number]] : []))

/** @param {number | string} number of a type */
export const extensionOfType = number => formats[types[number]]?.ext

/** Name -> position of its offset; its length follows. */
const sections = { root: 8, metadata: 24, leaves: 40, data: 56 }

/** @typedef {{offset: number, length: number}} Section */
/** @typedef {NonNullable<Awaited<ReturnType<typeof readHeader>>>} Header */

/**
 * @param {{read: (offset: number, length: number, until?: number) => Promise<Buffer>, size: number}} file size: known
 *   when its first bytes are read
 */
export async function readHeader (file, onFault) {
  const bytes = await file.read(0, Math.min(HEADER_BYTES, file.size), FIRST_BYTES)
  const reportDamage = why => { onFault('damaged-file', 'header', why) }
  if (bytes.toString('latin1', 0, 2) === 'PM' && bytes[2] > 0 && bytes[2] < 3) {
    return void reportDamage(`it is of version ${bytes[2]} of the format; \`pmtiles convert\` makes version 3 of it`)
  }
  if (bytes.toString('latin1', 0, 7) !== 'PMTiles') return void reportDamage('it does not begin as PMTiles do')
  if (bytes.length < HEADER_BYTES) return void reportDamage(`it has only ${bytes.length} bytes`)
  const addFault = why => onFault('bad-structure', 'header', why)
  if (bytes[7] !== 3) return void addFault(`it is of version ${bytes[7]} of the format, not 3`)

  const places = readSections(bytes, file.size, addFault)
  const [packing, tilePacking, type] = bytes.subarray(97, 100)
  if (!packings[packing]) addFault(`its directories are packed in a way (${packing}) that the format does not have`)
  if (!packings[tilePacking]) addFault(`its tiles are packed in a way (${tilePacking}) that the format does not have`)
  const degrees = offset => bytes.readInt32LE(offset) / 1e7
  return {
    ...places,
    // 0 when not counted
    addressed: readNumber(bytes, 72),
    entries: readNumber(bytes, 80),
    packing: packingOf(packing),
    tilePacking: packingOf(tilePacking),
    type: types[type] ?? 'unknown',
    minzoom: bytes[100],
    maxzoom: bytes[101],
    // zeros when not given
    bounds: /** @type {[number, number, number, number]} */ ([102, 106, 110, 114].map(degrees)),
    center: /** @type {[number, number, number]} */ ([degrees(119), degrees(123), bytes[118]])
  }
}

/** 0: the header does not say it, and readers look at the bytes. */
const packingOf = code => code ? packings[code] ?? 'unknown' : 'none'

// a number beyond 2^53 is not exact, but no file is that long
const readNumber = (bytes, offset) => Number(bytes.readBigUInt64LE(offset))

/** @returns {{root: Section, metadata: Section, leaves: Section, data: Section}} no longer than the file */
function readSections (bytes, size, addFault) {
  const read = (name, start) => ({ name, offset: readNumber(bytes, start), length: readNumber(bytes, start + 8) })
  const list = Object.entries(sections).map(([name, position]) => read(name, position))
  let end = HEADER_BYTES
  let previousName = 'header'
  for (const section of [...list].sort((a, b) => a.offset - b.offset || a.length - b.length)) {
    const { name, offset, length } = section
    if (!length) continue
    if (!Number.isSafeInteger(offset + length) || offset + length > size) {
      addFault(`${name} would end at byte ${offset + length}, but the file has only ${size}: it was cut off`)
      section.length = Math.max(0, Math.min(length, size - offset))
    }
    if (offset < end) addFault(`${name} and ${previousName} overlap at byte ${offset}`)
    end = Math.max(end, offset + length)
    previousName = name
  }
  return /** @type {any} */ (Object.fromEntries(list.map(({ name, ...section }) => [name, section])))
}

/**
 * @param {{read: (offset: number, length: number) => Promise<Buffer>}} file
 * @returns {Promise<string>} JSON; empty if there is none; throws if it cannot be unpacked
 */
export async function readMetadata (file, { metadata: { offset, length }, packing }) {
  if (!length) return ''
  if (length > sourceLimits.metadata) throw new Error(`its metadata has ${length} bytes`)
  const bytes = await file.read(offset, length)
  try {
    if (!canUnpack(packing)) throw new Error(cannotUnpack(packing))
    return String(await unpack(bytes, { coding: packing, limit: sourceLimits.metadata }))
  } catch (error) {
    throw new Error(`its metadata cannot be read: ${error.message}`, { cause: error })
  }
}

export const cannotUnpack = packing =>
  packing === 'zstd'
    ? 'it is packed with zstd, which needs Node 22.15 or later'
    : `it is packed in an unknown way (${packing})`

/**
 * If images have several types, the header names the commonest. Viewers recognise images by themselves.
 * @param {Record<number, number>} counts tiles of each type
 */
export const commonestType = counts => Number(byCount(counts)[0])

/**
 * The header of an archive whose sections follow one another in the order of `lengths`.
 * @param {{lengths: Record<string, number>, counts: Record<string, number>, type: number,
 *   zooms: {min: number, max: number}, bounds: number[], center: number[]}} archive
 */
export function headerBytes ({ lengths, counts, type, zooms, bounds, center: [lon, lat, zoom] }) {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.write('PMTiles\x03', 'latin1')
  let position = 8
  const u64 = value => { position = bytes.writeBigUInt64LE(BigInt(value), position) }
  const u8 = value => { position = bytes.writeUInt8(value, position) }
  const degrees = value => { position = bytes.writeInt32LE(Math.round(value * 1e7), position) }

  let offset = HEADER_BYTES
  for (const length of [lengths.root, lengths.metadata, lengths.leaves, lengths.data]) {
    u64(offset)
    u64(length)
    offset += length
  }
  for (const count of [counts.addressed, counts.entries, counts.contents]) u64(count)
  for (const value of [1, GZIP, type === VECTOR ? GZIP : NONE, type, zooms.min, zooms.max]) u8(value) // 1: clustered
  bounds.forEach(degrees)
  u8(Math.min(Math.max(Math.round(zoom), zooms.min), zooms.max))
  degrees(lon)
  degrees(lat)
  return bytes
}
