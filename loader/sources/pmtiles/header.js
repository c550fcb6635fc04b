// The first 127 bytes of a PMTiles archive: where its sections are and what they are packed with.
import { bytesToHeader } from 'pmtiles'
import { canUnpack } from '../unpack.js'

export const HEADER_BYTES = 127
const MAGIC = 'PMTiles'

const compressions = ['none', 'none', 'gzip', 'brotli', 'zstd'] // unknown counts as none: what the bytes are is seen from them
const types = ['unknown', 'mvt', 'png', 'jpeg', 'webp', 'avif', 'mlt']

const sections = [
  ['root directory', 'rootDirectoryOffset', 'rootDirectoryLength'],
  ['metadata', 'jsonMetadataOffset', 'jsonMetadataLength'],
  ['leaf directories', 'leafDirectoryOffset', 'leafDirectoryLength'],
  ['tile data', 'tileDataOffset', 'tileDataLength']
]

/**
 * @typedef {object} ArchiveHeader
 * @property {{offset: number, length: number}} root
 * @property {{offset: number, length: number}} metadata
 * @property {{offset: number, length: number}} leaves
 * @property {{offset: number, length: number}} data
 * @property {number} addressed tiles; 0 when nobody counted
 * @property {number} entries 0 when nobody counted
 * @property {string} packing of directories and metadata
 * @property {string} tilePacking
 * @property {string} type
 * @property {{minzoom: number, maxzoom: number, bounds: number[], center: number[]}} map
 */

/**
 * Throws an Error that says what is wrong.
 * @param {Buffer} bytes
 * @param {number} size of the archive
 * @returns {ArchiveHeader}
 */
export function parseHeader (bytes, size) {
  if (bytes.toString('latin1', 0, 2) === 'PM' && bytes[2] > 0 && bytes[2] < 3) throw new Error(`it is of version ${bytes[2]} of the format; \`pmtiles convert\` makes version 3 of it`)
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new Error('it does not begin as PMTiles do')
  if (bytes.length < HEADER_BYTES) throw new Error(`it has only ${bytes.length} bytes`)
  if (bytes[7] !== 3) throw new Error(`it is of version ${bytes[7]} of the format, not 3`)
  const raw = bytesToHeader(Uint8Array.from(bytes.subarray(0, HEADER_BYTES)).buffer)
  const [root, metadata, leaves, data] = checkSections(raw, size)
  return {
    root,
    metadata,
    leaves,
    data,
    addressed: raw.numAddressedTiles,
    entries: raw.numTileEntries,
    packing: packing(raw.internalCompression, 'directories'),
    tilePacking: packing(raw.tileCompression, 'tiles'),
    type: types[raw.tileType] ?? 'unknown',
    map: {
      minzoom: raw.minZoom,
      maxzoom: raw.maxZoom,
      bounds: [raw.minLon, raw.minLat, raw.maxLon, raw.maxLat],
      center: [raw.centerLon, raw.centerLat, raw.centerZoom]
    }
  }
}

function checkSections (raw, size) {
  const found = sections.map(([name, offset, length]) => ({ name, offset: raw[offset], length: raw[length] }))
  let end = HEADER_BYTES
  let before = 'header'
  for (const { name, offset, length } of [...found].sort((a, b) => a.offset - b.offset || a.length - b.length)) {
    if (!length) continue
    if (!Number.isSafeInteger(offset + length)) throw new Error(`its ${name} would be at byte ${offset}`)
    if (offset + length > size) throw new Error(`its ${name} would end at byte ${offset + length}, but it has only ${size}: it was cut off`)
    if (offset < end) throw new Error(`its ${name} and its ${before} overlap`)
    end = offset + length
    before = name
  }
  return found.map(({ offset, length }) => ({ offset, length }))
}

function packing (code, what) {
  const name = compressions[code]
  if (!name) throw new Error(`its ${what} are packed in a way (${code}) that the format does not have`)
  if (!canUnpack(name)) throw new Error(`its ${what} are packed with ${name}, which needs Node 22.15 or later`)
  return name
}
