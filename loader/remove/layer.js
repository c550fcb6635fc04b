// Removes a layer whole: from the primary index, so that everything of it goes, also what no view knows: tiles of other
// programs, a past without its head. Past versions first, then heads, editions, manifests, blocks and removals, the layer's
// document last.
import { TilecouchError, checkLayer, editionId, isTileId, layerId, layerRange } from '../../core/index.js'
import { Remover } from './remover.js'
import { endPapers } from './tiles.js'

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {import('./remover.js').RemoverOptions} [options]
 * @returns {Promise<import('./tally.js').Tally & {editions: number, left: number}>} bytes: as the index has them; left: documents under the layer's name that are no tiles
 */
export async function removeLayer (store, layer, options = {}) {
  const remover = new Remover(store, options)
  const { tally, limits, couch } = remover
  const editions = []
  for await (const docs of documentsFrom(couch, editionId(checkLayer(layer), ''), remover.signal)) editions.push(...docs.map(({ _id }) => _id))
  const before = await bytesOf(store, layer)
  const hasDocument = Boolean(await couch.get(layerId(layer)))
  const strangers = new Set()
  const walk = isHead => documentsOf(couch, layer, { isHead, signal: remover.signal, onStranger: id => strangers.add(id) })
  if (!hasDocument && !editions.length && (await walk(true).next()).done && (await walk(false).next()).done) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  await remover.begin()
  // what loads write meanwhile, and losing revisions that come to light, go in the next pass
  for (let pass = 0, found = true; found && pass < limits.passes && !tally.refused; pass++) {
    Object.assign(tally, { changed: 0, named: [] })
    found = false
    for (const isHead of [false, true]) {
      for await (const docs of walk(isHead)) {
        found = true
        for (let at = 0; at < docs.length; at += limits.batch) {
          const gone = await remover.end(docs.slice(at, at + limits.batch))
          tally.versions += gone.size
          if (isHead) tally.tiles = tally.heads += gone.size
          options.onProgress?.(tally)
        }
      }
    }
    if (remover.dryRun) found = false
    else if (found && pass + 1 === limits.passes && !tally.changed && !(await walk(true).next()).done) remover.count.tell('changed', layerId(layer), 'somebody loads into it')
  }
  tally.bytes = Math.max(0, before - (remover.dryRun ? 0 : await bytesOf(store, layer)))
  const isEmpty = !tally.refused && !tally.changed
  const papers = isEmpty ? await endPapers(remover, editions) : 0
  if (isEmpty) {
    for (const prefix of saidPrefixes(layer)) {
      for await (const docs of documentsFrom(couch, prefix, remover.signal)) await remover.end(docs)
    }
    await endPapers(remover, [layerId(layer)])
  }
  await remover.finish()
  return { ...tally, editions: papers, left: strangers.size }
}

/** How the ids of what editions and removals have said of a layer begin: the ends of manifests first, without which nothing counts. @param {string} layer */
export const saidPrefixes = layer => [`manifest:${layer}@`, `block:${layer}:`, `removed:${layer}:`]

/** Documents whose ids begin so, page by page. @returns {AsyncGenerator<{_id: string, _rev: string}[]>} */
export async function * documentsFrom (couch, prefix, signal) {
  for await (const rows of couch.pages({ startkey: prefix, endkey: `${prefix}~` }, { signal })) yield rows.map(named)
}

const named = ({ id, value: { rev } }) => ({ _id: id, _rev: rev })

/** Of every version, where the index says so. */
async function bytesOf (store, layer) {
  try {
    return (await store.stats(layer)).bytes
  } catch (error) {
    if (error.code !== 'LAYER_NOT_FOUND' && error.code !== 'INDEX_MISSING') throw error
    return 0
  }
}

/**
 * The heads of a layer, or its past, page by page, as they are ended.
 * @param {import('../store/couch.js').Couch} couch @param {string} layer
 * @param {{isHead: boolean, signal?: AbortSignal, onStranger: (id: string) => void}} options
 * @returns {AsyncGenerator<{_id: string, _rev: string}[]>} never an empty page
 */
async function * documentsOf (couch, layer, { isHead, signal, onStranger }) {
  for await (const rows of couch.pages(layerRange(layer), { signal })) {
    for (const { id } of rows) if (!isTileId(id)) onStranger(id)
    const docs = rows.filter(({ id }) => isTileId(id) && id.includes('@') !== isHead).map(named)
    if (docs.length) yield docs
  }
}
