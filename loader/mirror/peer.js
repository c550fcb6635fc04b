// A CouchDB, an embedded store or the /db of a gateway as a side of a replication, in Node.
import { randomUUID } from 'node:crypto'
import { CouchPeer, checkDigests } from '../../core/mirror/index.js'
import { digestOf } from '../store/tile.js'

/** @param {import('../store/couch.js').Couch} couch @returns {CouchPeer} */
export const peerOf = couch => new CouchPeer(couch, { packed, check })

/**
 * Removes a `_local` document.
 * @param {import('../store/couch.js').Couch} couch @param {string} id @param {AbortSignal} [signal]
 * @returns {Promise<boolean>} false: it did not exist
 */
export async function removeLocal (couch, id, signal) {
  const path = `_local/${id}`
  const doc = await couch.get(path, signal)
  if (doc) await couch.find({ method: 'DELETE', path, qs: { rev: doc._rev }, signal })
  return Boolean(doc)
}

/**
 * A document with compressed attachments (CouchDB compresses text itself) as a request of its own. Only so they arrive
 * as they are, with the same digest: inside a bulk request they would be sent plain.
 */
function packed (doc) {
  const attachments = Object.entries(doc._attachments ?? {})
  if (!attachments.some(([, { encoding, data }]) => encoding && data instanceof Uint8Array)) return undefined
  const described = attachments.map(([name, { data, ...about }]) => [name, data ? { ...about, follows: true } : about])
  const json = JSON.stringify({ ...doc, _attachments: Object.fromEntries(described) })
  const boundary = randomUUID()
  const parts = [Buffer.from(`--${boundary}\r\nContent-Type: application/json\r\n\r\n${json}`)]
  for (const [, { data }] of attachments) if (data) parts.push(Buffer.from(`\r\n--${boundary}\r\n\r\n`), data)
  parts.push(Buffer.from(`\r\n--${boundary}--`))
  return { type: `multipart/related; boundary="${boundary}"`, body: Buffer.concat(parts) }
}

const check = docs => checkDigests(docs, digestOf)
