// The demo's tiles as sources for the loader: the plain map, and the same map in the light of an hour.
import { compareInner, compareRows } from '../../core/index.js'
import { sharePromise } from '../../core/shared-promise.js'
import { TILE, ZOOMS, baseTile } from './basemap.js'
import { Light } from './light.js'
import { palette, shade } from './palette.js'
import { encodeIndexed } from './png.js'

/** Every tile of the zooms, in the order of their ids. */
export function * pyramid ({ min, max } = ZOOMS) {
  const numbers = (count, compare, from = 0) => Array.from({ length: count }, (_, index) => from + index).sort(compare)
  for (const z of numbers(max - min + 1, compareInner, min)) {
    for (const x of numbers(2 ** z, compareInner)) {
      for (const y of numbers(2 ** z, compareRows)) yield { z, x, y }
    }
  }
}

/** @type {Map<string, Promise<Buffer>>} */
const evenTiles = new Map()

/** A tile in one light, day or night: encoded once, for every hour in which it looks like that. */
function evenTile (z, x, y, level) {
  const draw = base => encodeIndexed(base.map(colour => shade(colour, level)), TILE, palette)
  return sharePromise(evenTiles, `${z}/${x}/${y}/${level}`, () => baseTile(z, x, y).then(draw))
}

async function litTile (light, z, x, y) {
  const base = await baseTile(z, x, y)
  const levels = light.levels(x, y)
  const pixels = new Uint8Array(base.length)
  for (let at = 0; at < base.length; at++) pixels[at] = shade(base[at], levels[at])
  return encodeIndexed(pixels, TILE, palette)
}

/** @param {import('../../core/grid.js').Zooms} [zooms] @returns {import('../../loader/sources/index.js').Source} */
export function landSource (zooms) {
  return source('tilecouch demo: land', async function * () {
    for (const { z, x, y } of pyramid(zooms)) yield { z, x, y, read: () => evenTile(z, x, y, 0) }
  })
}

/**
 * The tiles whose light at `time` differs from `before`: an hour leaves most of the world as bright or as dark as it
 * was.
 * @param {string | undefined} before nothing: every tile
 * @param {import('../../core/grid.js').Zooms} [zooms] @returns {import('../../loader/sources/index.js').Source}
 */
export function daylightSource (time, before, zooms) {
  return source('tilecouch demo: daylight', async function * () {
    let light
    let earlier
    let zoom
    for (const { z, x, y } of pyramid(zooms)) {
      if (z !== zoom) {
        light = new Light(time, z)
        earlier = before && new Light(before, z)
        zoom = z
      }
      const now = /** @type {Light} */ (light)
      const level = now.uniform(x, y)
      if (level === undefined) yield { z, x, y, read: () => litTile(now, z, x, y) }
      else if (!earlier || earlier.uniform(x, y) !== level) yield { z, x, y, read: () => evenTile(z, x, y, level) }
    }
  })
}

/** @returns {import('../../loader/sources/index.js').Source} */
const source = (name, tiles) => ({ name, fields: {}, tiles, close () {} })

/** Frees the tiles kept between editions. */
export const forgetTiles = () => evenTiles.clear()
