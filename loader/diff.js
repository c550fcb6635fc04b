// What differs between two times of a layer, two layers, or a layer and an archive: counted by zoom, told tile by tile, and
// exported. In bounded memory, whatever the number of tiles.
import { TilecouchError } from '../core/index.js'
import { changesOf } from './diff/changes.js'
import { pairsOf } from './diff/pairs.js'
import { openSide } from './diff/sides.js'
import { Tally } from './diff/tally.js'

/**
 * @typedef {object} DiffOptions
 * @property {import('../core/area.js').Area} [area]
 * @property {import('../core/grid.js').Zooms} [zooms]
 * @property {AbortSignal} [signal]
 * @property {(change: import('./diff/changes.js').Change) => void | Promise<void>} [onTile] of every tile that differs, in the order of ids; waited for
 * @property {(tally: import('./diff/tally.js').Tally) => void} [onProgress] after every tile
 */

/**
 * @param {import('./store/index.js').Store} store
 * @param {string} from `osm@2023`, `osm` as it is now, or a file or folder
 * @param {string} to
 * @param {DiffOptions} [options]
 * @returns {Promise<import('./diff/tally.js').Summary>}
 */
export async function diff (store, from, to, { onTile, onProgress, ...wanted } = {}) {
  const sides = []
  const tally = new Tally()
  try {
    for (const text of [from, to]) sides.push(await openSide(store, text, wanted))
    for await (const change of changesOf(store, pairsOf(store, sides[0], sides[1], wanted), wanted)) {
      if (wanted.signal?.aborted) throw new TilecouchError('ABORTED')
      tally.add(change)
      if (change.change !== 'same' && change.change !== 'missing') await onTile?.(change)
      onProgress?.(tally)
    }
    return tally.summary(sides[0], sides[1])
  } catch (error) {
    throw sides.length === 2 ? Object.assign(error, { summary: tally.summary(sides[0], sides[1]) }) : error
  } finally {
    for (const side of sides) await side.close()
  }
}
