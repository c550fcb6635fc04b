// A version of a tile as a document of the store, and back.
import { TILE_ATTACHMENT, versionId } from '../ids.js'

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
