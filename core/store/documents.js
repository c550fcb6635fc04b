// Converts versions of tiles to documents of the store and back, and reads all documents of tiles.
import { chunks } from '../lists.js'
import { TILE_ATTACHMENT, compareIds, headId, isTileId, pastRange, versionId } from '../ids.js'
import { winnerFirst } from '../couch/answers.js'

/** The head or past document of a tile. The attachment's `data` is bytes until it is sent. */
export function tileDocument (tile, { current, stored }) {
  const { id, layer, z, x, y, time, type, bytes, expires, origin } = tile
  return {
    _id: current ? id : versionId(layer, z, x, y, time),
    type: 'tile',
    layer,
    z,
    x,
    y,
    current,
    time,
    stored,
    ...(expires && { expires }),
    ...(origin && { origin }),
    ...(bytes
      ? { _attachments: { [TILE_ATTACHMENT]: { content_type: type, data: bytes } } }
      : { gone: true })
  }
}

/** The past document of a head that will be overwritten, with the fields of other writers. */
export function pastOf (head) {
  const { _id, _rev, _revisions, _conflicts, _attachments, ...fields } = head
  return { _id: `${_id}@${head.time}`, ...fields, current: false, ...imageAnew(head) }
}

/** The image for a copy of a document, without digest, length and revision: the store sets these. */
export function imageAnew ({ _attachments: attachments }) {
  const image = attachments?.[TILE_ATTACHMENT]
  return image && { _attachments: { [TILE_ATTACHMENT]: { content_type: image.content_type, data: image.data } } }
}

/** The digest of the image of a stored document; null without an image. */
export const shownBy = doc => doc._attachments?.[TILE_ATTACHMENT]?.digest ?? null

/**
 * Whether two documents have the same version, so that one is a copy of the other. A version that was moved from
 * another time is not the same.
 */
export const isSameVersion = (a, b) => a.time === b.time && shownBy(a) === shownBy(b) && a.contested === b.contested

// Reads all leaves of tiles that are not deleted, head and past, without bytes.

const RANGES = 200 // ranges of ids per request

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

/** The end of a range with the past of all these tiles: the past of row 1 comes after row 10. @param {string[]} ids */
export const lastPastId = ids =>
  ids.map(id => pastRange(id).endkey).reduce((a, b) => compareIds(a, b) > 0 ? a : b)

/** Reads the ids of past versions: as one range, if few other documents lie between the tiles. */
export async function readPastIds (couch, ids, signal) {
  if (!ids.length) return []
  const headIds = new Set(ids)
  const most = 4 * ids.length + RANGES
  if (ids.length > 1) {
    const startkey = ids.reduce((a, b) => compareIds(a, b) < 0 ? a : b)
    const [rows] = await couch.ranges([{ startkey, endkey: lastPastId(ids), limit: most }], signal)
    const isPastId = id => id.includes('@') && headIds.has(headId(id)) && isTileId(id)
    if (rows.length < most) return rows.map(({ id }) => id).filter(isPastId)
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
  return new Map([...leaves].map(([id, docs]) => [id, docs.filter(({ _deleted }) => !_deleted).sort(winnerFirst)]))
}
