// Reads tiles with all of their documents, from the primary index, which is never behind; and deletes documents.
import { chunks } from '../../../core/lists.js'
import { TILE_ATTACHMENT, headId } from '../../../core/index.js'
import { readPastIds } from '../../../core/store/documents.js'
import { isRefusal } from '../../../core/couch/answers.js'
import { peerOf } from '../../store/peer.js'
import { compareRevs } from '../../../core/mirror/index.js'
import { tombstone, readLeaves } from '../../store/revisions.js'

const BATCH = 2000 // past versions a request

/**
 * @typedef {{id: string, rev: string}} Revision
 *
 * @typedef {object} Ended
 * @property {Map<string, string>} gone id -> revision of the deletion
 * @property {string[]} changed ids of documents that another program wrote meanwhile
 * @property {{id: string, reason: string}[]} refused
 */

/**
 * Deletes documents at the given revisions. A document that is gone counts as deleted whatever the answer says: an
 * earlier attempt of the same request succeeded, or another program deleted it as well.
 * @param {import('../../store/couch.js').Couch} couch
 * @param {Revision[]} leaves if a document has several, all of them
 * @param {AbortSignal} [signal]
 * @returns {Promise<Ended>}
 */
export async function endLeaves (couch, leaves, signal) {
  const ended = /** @type {Ended} */ ({ gone: new Map(), changed: [], refused: [] })
  if (!leaves.length) return ended
  const counts = new Map()
  for (const { id } of leaves) counts.set(id, (counts.get(id) ?? 0) + 1)
  const single = leaves.filter(({ id }) => counts.get(id) === 1)
  const several = leaves.filter(({ id }) => counts.get(id) > 1)
  const unsure = new Set()
  const docs = single.map(({ id, rev }) => ({ _id: id, _rev: rev, _deleted: true }))
  for (const { id, rev, error, reason } of docs.length ? await couch.bulk(docs, { signal }) : []) {
    if (rev && !error) ended.gone.set(id, rev)
    else if (isRefusal(error)) ended.refused.push({ id, reason: reason || error })
    else unsure.add(id)
  }
  if (several.length) {
    const refused = await peerOf(couch).write(several.map(({ id, rev }) => tombstone(id, rev)), signal)
    for (const { id, error, reason } of refused) ended.refused.push({ id, reason: reason || error })
    for (const { id } of several) if (!refused.some(one => one.id === id)) unsure.add(id)
  }
  for (const [id, { living, ended: ends }] of await readLeaves(couch, [...unsure], signal)) {
    if (living.length) ended.changed.push(id)
    else if (ends.length) ended.gone.set(id, ends.map(({ _rev }) => _rev).sort(compareRevs)[ends.length - 1])
  }
  return ended
}

/** @typedef {{id: string, head?: any, pasts: any[]}} StoredTile pasts: oldest first */

/**
 * Tiles as they are stored, copies of heads included.
 * @param {import('../../store/couch.js').Couch} couch
 * @param {string[]} ids of heads
 * @param {AbortSignal} [signal]
 * @returns {Promise<StoredTile[]>} in their order
 */
export async function readTiles (couch, ids, signal) {
  const heads = await couch.docs(ids, { signal })
  const pasts = new Map(ids.map(id => [id, /** @type {any[]} */ ([])]))
  const pastIds = await readPastIds(couch, ids, signal)
  for (const chunk of chunks(pastIds, BATCH)) {
    const rows = await couch.docs(chunk, { signal })
    for (const { doc } of rows) if (doc) pasts.get(headId(doc._id))?.push(doc)
  }
  return ids.map((id, at) => ({ id, head: heads[at].doc, pasts: pasts.get(id) ?? [] }))
}

/** A stored document as the index lists it. @returns {import('../../store/list.js').ListedTile['versions'][0]} */
export function listedOf (doc) {
  const { _id: id, _rev: rev, layer, z, x, y, time } = doc
  const image = doc._attachments?.[TILE_ATTACHMENT]
  return { id, layer, z, x, y, time, rev, current: !id.includes('@'), gone: !image, size: image?.length ?? 0 }
}
