// Tiles for tests: small valid PNGs, a different one for each seed.
import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { noiseTile } from '../../bench/tiles.js'

const pngs = new Map()

/** The time at which a year begins. @param {number | string} year */
export const yearStart = year => `${year}-01-01T00:00:00Z`

/** @param {number} seed */
export function png (seed) {
  if (!pngs.has(seed)) pngs.set(seed, noiseTile(seed, 300))
  return pngs.get(seed)
}

/** A PNG whose header claims this size. @param {Buffer} image */
export function claimingSize (image, width, height = width) {
  const bytes = Buffer.from(image)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29)
  return bytes
}

/** The seed of an image that `png` has made. @param {Buffer} bytes */
export const seedOf = bytes => [...pngs].find(([, image]) => image.equals(bytes))?.[0]

/**
 * Draws a PNG of few colours.
 * @param {Uint8Array} pixels index of the colour of each pixel, row by row @param {number} width
 * @param {Uint8Array} palette red, green and blue of each colour
 * @param {import('sharp').PngOptions} [options]
 */
export function drawPixels (pixels, width, palette, options) {
  const bytes = new Uint8Array(pixels.length * 3)
  for (const [index, colour] of pixels.entries()) bytes.set(palette.subarray(colour * 3, colour * 3 + 3), index * 3)
  return sharp(bytes, { raw: { width, height: pixels.length / width, channels: 3 } }).png(options).toBuffer()
}

/**
 * Files with a square of tiles of zoom 5, for `write` of folder.js.
 * @param {string} name of their folder @param {number} [seed] of the first image
 */
export function tileFiles (name, seed = 0) {
  const tiles = square({ layer: '', time: '', side: 3, seed: (x, y) => seed + x * 3 + y })
  return Object.fromEntries(tiles.map(({ z, x, y, bytes }) => [`${name}/${z}/${x}/${y}.png`, bytes]))
}

/**
 * Versions of a square of tiles.
 * @param {object} options
 * @param {string} options.layer
 * @param {string} options.time
 * @param {number} [options.z]
 * @param {number} [options.side] tiles
 * @param {(x: number, y: number) => number | null | undefined} options.seed null: gone; undefined: leave it out
 */
export function square ({ layer, time, z = 5, side = 8, seed }) {
  const versions = []
  for (let x = 0; x < side; x++) {
    for (let y = 0; y < side; y++) {
      const value = seed(x, y)
      if (value !== undefined) {
        versions.push({ layer, z, x, y, time, ...(value === null ? { gone: true } : { bytes: png(value) }) })
      }
    }
  }
  return versions
}
