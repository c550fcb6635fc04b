// A source of a few tiles, for tests of loads.
import { compareIds } from '../../core/index.js'
import { png } from './tiles.js'

/**
 * @param {Record<string, number | null | Uint8Array | (() => any)>} tiles z/x/y -> seed of the image, its bytes, or
 *   what reads them; null: gone
 * @param {{diff?: boolean}} [options] diff: what is not named has not changed
 * @returns {any} a source
 */
export const memorySource = (tiles, { diff = Object.values(tiles).includes(null) } = {}) => ({
  name: 'memory',
  fields: {},
  counts: undefined,
  total: undefined,
  diff,
  async * tiles () {
    for (const [place, tile] of Object.entries(tiles)
      .sort(([a], [b]) => compareIds(a.replaceAll('/', ':'), b.replaceAll('/', ':')))) {
      const [z, x, y] = place.split('/').map(Number)
      yield { z, x, y, ...(tile === null ? { gone: true } : { read: readerOf(tile) }) }
    }
  },
  async close () {}
})

function readerOf (tile) {
  if (typeof tile === 'function') return tile
  return async () => typeof tile === 'number' ? png(tile) : tile
}
