// Documents of tiles as a removal needs them: every leaf, the ends of leaves, and the versions of tiles from the primary
// index, which is never behind.
import { TILE_ATTACHMENT, compareIds, headId, isTileId, pastRange } from '../../core/index.js'
import { isRefusal } from '../../core/couch/answers.js'
import { peerOf } from '../mirror/peer.js'
import { compareRevs } from '../../core/mirror/index.js'
import { tombstone } from '../resolve/content.js'
import { readLeaves } from '../resolve/leaves.js'

const RANGES = 200 // ranges of ids a request

/** @typedef {{id: string, rev: string}} Leaf */
/** @typedef {{gone: Map<string, string>, changed: string[], refused: {id: string, reason: string}[]}} Ended gone: id -> the revision that says so */

/**
 * Ends documents at the revisions that were looked at. One that is gone although the answer says otherwise is gone: an earlier
 * try of the same request got through, or somebody else wanted the same.
 * @param {import('../store/couch.js').Couch} couch
 * @param {Leaf[]} leaves of several of one document, all must be named
 * @param {AbortSignal} [signal]
 * @returns {Promise<Ended>}
 */
export async function endLeaves (couch, leaves, signal) {
  const ended = /** @type {Ended} */ ({ gone: new Map(), changed: [], refused: [] })
  if (!leaves.length) return ended
  const byId = new Map()
  for (const leaf of leaves) byId.set(leaf.id, [...byId.get(leaf.id) ?? [], leaf])
  const [single, several] = [[], /** @type {any[]} */ ([])]
  for (const own of byId.values()) (own.length === 1 ? single : several).push(...own)
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
 * @param {import('../store/couch.js').Couch} couch
 * @param {string[]} ids of heads
 * @param {AbortSignal} [signal]
 * @returns {Promise<StoredTile[]>} in their order
 */
export async function readTiles (couch, ids, signal) {
  const heads = await couch.docs(ids, { signal })
  const pasts = new Map(ids.map(id => [id, /** @type {any[]} */ ([])]))
  for (const doc of await readPasts(couch, ids, signal)) pasts.get(headId(doc._id))?.push(doc)
  return ids.map((id, at) => ({ id, head: heads[at].doc, pasts: pasts.get(id) ?? [] }))
}

/** What stands of the past of tiles. Where next to nothing does, as after a removal, that is one range. */
async function readPasts (couch, ids, signal) {
  if (!ids.length) return []
  const most = 2 * ids.length + RANGES
  const startkey = ids.reduce((a, b) => compareIds(a, b) < 0 ? a : b)
  // not the past of the last tile: that of row 1 comes after row 10
  const endkey = ids.map(id => pastRange(id).endkey).reduce((a, b) => compareIds(a, b) > 0 ? a : b)
  const whole = { startkey, endkey, limit: most }
  const [near] = await couch.ranges([whole], signal)
  if (near.length < most) {
    const wanted = new Set(ids)
    const found = near.map(({ id }) => id).filter(id => id.includes('@') && wanted.has(headId(id)) && isTileId(id))
    return (await couch.docs(found, { signal })).flatMap(({ doc }) => doc ? [doc] : [])
  }
  const docs = []
  for (let at = 0; at < ids.length; at += RANGES) {
    const ranges = ids.slice(at, at + RANGES).map(id => ({ ...pastRange(id), include_docs: true }))
    for (const rows of await couch.ranges(ranges, signal)) for (const { id, doc } of rows) if (doc && isTileId(id)) docs.push(doc)
  }
  return docs
}

/** A stored document as a version of a listing. @returns {import('../store/list.js').ListedTile['versions'][0]} */
export function listedOf (doc) {
  const { _id: id, _rev: rev, layer, z, x, y, time } = doc
  const image = doc._attachments?.[TILE_ATTACHMENT]
  return { id, layer, z, x, y, time, rev, current: !id.includes('@'), gone: !image, size: image?.length ?? 0 }
}
