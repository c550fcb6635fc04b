// What a tile's bytes are: read from the bytes, never believed from a name. A file that was cut off is refused here,
// before it can become a version. Every format says how long it is or how it ends, so nothing is decoded.
import { TilecouchError } from './errors.js'
import { formats } from './formats.js'

export { extensionOf, formats } from './formats.js'

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
// chunk types as numbers: a load looks at every one
const [IHDR, IDAT, IEND] = [0x49484452, 0x49444154, 0x49454e44]

const isLetter = byte => (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122)
const isChunkType = (bytes, at) =>
  isLetter(bytes[at]) && isLetter(bytes[at + 1]) && isLetter(bytes[at + 2]) && isLetter(bytes[at + 3])

const MOST_LAYERS = 10000 // of a vector tile: a map has some twenty, and each costs a look
const SMALLEST_GZIP = 20 // 10 bytes of header, 2 of data, 8 of check sum and length

const u16 = (bytes, at) => bytes[at] << 8 | bytes[at + 1]
const u32 = (bytes, at) => (bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]) >>> 0
const u32le = (bytes, at) => (bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24) >>> 0
const ascii = (bytes, at, length) => String.fromCharCode(...bytes.subarray(at, at + length))
const startsWith = (bytes, signature) => signature.every((byte, index) => bytes[index] === byte)

/**
 * The format of a tile, or an error that says why it cannot be one.
 * @param {Uint8Array} bytes
 * @param {{gunzip?: (bytes: Uint8Array) => Uint8Array}} [tools] each platform has its own gunzip; without it a vector
 *   tile's inside is not checked
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

/** The name of a format, by how the bytes begin; nothing for what is no tile. */
export function formatOf (bytes) {
  if (startsWith(bytes, PNG_SIGNATURE)) return 'png'
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'jpeg'
  if (ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 4) === 'WEBP') return 'webp'
  if (ascii(bytes, 4, 4) === 'ftyp' && /avi[fs]/.test(ascii(bytes, 8, Math.min(u32(bytes, 0), 64) - 8))) return 'avif'
  if (startsWith(bytes, [0x1f, 0x8b])) return 'mvt'
  return null
}

/** Each answers what is wrong, or nothing. */
const checks = {
  // chunks follow one another up to IEND; bytes after it are ignored, as decoders do
  png (bytes) {
    let data = false
    for (let at = 8; at + 12 <= bytes.length;) {
      const length = u32(bytes, at)
      const type = u32(bytes, at + 4)
      if (!isChunkType(bytes, at + 4)) return `no chunk at byte ${at}`
      if (at === 8 && (type !== IHDR || length !== 13)) return 'no IHDR'
      if (at + 12 + length > bytes.length) {
        return `${ascii(bytes, at + 4, 4)} needs ${at + 12 + length} bytes, there are ${bytes.length}`
      }
      if (type === IDAT) data = true
      if (type === IEND) return data ? undefined : 'no image data'
      at += 12 + length
    }
    return 'no IEND'
  },

  // segments up to the start of scan, then entropy-coded data up to the end marker
  jpeg (bytes) {
    for (let at = 2; at + 4 <= bytes.length;) {
      if (bytes[at] !== 0xff) return `no marker at byte ${at}`
      const marker = bytes[at + 1]
      if (marker === 0xff) { at++; continue } // fill byte
      if (marker === 0xda) return endsJpeg(bytes) ? undefined : 'no end of image'
      if (marker === 0xd9) return 'no image data'
      at += 2 + u16(bytes, at + 2)
    }
    return 'no scan'
  },

  webp (bytes) {
    const length = 8 + u32le(bytes, 4)
    if (length > bytes.length) return `needs ${length} bytes, there are ${bytes.length}`
    if (!/^VP8[ LX]$/.test(ascii(bytes, 12, 4))) return 'no VP8 data'
  },

  // boxes tile the file exactly; the pixels are in mdat, and meta (moov in a sequence) says what they are
  avif (bytes) {
    let pixels = false
    let described = false
    for (let at = 0; at < bytes.length;) {
      if (at + 8 > bytes.length) return `box cut off at byte ${at}`
      const type = ascii(bytes, at + 4, 4)
      const length = boxLength(bytes, at)
      if (length < 8 || at + length > bytes.length) {
        return `${type} needs ${at + length} bytes, there are ${bytes.length}`
      }
      if (type === 'mdat') pixels = true
      if (type === 'meta' || type === 'moov') described = true
      at += length
    }
    if (!pixels || !described) return 'no image data'
  }
}

function boxLength (bytes, at) {
  const length = u32(bytes, at)
  if (length === 0) return bytes.length - at // up to the end of the file
  return length === 1 && at + 16 <= bytes.length ? u32(bytes, at + 8) * 2 ** 32 + u32(bytes, at + 12) : length
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

// A vector tile is a protobuf message of layers: field 3, length-delimited. Anything gzipped that is not is refused.
function checkProtobuf (bytes) {
  for (let at = 0, layers = 0; at < bytes.length; layers++) {
    if (bytes[at++] !== 0x1a || layers === MOST_LAYERS) return 'not a vector tile'
    let length = 0
    let shift = 0
    do {
      if (at >= bytes.length || shift > 28) return 'not a vector tile'
      length += (bytes[at] & 0x7f) * 2 ** shift
      shift += 7
    } while (bytes[at++] & 0x80)
    at += length
    if (at > bytes.length) return 'not a vector tile'
  }
}

/** The first bytes for a message: text where it is text (an HTML error page), else hexadecimal. */
function printable (bytes) {
  const head = bytes.subarray(0, 24)
  return head.every(byte => byte === 9 || byte === 10 || byte === 13 || (byte >= 32 && byte < 127))
    ? ascii(head, 0, head.length).trim()
    : Array.from(head.subarray(0, 8), byte => byte.toString(16).padStart(2, '0')).join(' ')
}

// How many pixels an image is wide and high, from its header. Nothing is decoded.

const SMALLEST = 128 // pixels a side; smaller images are used for empty tiles, for example
export const LARGEST = 4096

const u16le = (bytes, at) => bytes[at] | bytes[at + 1] << 8
const u24le = (bytes, at) => u16le(bytes, at) | bytes[at + 2] << 16
const isPowerOfTwo = value => (value & (value - 1)) === 0

/** Whether tiles have such a size. */
export const isTileSize = (width, height) =>
  width === height && width >= SMALLEST && width <= LARGEST && isPowerOfTwo(width)

/**
 * Pixels a side, of an image that has the size of a tile; nothing for any other size, and for vector tiles.
 * @param {Uint8Array} bytes
 * @returns {number | undefined}
 */
export function tileSizeOf (bytes) {
  const { width, height } = imageSize(bytes) ?? { width: 0, height: 0 }
  return isTileSize(width, height) ? width : undefined
}

/**
 * @param {Uint8Array} bytes of a tile; whatever it is
 * @returns {{width: number, height: number} | undefined} if the header has it
 */
export function imageSize (bytes) {
  const [width, height] = headers[formatOf(bytes) ?? 'mvt'](bytes) ?? []
  return width > 0 && height > 0 ? { width, height } : undefined
}

/** Each answers width and height, or nothing. @type {Record<string, (bytes: Uint8Array) => number[] | undefined>} */
const headers = {
  mvt: () => undefined,

  png: bytes => [u32(bytes, 16), u32(bytes, 20)],

  // in the start of a frame, of which there are many kinds; C4, C8 and CC are other markers among them
  jpeg (bytes) {
    for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff;) {
      const marker = bytes[at + 1]
      if (marker === 0xff) { at++; continue } // fill byte
      const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
      if (isFrame) return [u16(bytes, at + 7), u16(bytes, at + 5)]
      at += 2 + u16(bytes, at + 2)
    }
  },

  webp (bytes) {
    switch (ascii(bytes, 12, 4)) {
      case 'VP8 ': return [u16le(bytes, 26) & 0x3fff, u16le(bytes, 28) & 0x3fff]
      case 'VP8L': return [(u16le(bytes, 21) & 0x3fff) + 1, (u24le(bytes, 22) >> 6 & 0x3fff) + 1]
      case 'VP8X': return [u24le(bytes, 24) + 1, u24le(bytes, 27) + 1]
    }
  },

  // one box a part of the image: the cells of a grid and a preview are smaller than the whole
  avif (bytes) {
    for (let at = 0; at + 8 <= bytes.length;) {
      const end = at + boxLength(bytes, at)
      if (ascii(bytes, at + 4, 4) === 'meta') return largest(bytes, at + 8, Math.min(end, bytes.length))
      if (!(end > at)) return
      at = end
    }
  }
}

const ISPE = 0x69737065 // "ispe", a number: version, width and height follow it

function largest (bytes, from, to) {
  let largestSize
  for (let at = from; at + 16 <= to; at++) {
    if (u32(bytes, at) !== ISPE) continue
    const size = [u32(bytes, at + 8), u32(bytes, at + 12)]
    if (!largestSize || size[0] * size[1] > largestSize[0] * largestSize[1]) largestSize = size
  }
  return largestSize
}

/** @param {Uint8Array} bytes of a vector tile, gzipped or not @returns {Promise<Uint8Array>} */
export async function unzipTile (bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  const stream = new Blob([/** @type {any} */ (bytes)]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
