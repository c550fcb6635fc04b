// Reads the tiles of a list in batches, ahead of a reader that takes them one by one. Nothing is read before the first
// tile is requested: listing tiles costs the list alone.
import { batchesOf } from '../../../core/lists.js'

const MOST_TILES = 64 // a batch
const MOST_BYTES = 1e6 // a batch, if the list has the sizes of tiles; a single tile may have more
const AHEAD = 4 // batches ahead of the current one

/**
 * The bytes of a tile, null if it has none, or a function that reads them later.
 * @typedef {Uint8Array | null | (() => Promise<Uint8Array | null>)} TileContent
 */

/**
 * @template {{z: number, x: number, y: number, size?: number, gone?: boolean}} T
 * @param {AsyncIterable<T>} list
 * @param {(items: T[]) => Promise<TileContent[]>} readMany
 * @returns {AsyncGenerator<import('./index.js').SourceTile>}
 */
export async function * readAhead (list, readMany) {
  /** @type {{items: T[], start: () => Promise<TileContent[]>}[]} */
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
 * A batch: tiles that are read together, once.
 * @template T
 * @param {T[]} items @param {(items: T[]) => Promise<TileContent[]>} readMany
 */
function chunkOf (items, readMany) {
  /** @type {Promise<TileContent[]> | undefined} */
  let reading
  const start = () => {
    if (reading) return reading
    reading = readMany(items)
    reading.catch(() => {}) // thrown where it is awaited
    return reading
  }
  return { items, start }
}
