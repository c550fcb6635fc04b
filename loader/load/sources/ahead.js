// Reads the tiles of a list many at a time, ahead of a reader that takes them one by one. Nothing is read until the
// first tile is asked for: listing tiles costs the list alone.
import { batchesOf } from '../../../core/lists.js'

export const aheadDefaults = {
  chunk: 64, // tiles a reading
  chunkBytes: 1e6, // bytes a reading, where the list says how many a tile has, unless one tile has more
  chunks: 4 // readings ahead of the one that is taken
}

/**
 * The bytes of a tile, null where there are none, or a function that reads them when they are wanted.
 * @typedef {Uint8Array | null | (() => Promise<Uint8Array | null>)} Found
 */

/**
 * @template {{z: number, x: number, y: number, size?: number, gone?: boolean}} T
 * @param {AsyncIterable<T>} list
 * @param {(items: T[]) => Promise<Found[]>} readMany
 * @param {Partial<typeof aheadDefaults>} [options]
 * @returns {AsyncGenerator<import('./index.js').SourceTile>}
 */
export async function * readAhead (list, readMany, options) {
  const { chunk: most, chunkBytes, chunks } = { ...aheadDefaults, ...options }
  /** @type {Chunk<T>[]} */
  const ahead = []
  const source = batchesOf(list, { most, bytes: chunkBytes })
  try {
    for (let isOver = false; ;) {
      while (!isOver && ahead.length <= chunks) {
        const { done, value } = await source.next()
        if (done) isOver = true
        else ahead.push(new Chunk(value, readMany))
      }
      const chunk = ahead.shift()
      if (!chunk) return
      const start = () => {
        chunk.start()
        for (const next of ahead.slice(0, chunks)) next.start()
      }
      for (const [index, { z, x, y, gone }] of chunk.items.entries()) {
        yield gone ? { z, x, y, gone } : { z, x, y, read: () => { start(); return chunk.take(index) } }
      }
    }
  } finally {
    await source.return(undefined)
  }
}

/** @template T */
class Chunk {
  /** @type {Promise<Found[]> | undefined} */
  #bytes

  /** @param {T[]} items @param {(items: T[]) => Promise<Found[]>} readMany */
  constructor (items, readMany) {
    this.items = items
    this.readMany = readMany
  }

  start () {
    if (this.#bytes) return
    this.#bytes = this.readMany(this.items)
    this.#bytes.catch(() => {}) // take() throws it
  }

  async take (index) {
    const bytes = (await /** @type {Promise<Found[]>} */ (this.#bytes))[index]
    return typeof bytes === 'function' ? bytes() : bytes
  }
}
