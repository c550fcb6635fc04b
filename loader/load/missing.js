// What a complete source lacks: tiles of the layer that become gone. A tile that could not be read is not missing.
import { compareIds, tileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'

/**
 * Walks what the source has beside what the layer has. Both come in the order of their ids, so that it needs no memory.
 * @param {import('../store/index.js').Store} store
 * @param {import('./sources/index.js').Source} source
 * @param {{layer: string, isSelected: (z: number, x: number, y: number) => boolean, absent?:
 *   import('../formats/spool.js').Spool,
 *   signal?: AbortSignal}} options
 * absent: tiles that the source named, and had none when it was asked
 * @returns {AsyncGenerator<{z: number, x: number, y: number}>}
 */
export async function * missingTiles (store, source, { layer, isSelected, absent, signal }) {
  const present = new Walk(source.tiles(), layer, source.name)
  const denied = new Walk(absent ? absent.tiles() : none(), layer, source.name)
  for await (const { id, z, x, y } of store.heads(layer, { signal })) {
    if (!isSelected(z, x, y)) continue
    if (!await present.reaches(id) || await denied.reaches(id)) yield { z, x, y }
  }
}

async function * none () {}

/** Tiles in the order of their ids, walked beside another list. */
class Walk {
  #tiles
  #layer
  #name
  /** @type {string | null | undefined} undefined: not begun; null: at the end */
  #id

  constructor (tiles, layer, name) {
    this.#tiles = tiles[Symbol.asyncIterator]()
    this.#layer = layer
    this.#name = name
  }

  /** Goes on to an id. Answers whether it is there. */
  async reaches (id) {
    while (this.#id === undefined || (this.#id !== null && compareIds(this.#id, id) < 0)) {
      const { done, value } = await this.#tiles.next()
      const next = done ? null : tileId(this.#layer, value.z, value.x, value.y)
      if (this.#id !== undefined && next !== null && compareIds(next, this.#id) < 0) {
        throw new TilecouchError('INTERNAL', { why: `${this.#name} does not give its tiles in order` })
      }
      this.#id = next
    }
    return this.#id === id
  }
}
