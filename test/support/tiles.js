// Tiles for tests: small valid PNGs, a different one for each seed.
import sharp from 'sharp'
import { noiseTile } from '../../bench/tiles.js'

const pngs = new Map()

/** @param {number} seed */
export function png (seed) {
  if (!pngs.has(seed)) pngs.set(seed, noiseTile(seed, 300))
  return pngs.get(seed)
}

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
