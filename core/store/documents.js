// A version of a tile as a document of the store, and back.
import { chunks } from '../lists.js'
import { TILE_ATTACHMENT, compareIds, headId, isTileId, pastRange, versionId } from '../ids.js'
import { winnerFirst } from '../couch/answers.js'

/** Head or past document of a tile; the attachment's `data` is bytes until it is sent. */
export function tileDocument (tile, { current, stored }) {
  const { id, layer, z, x, y, time, type, bytes, expires, origin, others } = tile
  return {
    ...others,
    _id: current ? id : versionId(layer, z, x, y, time),
    type: 'tile',
    layer,
    z,
    x,
    y,
    current,
    time,
    stored: tile.stored ?? stored,
    ...(expires && { expires }),
    ...(origin && { origin }),
    ...(bytes
      ? { _attachments: { [TILE_ATTACHMENT]: { content_type: type, data: bytes } } }
      : { gone: true })
  }
}

/** The past document of a head that is about to be overwritten. Fields of other writers come along. */
export function pastOf (head) {
  const { _id, _rev, _revisions, _conflicts, _attachments, ...fields } = head
  return { _id: `${_id}@${head.time}`, ...fields, current: false, ...imageAnew(head) }
}

/**
 * The image of a document that is copied: the store sets its digest, length and revision.
 */
export function imageAnew ({ _attachments: attachments }) {
  const image = attachments?.[TILE_ATTACHMENT]
  return image && { _attachments: { [TILE_ATTACHMENT]: { content_type: image.content_type, data: image.data } } }
}

/** What a stored document shows, for comparing; null when nothing. */
export const shownBy = doc => doc._attachments?.[TILE_ATTACHMENT]?.digest ?? null

/**
 * Whether two documents hold the same version: then one of them is a copy. One that had to move there from another time
 * is not.
 */
export const isSameVersion = (a, b) => a.time === b.time && shownBy(a) === shownBy(b) && a.contested === b.contested

/** What the timeline needs to know of a stored document. */
export function versionOf (doc) {
  return { time: doc.time, digest: shownBy(doc), rev: doc._rev, id: doc._id }
}

// Every living leaf of tiles, head and past, without bytes.

const RANGES = 200 // ranges of ids a request

/**
 * @typedef {import('../couch/client.js').CouchClient} Couch
 * @typedef {{id: string, heads: any[], pasts: any[]}} TileLeaves heads: CouchDB's winner first; pasts: in the order of
 *   their ids
 */

/** @param {string[]} ids of heads @param {AbortSignal} [signal] @returns {Promise<TileLeaves[]>} in their order */
export async function readTileLeaves (couch, ids, signal) {
  const pastIds = await readPastIds(couch, ids, signal)
  const leaves = await readLivingLeaves(couch, [...ids, ...pastIds], signal)
  const pasts = new Map(ids.map(id => [id, /** @type {any[]} */ ([])]))
  for (const id of pastIds) pasts.get(headId(id))?.push(...leaves.get(id) ?? [])
  return ids.map(id => ({ id, heads: leaves.get(id) ?? [], pasts: pasts.get(id) ?? [] }))
}

/** Ids of past versions. Where next to nothing lies between the tiles, that is one range. */
export async function readPastIds (couch, ids, signal) {
  if (!ids.length) return []
  const headIds = new Set(ids)
  const most = 4 * ids.length + RANGES
  if (ids.length > 1) {
    const startkey = ids.reduce((a, b) => compareIds(a, b) < 0 ? a : b)
    // not the past of the last tile: that of row 1 comes after row 10
    const endkey = ids.map(id => pastRange(id).endkey).reduce((a, b) => compareIds(a, b) > 0 ? a : b)
    const [near] = await couch.ranges([{ startkey, endkey, limit: most }], signal)
    const isWanted = id => id.includes('@') && headIds.has(headId(id)) && isTileId(id)
    if (near.length < most) return near.map(({ id }) => id).filter(isWanted)
  }
  const pastIds = []
  for (const chunk of chunks(ids, RANGES)) {
    for (const rows of await couch.ranges(chunk.map(pastRange), signal)) {
      for (const { id } of rows) if (isTileId(id)) pastIds.push(id)
    }
  }
  return pastIds
}

/** @returns {Promise<Map<string, any[]>>} the winner first */
async function readLivingLeaves (couch, ids, signal) {
  if (!ids.length) return new Map()
  const leaves = await couch.leaves(ids, { signal })
  return new Map([...leaves].map(([id, all]) => [id, all.filter(({ _deleted }) => !_deleted).sort(winnerFirst)]))
}
