// Fills a mirror of a small part of a large store from the time index, which is read by the columns of the area. The
// change feed would have a row for each document of the store. Afterwards the mirror reads the feed from the place that
// the feed had before the fill.
import { LAYER_KINDS, STORE_ID, isLayer, layerId } from '../../../core/index.js'
import { isUnwritable, randomId, readLeaves } from '../../../core/mirror/index.js'
import { canContinue, feedPosition } from '../../../core/feed-position.js'
import { batchesOf } from '../../../core/lists.js'
import { versions } from '../../store/columns.js'
import { childSignal } from '../../child-signal.js'
import { walk } from '../../store/walk.js'

export const initialFillDefaults = {
  least: 20000, // documents of a source at least: the feed of a smaller store is read within a second
  share: 0.2, // of the documents that may be listed: a listed one takes as long as five rows of the feed
  page: 1000, // documents per request
  pages: 3 // pages at the same time
}

/**
 * @typedef {import('../../../core/mirror/peer.js').Peer} Peer
 * @typedef {import('../../../core/mirror/peer.js').Row} Row
 *
 * @typedef {object} FillOptions passed by Replication
 * @property {Peer} source
 * @property {Peer} target
 * @property {string} id of the checkpoint
 * @property {boolean} dryRun
 * @property {(rows: Omit<Row, 'seq'>[], signal: AbortSignal) => Promise<void>} take copies them like rows of the feed
 * @property {AbortSignal} signal
 */

/**
 * For a Replication without a checkpoint: fills the target, and returns the place in the feed where to continue, or
 * undefined if the feed has to be read from its beginning. The result is the same, except for invalid documents with
 * ids of tiles: the index does not have them, and no store accepts them.
 * @param {import('../../store/couch.js').Couch} couch the source
 * @param {import('../../../core/mirror/index.js').Selection} selection
 * @param {Partial<typeof initialFillDefaults>} [limits]
 */
export const initialFill = (couch, selection, limits) => async (/** @type {FillOptions} */ options) => {
  const { least, share, page, pages } = { ...initialFillDefaults, ...limits }
  const info = await options.source.info()
  const documents = info.doc_count + (info.doc_del_count ?? 0)
  // in a cluster the node that lists documents may be behind the node that gave the place
  if (selection.isWhole || documents < least || info.cluster?.n > 1) return undefined
  const place = await startPlace(options, feedPosition(info))
  if (place === undefined) return undefined

  const { signal, end } = childSignal(options.signal)
  const running = new Set()
  let listed = 0
  let failure = /** @type {any} */ (undefined)
  const fail = error => {
    failure ??= error
    end()
  }
  try {
    for await (const ids of batchesOf(idsOf(couch, selection, signal), { most: page, bytes: Infinity })) {
      listed += ids.length
      if (listed > share * documents) return undefined
      const copy = copyIds(couch, selection, ids, options.take, signal).catch(fail).finally(() => running.delete(copy))
      running.add(copy)
      while (running.size >= pages && !failure) await Promise.race(running)
      if (failure) break
    }
  } catch (error) {
    fail(error)
  } finally {
    await Promise.all(running)
    end()
  }
  if (failure?.code === 'INDEX_MISSING') return undefined
  if (failure) throw failure
  return place
}

async function copyIds (couch, selection, ids, take, signal) {
  const selectedDocs = ids.map(id => ({ id, has: selection.has(id) })).filter(({ has }) => has)
  const leaves = await readLeaves(couch, selectedDocs.filter(({ has }) => has === true).map(({ id }) => id), signal)
  const revsOf = id => (leaves.get(id) ?? []).map(({ _rev: rev }) => rev)
  const rows = selectedDocs.map(({ id, has }) => ({ id, has, revs: revsOf(id), deleted: false }))
  await take(rows.filter(({ has, revs }) => revs.length || has === 'maybe'), signal)
}

/**
 * The place of the source before the first read, or the noted place of an interrupted fill. Undefined if the target has
 * other documents: only the whole feed shows which of them were deleted.
 * @param {FillOptions} options @param {import('../../store/follow.js').FeedPosition} now
 */
async function startPlace ({ source, target, id, dryRun }, now) {
  const note = id.replace('mirror', 'begin')
  if ((await target.info()).doc_count) {
    const storedNote = await target.getLocal(note)
    // a source without the token was restored to an older state
    if (!storedNote || !canContinue(storedNote, now)) return undefined
    const isKnown = !storedNote.token || storedNote.token === (await source.getLocal(note))?.token
    return isKnown ? storedNote.since : undefined
  }
  if (dryRun) return now.since
  const token = randomId()
  const isNoted = await source.updateLocal(note, () => ({ token })).then(() => true, error => {
    if (!isUnwritable(error)) throw error
    return false
  })
  await target.updateLocal(note, () => ({ ...now, ...(isNoted && { token }) }))
  return now.since
}

/** Ids of the selection, and some other ids. */
async function * idsOf (couch, selection, signal) {
  const kinds = LAYER_KINDS.map(kind => ({ startkey: `${kind}:`, endkey: `${kind};` }))
  const administrativeRows = await couch.ranges([{ keys: [STORE_ID] }, ...kinds], signal)
  const readDocument = id => couch.get(id, signal)
  await selection.learn(administrativeRows.flat().flatMap(({ id }) => id ?? []), readDocument)
  for (const { id, value } of administrativeRows.flat()) if (id && !value?.deleted && selection.has(id)) yield id
  const layers = (await couch.view(versions.view, { group_level: 1 }, signal)).map(({ key }) => key[0])
  for (const layer of layers.filter(isLayer)) {
    if (selection.layers && !selection.layers.has(layer)) continue
    const { zooms } = selection
    await selection.learn([layerId(layer)], readDocument)
    const area = selection.areaOf(layer)
    for await (const { rows } of walk(couch, versions, layer, { area, zooms, signal })) yield * rows.map(({ id }) => id)
  }
}
