// How many pixels an image is wide and high, from its header. Nothing is decoded.
import { ascii, boxLength, formatOf, u16, u32 } from './images.js'

const SMALLEST = 128 // pixels a side: what is smaller stands for an empty tile, say, and tells nothing of the others
export const LARGEST = 4096

const u16le = (bytes, at) => bytes[at] | bytes[at + 1] << 8
const u24le = (bytes, at) => u16le(bytes, at) | bytes[at + 2] << 16
const isPowerOfTwo = value => (value & (value - 1)) === 0

/** Whether tiles have such a size. */
export const isTileSize = (width, height) => width === height && width >= SMALLEST && width <= LARGEST && isPowerOfTwo(width)

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
 * @returns {{width: number, height: number} | undefined} nothing where the header does not say it
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
      if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) return [u16(bytes, at + 7), u16(bytes, at + 5)]
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
  let found
  for (let at = from; at + 16 <= to; at++) {
    if (u32(bytes, at) !== ISPE) continue
    const size = [u32(bytes, at + 8), u32(bytes, at + 12)]
    if (!found || size[0] * size[1] > found[0] * found[1]) found = size
  }
  return found
}
