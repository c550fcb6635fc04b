// A layer, or a part of it, under another name, or out of another store, with all of its past. Run again, it brings what has
// come meanwhile.
import { TilecouchError, checkLayer, endOf } from '../core/index.js'
import { copyAll } from './copy/all.js'

export { renameLayer } from './copy/rename.js'

/**
 * @typedef {object} CopyOptions
 * @property {import('./store/index.js').Store} [source] where it is copied from; the same store unless given
 * @property {import('../core/area.js').Area} [area]
 * @property {import('../core/grid.js').Zooms} [zooms]
 * @property {string} [time] as of which; a partial time is the end of its period. The copy stands still: it neither expires nor is it fetched
 * @property {boolean} [history] with its past (true)
 * @property {boolean} [permission] although the terms of the tiles' upstream forbid to take them elsewhere
 * @property {boolean} [dryRun] counts, and writes nothing
 * @property {AbortSignal} [signal]
 * @property {(tally: import('./copy/tally.js').Tally) => void} [onProgress]
 * @property {Partial<typeof import('./copy/tiles.js').copyDefaults>} [limits]
 */

/**
 * @param {import('./store/index.js').Store} store
 * @param {string} from layer
 * @param {string} to layer; in one that is there, what is copied is put together with what stands there as a load does
 * @param {CopyOptions} [options]
 */
export async function copyLayer (store, from, to, options = {}) {
  checkLayer(from)
  checkLayer(to)
  const { source = store, time } = options
  if (source === store && from === to) throw new TilecouchError('BAD_OPTION', { option: 'TO', value: to, why: 'it is the layer that is copied' })
  return copyAll(store, from, to, { ...options, source, time: time === undefined ? undefined : endOf(time) })
}
