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
  const attachment = _attachments?.[TILE_ATTACHMENT]
  return {
    _id: `${_id}@${head.time}`,
    ...fields,
    current: false,
    ...(attachment && { _attachments: { [TILE_ATTACHMENT]: { content_type: attachment.content_type, data: attachment.data } } })
  }
}

/** What the timeline needs to know of a stored document. */
export function versionOf (doc) {
  return { time: doc.time, digest: doc._attachments?.[TILE_ATTACHMENT]?.digest ?? null, rev: doc._rev, id: doc._id }
}
