// Loads a source as one edition of a layer, after checks of the source and of the store.
import { checkLayer } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { EditionLoad } from './edition-load.js'
import { checkComplete, emptySource, isEmpty } from './source-checks.js'

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
 * @property {(edition: {layer: string, time: string, timeFrom: TimeFrom, warnings: TilecouchError[]}) => void}
 *   [onBegin] warnings: this edition or an earlier one is dated in the future
 * @property {(first: {layer: string, time: string, where: import('./georeference.js').Where,
 *   warnings: TilecouchError[]}) => void} [onFirstTiles] where the first tiles lie, and what looks wrong with them
 * @property {(summary: import('../store/writer.js').WriteSummary, tuner: import('../store/tuner.js').Tuner) => void}
 *   [onProgress]
 * @property {(failure: {id: string, code: string, reason: string}) => void} [onFailure]
 *
 * @typedef {'option' | 'source' | 'clock'} TimeFrom where the time comes from: the caller, the source, or neither
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {import('./sources/index.js').Source} source
 * @param {LoadOptions} options
 */
export async function load (store, source, options) {
  checkLayer(options.layer)
  const editionLoad = new EditionLoad(store, source, options)
  checkComplete(source, editionLoad.complete)
  if (!source.diff && await isEmpty(source)) throw emptySource(source)
  await refuseOutdated(store)
  return editionLoad.run()
}

/** Refuses a store that an older tilecouch has published: it would refuse the manifest, after all tiles. */
async function refuseOutdated ({ couch, url }) {
  const design = await couch.get('_design/tiles')
  const validation = String(design?.validate_doc_update)
  if (validation.includes('edition:LAYER@TIME') && !validation.includes('manifest')) {
    throw new TilecouchError('STORE_OUTDATED', { url, what: 'manifests of editions' })
  }
}
