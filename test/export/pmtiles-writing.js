// Writes PMTiles archives in tests, as an export does.
import { createHash } from 'node:crypto'
import path from 'node:path'
import { inspectTile } from '../../core/index.js'
import { Facts } from '../../loader/export/target.js'
import { open } from '../../loader/formats/pmtiles/writer.js'
import { png } from '../support/tiles.js'

export const TIME = '2024-03-01T00:00:00Z'

/** All tiles of some zooms in the order of their ids. `seed` returns the number of an image, or undefined. */
export function pyramid (zooms, seed = (z, x, y) => z * 1e6 + x * 1000 + y) {
  const tiles = []
  for (const z of zooms) {
    for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** z; y++) {
        const number = seed(z, x, y)
        if (number !== undefined) tiles.push(tile(z, x, y, png(number)))
      }
    }
  }
  return tiles.sort((a, b) => `${a.z}:${a.x}:${a.y}` < `${b.z}:${b.x}:${b.y}` ? -1 : 1)
}

export function tile (z, x, y, bytes, { time = TIME, type = inspectTile(bytes).type } = {}) {
  return {
    z, x, y, time, type, bytes, size: bytes.length, digest: `md5-${createHash('md5').update(bytes).digest('base64')}`
  }
}

/**
 * Begins an archive and adds tiles as an export does: only those that a resumed archive does not have.
 * together: add all tiles without waiting.
 * @param {string} dir
 * @param {any[]} tiles
 * @param {{name?: string, run?: string, doc?: object, together?: boolean} & Record<string, any>} [options]
 */
export async function begin (dir, tiles,
  { name = 'map.pmtiles', run = 'run', doc = {}, together = false, ...options } = {}) {
  const file = path.join(dir, name)
  const target = await open(file, { layer: 'map', doc, run, ...options })
  const facts = new Facts()
  let kept = 0
  const pendingAdds = []
  for (const version of tiles) {
    if (target.resumed && await target.has(version)) kept++
    else pendingAdds.push(target.add(version))
    if (!together) await pendingAdds.pop()
    facts.add(version)
  }
  await Promise.all(pendingAdds)
  return { file, target, kept, finish: () => target.finish(facts), stop: () => target.stop() }
}

export async function write (dir, tiles, options) {
  const { file, finish, kept } = await begin(dir, tiles, options)
  return { file, kept, ...await finish() }
}
