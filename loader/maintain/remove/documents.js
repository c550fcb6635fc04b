// Reads tiles with all of their documents, from the primary index, which is never behind; and deletes documents.
import { TILE_ATTACHMENT } from '../../../core/index.js'
import { readTileLeaves } from '../../../core/store/documents.js'
import { isRefusal } from '../../../core/couch/answers.js'
import { peerOf } from '../../store/peer.js'
import { compareRevs } from '../../../core/mirror/index.js'
import { tombstone, readLeaves } from '../../store/revisions.js'

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
 * Tiles as they are stored, copies of heads included; of documents with conflicts the winners.
 * @param {import('../../store/couch.js').Couch} couch
 * @param {string[]} ids of heads
 * @param {AbortSignal} [signal]
 * @returns {Promise<StoredTile[]>} in their order
 */
export async function readTiles (couch, ids, signal) {
  const isWinner = ({ _id: id }, index, leaves) => id !== leaves[index - 1]?._id
  const tiles = await readTileLeaves(couch, ids, signal)
  return tiles.map(({ id, heads, pasts }) => ({ id, head: heads[0], pasts: pasts.filter(isWinner) }))
}

/** A stored document as the index lists it. @returns {import('../../store/list.js').ListedTile['versions'][0]} */
export function listedOf (doc) {
  const { _id: id, _rev: rev, layer, z, x, y, time } = doc
  const image = doc._attachments?.[TILE_ATTACHMENT]
  return { id, layer, z, x, y, time, rev, current: !id.includes('@'), gone: !image, size: image?.length ?? 0 }
}
