// The world that the upstream of the tests draws: every pixel of it is known, so that what comes out of a cache can be
// compared with what went in, pixel by pixel, however it was cut.
import sharp from 'sharp'

export const HALF_WORLD = 20037508.342789244 // metres from the middle of Web Mercator to its edge

const OUTSIDE = [255, 0, 255] // beyond the edge of the world: nobody should ever see it

/**
 * Raw RGB pixels of a rectangle of the world, counted from its north-western corner at a zoom.
 * @param {{z: number, px: number, py: number, width: number, height: number, epoch?: number, across: number}} view
 *   across: pixels of the world at that
 * zoom; epoch: moves on when the map changes
 */
export function drawPixels ({ z, px, py, width, height, epoch = 0, across }) {
  const pixels = Buffer.alloc(width * height * 3)
  let at = 0
  for (let row = py; row < py + height; row++) {
    for (let column = px; column < px + width; column++, at += 3) {
      const inside = column >= 0 && row >= 0 && column < across && row < across
      pixels[at] = inside ? column + 37 * epoch : OUTSIDE[0]
      pixels[at + 1] = inside ? row + 29 * z : OUTSIDE[1]
      pixels[at + 2] = inside ? (column >> 8) * 31 + (row >> 8) * 57 + epoch * 101 : OUTSIDE[2]
    }
  }
  return pixels
}

/** The pixels of a tile, as decoding it must give them. */
export const tilePixels = (z, x, y, { epoch = 0, size = 256 } = {}) =>
  drawPixels({ z, px: x * size, py: y * size, width: size, height: size, epoch, across: size * 2 ** z })

/**
 * @param {Buffer} pixels RGB
 * @param {{width: number, height: number, format?: 'png' | 'jpeg' | 'webp'}} options
 */
export const encode = (pixels, { width, height, format = 'png' }) =>
  sharp(pixels, { raw: { width, height, channels: 3 } })
    .toFormat(format, format === 'png' ? { compressionLevel: 6, adaptiveFiltering: true } : { quality: 90 }).toBuffer()

/** What an image shows, as raw RGB. */
export const pixelsOf = bytes => sharp(bytes).removeAlpha().raw().toBuffer()
