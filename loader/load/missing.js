// Finds the tiles of a layer that a complete source lacks: they become gone. A tile that could not be read is not
// missing.
import { compareIds, tileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'

/**
 * Compares the tiles of the layer with those of the source. Both come in the order of their ids, so it needs no memory.
 * @param {AsyncIterable<{id: string, z: number, x: number, y: number}>} heads of the layer
 * @param {import('./sources/index.js').Source} source
 * @param {{layer: string, isSelected: (z: number, x: number, y: number) => boolean,
 *   absent?: import('../formats/spool.js').Spool}} options absent: tiles that the source listed, but did not
 *   have when they were read
 * @returns {AsyncGenerator<{z: number, x: number, y: number}>}
 */
export async function * missingTiles (heads, source, { layer, isSelected, absent }) {
  const isPresent = walkBeside(source.tiles(), layer, source.name)
  const isAbsent = absent ? walkBeside(absent.tiles(), layer, source.name) : async () => false
  for await (const { id, z, x, y } of heads) {
    if (!isSelected(z, x, y)) continue
    if (!await isPresent(id) || await isAbsent(id)) yield { z, x, y }
  }
}

/**
 * Walks tiles that come in the order of their ids beside another list.
 * @param {AsyncIterable<{z: number, x: number, y: number}>} tiles of the source @param {string} layer
 * @param {string} name of the source
 * @returns {(id: string) => Promise<boolean>} whether a tile is among them; asked for in the order of ids
 */
function walkBeside (tiles, layer, name) {
  const iterator = tiles[Symbol.asyncIterator]()
  /** @type {string | null | undefined} undefined: before the first tile; null: after the last */
  let currentId
  return async id => {
    while (currentId === undefined || (currentId !== null && compareIds(currentId, id) < 0)) {
      const { done, value } = await iterator.next()
      const next = done ? null : tileId(layer, value.z, value.x, value.y)
      if (currentId !== undefined && next !== null && compareIds(next, currentId) < 0) {
        throw new TilecouchError('INTERNAL', { why: `${name} does not give its tiles in order` })
      }
      currentId = next
    }
    return currentId === id
  }
}
