// Loads a source as one edition of a layer, after checks of the source and of the store.
import { EditionLoad } from './edition-load.js'
import { checkLoad } from './source-checks.js'

/**
 * @typedef {object} LoadOptions
 * @property {string} layer
 * @property {string} [time] when the map looked like this; a partial time is the start of its period; default: the time
 *   of the source, else now
 * @property {string} [title] of the edition
 * @property {number} [ttl] seconds until a tile of the layer expires
 * @property {boolean} [complete] the source is the whole layer at that time: tiles that it lacks become gone
 * @property {import('../../core/grid.js').Bbox} [bbox] with which the source was opened, for `complete`
 * @property {import('../../core/area.js').Area} [area] the same
 * @property {import('../../core/grid.js').Zooms} [zooms] the same
 * @property {Record<string, any>} [fields] of the layer document
 * @property {string} [of] the state of the source, to recognise it in the next load
 * @property {number} [batch]
 * @property {number} [concurrency]
 * @property {string} [same] which tiles with other bytes are unchanged: those with the same pixels, pixels:N (channels
 *   may differ by N) or features; kept in the layer document until it is set to bytes
 * @property {boolean} [anySize] tiles may have another number of pixels than those of the layer
 * @property {AbortSignal} [signal]
 * @property {(edition: {layer: string, time: string, timeFrom: TimeFrom, warnings: Warning[]}) => void} [onBegin]
 *   warnings: this edition or an earlier one is dated in the future
 * @property {(first: {layer: string, time: string, where: import('./georeference.js').Where,
 *   warnings: Warning[]}) => void} [onFirstTiles] where the first tiles lie, and what looks wrong with them
 * @property {(summary: import('../store/writer.js').WriteSummary, tuner: import('../store/tuner.js').Tuner) => void}
 *   [onProgress]
 * @property {(failure: {id: string, code: string, reason: string}) => void} [onFailure]
 *
 * @typedef {import('../errors.js').TilecouchError} Warning
 * @typedef {'option' | 'source' | 'clock'} TimeFrom where the time comes from: the caller, the source, or neither
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {import('./sources/index.js').Source} source
 * @param {LoadOptions} options
 */
export async function load (store, source, options) {
  const editionLoad = new EditionLoad(store, source, options)
  await checkLoad(store, source, options)
  return editionLoad.run()
}
