// A CouchDB, an embedded store or the /db of a gateway as a side of a replication, in Node.
import { randomUUID } from 'node:crypto'
import { CouchPeer, checkDigests } from '../../core/mirror/index.js'
import { bulkBody } from '../store/bulk-body.js'
import { digestOf } from '../store/tile.js'

/** @param {import('../store/couch.js').Couch} couch @returns {CouchPeer} */
export const peerOf = couch => new CouchPeer(couch, { bulkBody: docs => bulkBody(docs, { newEdits: false }), packed, check })

/**
 * A document with compressed attachments (CouchDB compresses text itself) as a request of its own. Only so they arrive
 * as they are, with the same digest: inside a bulk request they would be sent plain.
 */
function packed (doc) {
  const attachments = Object.entries(doc._attachments ?? {})
  if (!attachments.some(([, { encoding, data }]) => encoding && data instanceof Uint8Array)) return undefined
  const described = attachments.map(([name, { data, ...about }]) => [name, data === undefined ? about : { ...about, follows: true }])
  const boundary = randomUUID()
  const parts = [`--${boundary}\r\nContent-Type: application/json\r\n\r\n${JSON.stringify({ ...doc, _attachments: Object.fromEntries(described) })}`]
  for (const [, { data }] of attachments) if (data !== undefined) parts.push(`\r\n--${boundary}\r\n\r\n`, data)
  parts.push(`\r\n--${boundary}--`)
  return { type: `multipart/related; boundary="${boundary}"`, body: Buffer.concat(parts.map(part => typeof part === 'string' ? Buffer.from(part) : part)) }
}

const check = docs => checkDigests(docs, data => digestOf(typeof data === 'string' ? Buffer.from(data, 'base64') : data))
