// A load or copy that stores no tile leaves no layer: an empty one would be listed, and shown, as if there were a map.
import { endLeaves } from '../maintain/remove/documents.js'
import { recordPrefixes, revisionsFrom, singleIds } from '../maintain/remove/index.js'
import { isEmptyLayer } from '../store/layers.js'

/**
 * Removes a layer that a load or copy has created, unless it has tiles by now, or another load works on it. Only
 * documents that are there at the beginning go, at the revisions that they have then: a load that begins meanwhile
 * loses nothing.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {string} [run] of the load
 */
export async function dropEmptyLayer (store, layer, run = '') {
  const { couch } = store
  // a store that is away stays away: the load has waited for it already
  const docs = await Promise.all(singleIds(layer).map(id => couch.get(id, undefined, { retries: 0 })))
  const leaves = docs.flatMap(doc => doc ? [{ id: doc._id, rev: doc._rev }] : [])
  for (const prefix of recordPrefixes(layer)) {
    for await (const page of revisionsFrom(couch, prefix)) leaves.push(...page)
  }
  if (!await isEmptyLayer(couch, layer) || (await store.editions(layer)).some(edition => edition.run !== run)) return
  await endLeaves(couch, leaves)
}
