// A mirror of a little of a large store begins with what is there now, as the time index lists it, instead of with everything
// that ever changed: the feed has a row for each document of the store, the index is read by the columns of the area. What
// changes meanwhile comes by the feed, which is read on from where the store was before.
import { STORE_ID, isLayer } from '../../core/index.js'
import { isUnwritable, randomId, readLeaves } from '../../core/mirror/index.js'
import { isGood, placeOf } from '../../core/place.js'
import { batchesOf } from '../../core/batches.js'
import { versions } from '../store/columns.js'
import { childSignal } from '../store/child-signal.js'
import { walk } from '../store/walk.js'

export const shortcutDefaults = {
  least: 20000, // documents of a source; the feed of fewer is read in less than a second
  share: 0.2, // of them that may be listed: each takes as long as five rows of the feed
  page: 1000, // documents looked at together
  pages: 3 // of them under way
}

/**
 * @typedef {import('../../core/mirror/peer.js').Peer} Peer
 * @typedef {import('../../core/mirror/peer.js').Row} Row
 *
 * @typedef {object} Beginning what a replication gives
 * @property {Peer} source
 * @property {Peer} target
 * @property {string} id of its checkpoint
 * @property {boolean} dryRun
 * @property {(rows: Omit<Row, 'seq'>[], signal: AbortSignal) => Promise<void>} take as if they were rows of the feed
 * @property {AbortSignal} signal
 */

/**
 * How a replication begins that has no checkpoint yet: fills the target, and answers the place in the feed from which to go on,
 * or nothing when the feed is to be read from its beginning. The end is the same, but for documents that are called like tiles
 * and do not say that they are, which the index does not have: no store takes them.
 * @param {import('../store/couch.js').Couch} couch the source
 * @param {import('../../core/mirror/index.js').Selection} selection
 * @param {Partial<typeof shortcutDefaults>} [limits]
 */
export const shortcutOf = (couch, selection, limits) => async (/** @type {Beginning} */ beginning) => {
  const { least, share, page, pages } = { ...shortcutDefaults, ...limits }
  const info = await beginning.source.info()
  const documents = info.doc_count + (info.doc_del_count ?? 0)
  // in a cluster the copy that lists need not know all that the copy knew whose place was noted
  if (selection.isWhole || documents < least || info.cluster?.n > 1) return undefined
  const place = await beginAt(beginning, placeOf(info))
  if (place === undefined) return undefined

  const { signal, end } = childSignal(beginning.signal)
  const under = new Set()
  let listed = 0
  let failure
  try {
    for await (const ids of batchesOf(idsOf(couch, selection, signal), { most: page, bytes: Infinity })) {
      listed += ids.length
      if (listed > share * documents) return undefined
      const work = takeAll(couch, selection, ids, beginning.take, signal)
        .catch(error => {
          failure ??= error
          end()
        })
        .finally(() => under.delete(work))
      under.add(work)
      while (under.size >= pages && !failure) await Promise.race(under)
      if (failure) break
    }
  } catch (error) {
    failure ??= error
  } finally {
    if (failure) end()
    await Promise.all(under)
    end()
  }
  if (failure?.code === 'INDEX_MISSING') return undefined
  if (failure) throw failure
  return place
}

/** @param {string[]} ids @param {Beginning['take']} take @param {AbortSignal} signal */
async function takeAll (couch, selection, ids, take, signal) {
  const belongs = new Map(ids.map(id => [id, selection.has(id)]))
  const leaves = await readLeaves(couch, ids.filter(id => belongs.get(id) === true), signal)
  const rows = ids.filter(id => belongs.get(id)).map(id => ({ id, revs: (leaves.get(id) ?? []).map(({ _rev: rev }) => rev), deleted: false }))
  await take(rows.filter(({ id, revs }) => revs.length || belongs.get(id) === 'ask'), signal)
}

/**
 * Where the source is, before anything is read of it. One that was interrupted goes on from where it was then. Nothing when the
 * target holds anything else: what of that was deleted long ago, only the whole feed knows.
 * @param {Beginning} beginning @param {import('../store/follow.js').Place} now
 */
async function beginAt ({ source, target, id, dryRun }, now) {
  const note = id.replace('mirror', 'begin')
  if ((await target.info()).doc_count) {
    const there = await target.getLocal(note)
    // what the source does not remember was before it was put back to an older state
    const isKnown = there && isGood(there, now) && (!there.token || there.token === (await source.getLocal(note))?.token)
    return isKnown ? there.since : undefined
  }
  if (dryRun) return now.since
  const token = randomId()
  const isTold = await source.updateLocal(note, () => ({ token })).then(() => true, error => {
    if (!isUnwritable(error)) throw error
    return false
  })
  await target.updateLocal(note, () => ({ ...now, ...(isTold && { token }) }))
  return now.since
}

/** Documents of the selection, and some more. */
async function * idsOf (couch, selection, signal) {
  const named = await couch.ranges([{ keys: [STORE_ID] }, { startkey: 'layer:', endkey: 'layer;' }, { startkey: 'edition:', endkey: 'edition;' },
    ...['manifest', 'block', 'removed'].map(kind => ({ startkey: `${kind}:`, endkey: `${kind};` }))], signal)
  for (const { id, value } of named.flat()) if (id && !value?.deleted && selection.has(id)) yield id
  const layers = (await couch.view(versions.view, { group_level: 1 }, signal)).map(({ key }) => key[0])
  for (const layer of layers.filter(isLayer)) {
    if (selection.layers && !selection.layers.has(layer)) continue
    for await (const { rows } of walk(couch, versions, layer, { area: selection.area, zooms: selection.zooms, signal })) {
      for (const { id } of rows) yield id
    }
  }
}
