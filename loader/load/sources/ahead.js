// Reads the tiles of a list many at a time, ahead of a reader that takes them one by one. Nothing is read until the
// first tile is asked for: listing tiles costs the list alone.
import { batchesOf } from '../../../core/lists.js'

const MOST_TILES = 64 // a reading
const MOST_BYTES = 1e6 // a reading, where the list says how many a tile has, unless one tile has more
const AHEAD = 4 // readings ahead of the one that is taken

/**
 * The bytes of a tile, null where there are none, or a function that reads them when they are wanted.
 * @typedef {Uint8Array | null | (() => Promise<Uint8Array | null>)} Found
 */

/**
 * @template {{z: number, x: number, y: number, size?: number, gone?: boolean}} T
 * @param {AsyncIterable<T>} list
 * @param {(items: T[]) => Promise<Found[]>} readMany
 * @returns {AsyncGenerator<import('./index.js').SourceTile>}
 */
export async function * readAhead (list, readMany) {
  /** @type {{items: T[], start: () => Promise<Found[]>}[]} */
  const ahead = []
  const source = batchesOf(list, { most: MOST_TILES, bytes: MOST_BYTES })
  try {
    for (let isOver = false; ;) {
      while (!isOver && ahead.length <= AHEAD) {
        const { done, value } = await source.next()
        if (done) isOver = true
        else ahead.push(chunkOf(value, readMany))
      }
      const chunk = ahead.shift()
      if (!chunk) return
      const read = async index => {
        const reading = chunk.start()
        for (const next of ahead.slice(0, AHEAD)) next.start()
        const bytes = (await reading)[index]
        return typeof bytes === 'function' ? bytes() : bytes
      }
      for (const [index, { z, x, y, gone }] of chunk.items.entries()) {
        yield gone ? { z, x, y, gone } : { z, x, y, read: () => read(index) }
      }
    }
  } finally {
    await source.return(undefined)
  }
}

/**
 * Tiles that are read together, once.
 * @template T
 * @param {T[]} items @param {(items: T[]) => Promise<Found[]>} readMany
 */
function chunkOf (items, readMany) {
  /** @type {Promise<Found[]> | undefined} */
  let reading
  const start = () => {
    if (reading) return reading
    reading = readMany(items)
    reading.catch(() => {}) // thrown where it is awaited
    return reading
  }
  return { items, start }
}
