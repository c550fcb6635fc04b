// The demo's images as sources for the loader: the plain map, and the same map in the light of an hour.
import sharp from 'sharp'
import { parseArea } from '../../core/index.js'
import { zoomsById } from '../../core/order.js'
import { TILE, worldPixels } from './basemap.js'
import { Light, NIGHT } from './daylight.js'

const WORLD = parseArea({ bbox: [-180, -90, 180, 90] })

/** Every tile of an area, in the order of their ids. @param {import('../../core/grid.js').Zooms} zooms */
export function * tilesOf (area, zooms) {
  for (const z of zoomsById(zooms)) yield * area.tiles(z)
}

export const pyramid = zooms => tilesOf(WORLD, zooms)

const NIGHT_INK = [36, 52, 76] // white by night: a dark blue

/** The red, green and blue of the map by day in each level of light: 256 bytes for each colour of a level. */
const shades = Uint8Array.from({ length: (NIGHT + 1) * 3 * 256 }, (_, index) => {
  const [level, colour] = [Math.floor(index / 768), Math.floor(index / 256) % 3]
  const byDay = (index % 256 & ~7) + 4 // smooth edges have fewer colours, and tiles fewer bytes
  const byNight = NIGHT_INK[colour] * (byDay / 255) ** 3
  const darkness = 1 - (1 - level / NIGHT) ** 1.25 // dusk falls a little faster at first
  return Math.round(byDay + (byNight - byDay) * darkness)
})

/** @param {Uint8Array} levels of light, row by row */
async function draw (z, x, y, levels) {
  const world = await worldPixels(z)
  const size = TILE * 2 ** z
  const pixels = new Uint8Array(TILE * TILE * 3)
  let to = 0
  for (let row = 0; row < TILE; row++) {
    let from = ((y * TILE + row) * size + x * TILE) * 3
    for (let column = 0; column < TILE; column++) {
      const shaded = levels[row * TILE + column] * 768
      pixels[to++] = shades[shaded + world[from++]]
      pixels[to++] = shades[shaded + 256 + world[from++]]
      pixels[to++] = shades[shaded + 512 + world[from++]]
    }
  }
  return sharp(pixels, { raw: { width: TILE, height: TILE, channels: 3 } }).png({ compressionLevel: 6 }).toBuffer()
}

/** Draws a tile in one light, day or night. */
const drawEven = (z, x, y, level) => draw(z, x, y, new Uint8Array(TILE * TILE).fill(level))

/** @param {import('../../core/grid.js').Zooms} zooms @returns {import('../../loader/load/sources/index.js').Source} */
export function landSource (zooms) {
  return source('land', async function * () {
    for (let z = zooms.min; z <= zooms.max; z++) worldPixels(z) // while the first zooms are written
    for (const { z, x, y } of pyramid(zooms)) yield { z, x, y, read: () => drawEven(z, x, y, 0) }
  })
}

/**
 * The tiles whose light at `time` differs from `before`. In an hour, most of the world keeps its light.
 * @param {string | undefined} before undefined: every tile
 * @param {import('../../core/grid.js').Zooms} zooms @returns {import('../../loader/load/sources/index.js').Source}
 */
export function daylightSource (time, before, zooms) {
  return source('daylight', async function * () {
    for (const z of zoomsById(zooms)) {
      const light = new Light(time, z)
      const earlier = before && new Light(before, z)
      for (const { x, y } of WORLD.tiles(z)) {
        const level = light.uniform(x, y)
        if (level === undefined) {
          yield { z, x, y, read: () => draw(z, x, y, light.levels(x, y)) }
        } else if (!earlier || earlier.uniform(x, y) !== level) {
          yield { z, x, y, read: () => drawEven(z, x, y, level) }
        }
      }
    }
  })
}

/** @returns {import('../../loader/load/sources/index.js').Source} */
export const source = (name, tiles, fields = {}) => ({ name: `tilecouch demo: ${name}`, fields, tiles, close () {} })
