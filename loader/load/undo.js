// A load or copy that stores no tile leaves no layer: an empty one would be listed, and shown, as if there were a map.
import { layerRange } from '../../core/index.js'
import { removeLayer } from '../remove/index.js'

/**
 * Removes a layer that a load or copy has created, unless it has tiles by now, or another load works on it.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {string} [run] of the load
 */
export async function dropEmptyLayer (store, layer, run = '') {
  // a store that is away stays away: the load has waited for it already
  const tiles = await store.couch.page({ ...layerRange(layer), limit: 1 }, undefined, { retries: 0 })
  if (tiles.length || (await store.editions(layer)).some(edition => edition.run !== run)) return
  await removeLayer(store, layer)
}
