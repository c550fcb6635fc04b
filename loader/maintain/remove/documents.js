// Deletes documents, and reads tiles with all their documents from the primary index, which is always current.
import { readTileLeaves } from '../../../core/store/documents.js'
import { isRefusal } from '../../../core/couch/answers.js'
import { peerOf } from '../../store/peer.js'
import { compareRevs } from '../../../core/mirror/index.js'
import { tombstone, readLeavesByState } from '../../store/revisions.js'
import { imageOf } from '../../store/tile.js'

/**
 * @typedef {{id: string, rev: string}} Revision
 *
 * @typedef {object} Ended
 * @property {Map<string, string>} gone deleted: id -> revision of the deletion
 * @property {string[]} changed ids of documents that another program wrote meanwhile
 * @property {{id: string, reason: string}[]} refused
 */

/**
 * Deletes documents at the given revisions. A document that no longer exists counts as deleted, even after an error: an
 * earlier try of the same request succeeded, or another program deleted it.
 * @param {import('../../store/couch.js').Couch} couch
 * @param {Revision[]} leaves all leaves of each document
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
  const uncertainIds = new Set()
  const docs = single.map(({ id, rev }) => ({ _id: id, _rev: rev, _deleted: true }))
  for (const { id, rev, error, reason } of docs.length ? await couch.bulk(docs, { signal }) : []) {
    if (rev && !error) ended.gone.set(id, rev)
    else if (isRefusal(error)) ended.refused.push({ id, reason: reason || error })
    else uncertainIds.add(id)
  }
  if (several.length) {
    const refused = await peerOf(couch).write(several.map(({ id, rev }) => tombstone(id, rev)), signal)
    for (const { id, error, reason } of refused) ended.refused.push({ id, reason: reason || error })
    for (const { id } of several) if (!refused.some(row => row.id === id)) uncertainIds.add(id)
  }
  for (const [id, { living, ended: ends }] of await readLeavesByState(couch, [...uncertainIds], signal)) {
    if (living.length) ended.changed.push(id)
    else if (ends.length) ended.gone.set(id, ends.map(({ _rev }) => _rev).sort(compareRevs)[ends.length - 1])
  }
  return ended
}

/** @typedef {{id: string, head?: any, pasts: any[]}} StoredTile pasts: oldest first */

/**
 * Reads tiles as they are stored, with copies of heads. Of documents with conflicts it returns the winners.
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

/** A stored document in the form of index rows. @returns {import('../../store/list.js').ListedTile['versions'][0]} */
export function listedOf (doc) {
  const { _id: id, _rev: rev, layer, z, x, y, time } = doc
  const image = imageOf(doc)
  return { id, layer, z, x, y, time, rev, current: !id.includes('@'), gone: !image, size: image?.length ?? 0 }
}
