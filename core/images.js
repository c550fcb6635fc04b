// Detects the format of a tile from its bytes, never from a name. It refuses files that were cut off, before they
// become versions. Every format states its length or its end, so nothing is decoded.
import { TilecouchError } from './errors.js'
import { formats } from './formats.js'

export { extensionOf, formats } from './formats.js'

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
// chunk types as numbers: a load checks every one
const [IHDR, IDAT, IEND] = [0x49484452, 0x49444154, 0x49454e44]

const isLetter = byte => (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122)
const isChunkType = (bytes, offset) =>
  isLetter(bytes[offset]) && isLetter(bytes[offset + 1]) && isLetter(bytes[offset + 2]) && isLetter(bytes[offset + 3])

const MOST_LAYERS = 10000 // of a vector tile: a map has about twenty, and each takes time to check
const SMALLEST_GZIP = 20 // 10 bytes of header, 2 of data, 8 of check sum and length

const u16 = (bytes, offset) => bytes[offset] << 8 | bytes[offset + 1]
const u32 = (bytes, offset) =>
  (bytes[offset] << 24 | bytes[offset + 1] << 16 | bytes[offset + 2] << 8 | bytes[offset + 3]) >>> 0
const u32le = (bytes, offset) =>
  (bytes[offset] | bytes[offset + 1] << 8 | bytes[offset + 2] << 16 | bytes[offset + 3] << 24) >>> 0
const ascii = (bytes, offset, length) => String.fromCharCode(...bytes.subarray(offset, offset + length))
const startsWith = (bytes, signature) => signature.every((byte, index) => bytes[index] === byte)

/**
 * The format of a tile; throws if the bytes are no tile.
 * @param {Uint8Array} bytes
 * @param {{gunzip?: (bytes: Uint8Array) => Uint8Array}} [tools] the gunzip of the platform; without it, the content of
 *   vector tiles is not checked
 * @returns {{type: string, ext: string}}
 */
export function inspectTile (bytes, { gunzip } = {}) {
  if (!bytes || bytes.length === 0) throw new TilecouchError('EMPTY_IMAGE')
  const name = formatOf(bytes)
  if (!name) throw new TilecouchError('UNKNOWN_IMAGE', { value: printable(bytes) })
  const why = name === 'mvt' ? checkVectorTile(bytes, gunzip) : checks[name](bytes)
  if (why) throw new TilecouchError('TRUNCATED_IMAGE', { type: formats[name].type, why })
  return formats[name]
}

/** The name of a format from the first bytes of a file; null if it is no tile. */
export function formatOf (bytes) {
  if (startsWith(bytes, PNG_SIGNATURE)) return 'png'
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'jpeg'
  if (ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 4) === 'WEBP') return 'webp'
  if (ascii(bytes, 4, 4) === 'ftyp' && /avi[fs]/.test(ascii(bytes, 8, Math.min(u32(bytes, 0), 64) - 8))) return 'avif'
  if (startsWith(bytes, [0x1f, 0x8b])) return 'mvt'
  return null
}

/** By format: returns the fault of a file, or undefined. */
const checks = {
  // chunks follow one another up to IEND; bytes after it are ignored, as decoders do
  png (bytes) {
    let hasData = false
    for (let offset = 8; offset + 12 <= bytes.length;) {
      const length = u32(bytes, offset)
      const type = u32(bytes, offset + 4)
      if (!isChunkType(bytes, offset + 4)) return `no chunk at byte ${offset}`
      if (offset === 8 && (type !== IHDR || length !== 13)) return 'no IHDR'
      if (offset + 12 + length > bytes.length) {
        return `${ascii(bytes, offset + 4, 4)} needs ${offset + 12 + length} bytes, there are ${bytes.length}`
      }
      if (type === IDAT) hasData = true
      if (type === IEND) return hasData ? undefined : 'no image data'
      offset += 12 + length
    }
    return 'no IEND'
  },

  // segments up to the start of scan, then entropy-coded data up to the end marker
  jpeg (bytes) {
    for (let offset = 2; offset + 4 <= bytes.length;) {
      if (bytes[offset] !== 0xff) return `no marker at byte ${offset}`
      const marker = bytes[offset + 1]
      if (marker === 0xff) { offset++; continue } // fill byte
      if (marker === 0xda) return endsJpeg(bytes) ? undefined : 'no end of image'
      if (marker === 0xd9) return 'no image data'
      offset += 2 + u16(bytes, offset + 2)
    }
    return 'no scan'
  },

  webp (bytes) {
    const length = 8 + u32le(bytes, 4)
    if (length > bytes.length) return `needs ${length} bytes, there are ${bytes.length}`
    if (!/^VP8[ LX]$/.test(ascii(bytes, 12, 4))) return 'no VP8 data'
  },

  // boxes fill the file exactly; the pixels are in mdat, and meta (moov in a sequence) says what they are
  avif (bytes) {
    let hasPixels = false
    let isDescribed = false
    for (let offset = 0; offset < bytes.length;) {
      if (offset + 8 > bytes.length) return `box cut off at byte ${offset}`
      const type = ascii(bytes, offset + 4, 4)
      const length = boxLength(bytes, offset)
      if (length < 8 || offset + length > bytes.length) {
        return `${type} needs ${offset + length} bytes, there are ${bytes.length}`
      }
      if (type === 'mdat') hasPixels = true
      if (type === 'meta' || type === 'moov') isDescribed = true
      offset += length
    }
    if (!hasPixels || !isDescribed) return 'no image data'
  }
}

function boxLength (bytes, offset) {
  const length = u32(bytes, offset)
  if (length === 0) return bytes.length - offset // up to the end of the file
  const isLong = length === 1 && offset + 16 <= bytes.length
  return isLong ? u32(bytes, offset + 8) * 2 ** 32 + u32(bytes, offset + 12) : length
}

// some writers pad behind the end marker
function endsJpeg (bytes) {
  let end = bytes.length
  while (end > 2 && bytes[end - 1] === 0) end--
  return bytes[end - 2] === 0xff && bytes[end - 1] === 0xd9
}

function checkVectorTile (bytes, gunzip) {
  if (bytes.length < SMALLEST_GZIP || bytes[2] !== 8) return 'not gzip'
  if (!gunzip) return
  try {
    return checkProtobuf(gunzip(bytes))
  } catch (error) {
    return error.message || 'not gzip, or cut off' // streams of browsers and of Node 22 give no message
  }
}

// A vector tile is a protobuf message of layers: field 3, length-delimited. Other gzipped content is refused.
function checkProtobuf (bytes) {
  for (let offset = 0, layers = 0; offset < bytes.length; layers++) {
    if (bytes[offset++] !== 0x1a || layers === MOST_LAYERS) return 'not a vector tile'
    let length = 0
    let shift = 0
    do {
      if (offset >= bytes.length || shift > 28) return 'not a vector tile'
      length += (bytes[offset] & 0x7f) * 2 ** shift
      shift += 7
    } while (bytes[offset++] & 0x80)
    offset += length
    if (offset > bytes.length) return 'not a vector tile'
  }
}

/** The first bytes for a message: text where it is text (an HTML error page), else hexadecimal. */
function printable (bytes) {
  const head = bytes.subarray(0, 24)
  return head.every(byte => byte === 9 || byte === 10 || byte === 13 || (byte >= 32 && byte < 127))
    ? ascii(head, 0, head.length).trim()
    : Array.from(head.subarray(0, 8), byte => byte.toString(16).padStart(2, '0')).join(' ')
}

// The width and height of an image, from its header. Nothing is decoded.

const SMALLEST = 128 // pixels a side; smaller images are used for empty tiles, for example
export const LARGEST = 4096

const u16le = (bytes, offset) => bytes[offset] | bytes[offset + 1] << 8
const u24le = (bytes, offset) => u16le(bytes, offset) | bytes[offset + 2] << 16
const isPowerOfTwo = value => (value & (value - 1)) === 0

/** Whether tiles may have this size. */
export const isTileSize = (width, height) =>
  width === height && width >= SMALLEST && width <= LARGEST && isPowerOfTwo(width)

/**
 * Pixels per side of an image with the size of a tile; undefined for other sizes and for vector tiles.
 * @param {Uint8Array} bytes
 * @returns {number | undefined}
 */
export function tileSizeOf (bytes) {
  const { width, height } = imageSize(bytes) ?? { width: 0, height: 0 }
  return isTileSize(width, height) ? width : undefined
}

/**
 * @param {Uint8Array} bytes of any file
 * @returns {{width: number, height: number} | undefined} if the header has it
 */
export function imageSize (bytes) {
  const [width, height] = headers[formatOf(bytes) ?? 'mvt'](bytes) ?? []
  return width > 0 && height > 0 ? { width, height } : undefined
}

/**
 * By format: returns width and height, or undefined.
 * @type {Record<string, (bytes: Uint8Array) => number[] | undefined>}
 */
const headers = {
  mvt: () => undefined,

  png: bytes => [u32(bytes, 16), u32(bytes, 20)],

  // the size is in the start of a frame: a marker from C0 to CF, except C4, C8 and CC
  jpeg (bytes) {
    for (let offset = 2; offset + 9 <= bytes.length && bytes[offset] === 0xff;) {
      const marker = bytes[offset + 1]
      if (marker === 0xff) { offset++; continue } // fill byte
      const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
      if (isFrame) return [u16(bytes, offset + 7), u16(bytes, offset + 5)]
      offset += 2 + u16(bytes, offset + 2)
    }
  },

  webp (bytes) {
    switch (ascii(bytes, 12, 4)) {
      case 'VP8 ': return [u16le(bytes, 26) & 0x3fff, u16le(bytes, 28) & 0x3fff]
      case 'VP8L': return [(u16le(bytes, 21) & 0x3fff) + 1, (u24le(bytes, 22) >> 6 & 0x3fff) + 1]
      case 'VP8X': return [u24le(bytes, 24) + 1, u24le(bytes, 27) + 1]
    }
  },

  // each part of the image has a size: the cells of a grid and a preview are smaller than the whole
  avif (bytes) {
    for (let offset = 0; offset + 8 <= bytes.length;) {
      const end = offset + boxLength(bytes, offset)
      if (ascii(bytes, offset + 4, 4) === 'meta') return largest(bytes, offset + 8, Math.min(end, bytes.length))
      if (!(end > offset)) return
      offset = end
    }
  }
}

const ISPE = 0x69737065 // "ispe", a number: version, width and height follow it

function largest (bytes, from, to) {
  let largestSize
  for (let offset = from; offset + 16 <= to; offset++) {
    if (u32(bytes, offset) !== ISPE) continue
    const size = [u32(bytes, offset + 8), u32(bytes, offset + 12)]
    if (!largestSize || size[0] * size[1] > largestSize[0] * largestSize[1]) largestSize = size
  }
  return largestSize
}

/** @param {Uint8Array} bytes of a vector tile, gzipped or not @returns {Promise<Uint8Array>} */
export async function unzipTile (bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  return unzip(bytes)
}

/** Unpacks gzip, in browsers and in Node. @param {Uint8Array} bytes @returns {Promise<Uint8Array>} */
export async function unzip (bytes) {
  const stream = new Blob([/** @type {any} */ (bytes)]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
