// Removes the layer of a load or copy that has stored no tile: an empty layer would be listed as if there were a map.
import { editionId, layerId, limitsId, manifestId } from '../../core/index.js'
import { endLeaves } from '../maintain/remove/documents.js'
import { revisionsFrom } from '../maintain/remove/index.js'
import { isEmptyLayer } from '../store/layers.js'
import { fieldsOf } from '../store/revisions.js'

/**
 * Removes a layer that a load or copy has created, unless it has tiles or another load works on it. Only the documents
 * of this load are removed, at the revisions found at the beginning. So a load that begins meanwhile loses nothing, nor
 * do stores that replicate: their blocks and removals may arrive before their manifests.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {string} [run] of the load; without it, a copy is meant, whose limits are removed as well
 */
export async function dropEmptyLayer (store, layer, run) {
  const { couch } = store
  // no retries: the load has already waited for a store that is away
  const ids = [layerId(layer), ...(run === undefined ? [limitsId(layer)] : [])]
  const docs = await Promise.all(ids.map(id => couch.get(id, undefined, { retries: 0 })))
  const leaves = docs.flatMap(doc => doc ? [{ id: doc._id, rev: doc._rev }] : [])
  const [layerDoc] = docs
  const editions = await store.editions(layer)
  for (const { time } of editions.filter(edition => edition.run === run)) {
    for (const prefix of [editionId(layer, time), manifestId(layer, time, run ?? '')]) {
      for await (const page of revisionsFrom(couch, prefix)) leaves.push(...page)
    }
  }
  const isOther = edition => edition.run !== run
  if (!await isEmptyLayer(couch, layer) || editions.some(isOther)) return
  await endLeaves(couch, leaves)
  // another load may have begun meanwhile: it looks for the layer after it has noted its edition
  if (layerDoc && (await store.editions(layer)).some(isOther)) {
    await couch.update(layerId(layer), stored => stored ? undefined : fieldsOf(layerDoc))
  }
}
