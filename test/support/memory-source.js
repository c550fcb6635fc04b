// Sources of tiles: a small one in memory for tests of loads, and helpers that read or load any source.
import { compareIds, load, openSource } from '../../loader/index.js'
import { png } from './tiles.js'

/**
 * @param {Record<string, number | null | Uint8Array | (() => any)>} tiles z/x/y -> seed of the image, its bytes, or a
 *   function that reads them; null: gone
 * @param {{diff?: boolean}} [options] diff: tiles that are not named have not changed
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

/**
 * @param {import('../../loader/load/sources/index.js').Source} source
 * @returns {Promise<string[]>} z/x/y of the tiles, in the order of the source
 */
export async function tilesOf (source) {
  const names = []
  for await (const { z, x, y } of source.tiles()) names.push(`${z}/${x}/${y}`)
  return names
}

/**
 * Calls `use` with a source, and then closes the source.
 * @template T
 * @param {import('../../loader/load/sources/index.js').Source} source
 * @param {(source: any) => T} use
 */
export async function withSource (source, use) {
  try {
    return await use(source)
  } finally {
    await source.close()
  }
}

/**
 * Opens, loads and closes a source.
 * @param {import('../../loader/store/index.js').Store} store
 * @param {string} name path or address of the source
 * @param {Parameters<typeof load>[2]} options
 * @param {Parameters<typeof openSource>[1]} [opening]
 */
export async function loadFrom (store, name, options, opening) {
  return withSource(await openSource(name, opening), source => load(store, source, options))
}

/**
 * Changes settings of sources before each test, and restores them after it.
 * @param {Record<string, any>} defaults such as sourceLimits
 * @param {Record<string, any>} [changes] that hold for every test of the suite
 */
export function useDefaults (defaults, changes = {}) {
  const savedDefaults = { ...defaults }
  beforeEach(() => { Object.assign(defaults, changes) })
  afterEach(() => { Object.assign(defaults, savedDefaults) })
}
