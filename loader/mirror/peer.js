// Sides of a replication as Node speaks with them.
import { gunzipSync } from 'node:zlib'
import { TilecouchError } from '../../core/index.js'
import { CouchPeer } from '../../core/mirror/index.js'
import { bulkBody } from '../store/bulk-body.js'
import { digestOf } from '../store/tile.js'

/** @param {import('../store/couch.js').Couch} couch @returns {CouchPeer} */
export const peerOf = couch => new CouchPeer(couch, { bulkBody: docs => bulkBody(docs.map(inline), { newEdits: false }), check })

/** CouchDB compresses text again by itself: inline attachments are plain. */
function inline (doc) {
  const packed = Object.entries(doc._attachments ?? {}).filter(([, { encoding, data }]) => encoding === 'gzip' && data instanceof Uint8Array)
  if (!packed.length) return doc
  const plain = packed.map(([name, { encoding, encoded_length: length, data, ...about }]) => [name, { ...about, data: gunzipSync(data) }])
  return { ...doc, _attachments: { ...doc._attachments, ...Object.fromEntries(plain) } }
}

/** A link that is bad in the middle does not get to the store: the request is made again. */
function check (docs) {
  for (const { _id: id, _attachments: attachments = {} } of docs) {
    for (const { data, digest } of Object.values(attachments)) {
      if (data === undefined || !digest?.startsWith('md5-')) continue
      const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : data
      if (digestOf(bytes) !== digest) throw new TilecouchError('BAD_ANSWER', { url: '_bulk_get', why: `the bytes of ${id} are not those that were stored` })
    }
  }
}
