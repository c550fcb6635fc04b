// A load or copy that stores no tile leaves no layer: an empty one would be listed, and shown, as if there were a map.
import { editionId, layerId, limitsId, manifestId } from '../../core/index.js'
import { endLeaves } from '../maintain/remove/documents.js'
import { revisionsFrom } from '../maintain/remove/index.js'
import { isEmptyLayer } from '../store/layers.js'
import { fieldsOf } from '../store/revisions.js'

/**
 * Removes a layer that a load or copy has created, unless it has tiles by now, or another load works on it. Only what
 * the load has written goes, at the revisions that are there at the beginning: a load that begins meanwhile loses
 * nothing, and neither do stores that replicate. Their blocks and removals may be here before their manifests are.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {string} [run] of the load; none: of a copy, whose limits go, too
 */
export async function dropEmptyLayer (store, layer, run) {
  const { couch } = store
  // a store that is away stays away: the load has waited for it already
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
