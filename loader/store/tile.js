// Tiles on their way into the store: checked, digested, and turned into documents.
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import {
  TILE_ATTACHMENT, TilecouchError, checkLayer, checkTile, inspectTile, isExactTime, tileId, versionId
} from '../../core/index.js'

// a vector tile that unpacks to more than this is not a tile
const gunzip = bytes => gunzipSync(bytes, { maxOutputLength: 64e6 })

/**
 * What a caller gives: `bytes`, or `read` to fetch them late, or `gone`.
 * @typedef {object} NewVersion
 * @property {string} layer
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {string} time exact
 * @property {Uint8Array} [bytes]
 * @property {() => Promise<Uint8Array> | Uint8Array} [read]
 * @property {boolean} [gone]
 * @property {string} [expires]
 * @property {Record<string, any>} [origin]
 */

/**
 * A version that may be stored.
 * @typedef {object} Tile
 * @property {string} id of its head
 * @property {string} layer
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {string} time
 * @property {string | null} digest as CouchDB writes it; null when gone
 * @property {string} [type]
 * @property {Buffer} [bytes]
 * @property {string} [expires]
 * @property {Record<string, any>} [origin]
 * @property {'create' | 'advance' | 'backfill'} [tried] a request that held it was sent, perhaps in vain
 */

/**
 * @param {NewVersion} version
 * @returns {Promise<Tile>}
 */
export async function prepareTile ({ layer, z, x, y, time, bytes, read, gone, expires, origin }) {
  checkLayer(layer)
  checkTile(z, x, y)
  if (!isExactTime(time)) throw new TilecouchError('BAD_TIME', { value: time })
  if (expires !== undefined && !isExactTime(expires)) throw new TilecouchError('BAD_TIME', { value: expires })
  const tile = { id: tileId(layer, z, x, y), layer, z, x, y, time, expires, origin }
  if (gone) return { ...tile, digest: null }
  const content = toBuffer(bytes ?? await read?.())
  const { type } = inspectTile(content, { gunzip })
  return { ...tile, type, bytes: content, digest: digestOf(content) }
}

const toBuffer = bytes => Buffer.isBuffer(bytes) || !bytes ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The digest CouchDB gives an attachment it does not compress, which it does for none of our types. */
export const digestOf = bytes => 'md5-' + createHash('md5').update(bytes).digest('base64')

/** Head or past document of a tile. */
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
      ? { _attachments: { [TILE_ATTACHMENT]: { content_type: type, data: bytes.toString('base64') } } }
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
    ...(attachment && { _attachments: { [TILE_ATTACHMENT]: { content_type: attachment.content_type, data: attachment.data.toString('base64') } } })
  }
}

/** What the timeline needs to know of a stored document. */
export function versionOf (doc) {
  return { time: doc.time, digest: doc._attachments?.[TILE_ATTACHMENT]?.digest ?? null, rev: doc._rev, id: doc._id }
}
