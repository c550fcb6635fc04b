// Attachments as browsers hand them on: bytes as they came, base64 where a CouchDB is written to.
import { checkDigests } from '../../core/mirror/index.js'
import { fromBase64, toBase64 } from './base64.js'
import { digestOf } from './md5.js'

/**
 * The same documents with attachments that are not packed any more: CouchDB packs text by itself, and sends it so.
 * @param {any[]} docs
 * @returns {Promise<any[]>}
 */
export const unpack = docs => Promise.all(docs.map(async doc => {
  const packed = Object.entries(doc._attachments ?? {}).filter(([, { encoding, data }]) => encoding === 'gzip' && data instanceof Uint8Array)
  if (!packed.length) return doc
  const plain = await Promise.all(packed.map(async ([name, { encoding, encoded_length: length, data, ...about }]) => [name, { ...about, data: await gunzip(data) }]))
  return { ...doc, _attachments: { ...doc._attachments, ...Object.fromEntries(plain) } }
}))

const gunzip = async bytes => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer())

export { toBase64 }

/** What a CouchDB is sent. @type {import('../../core/mirror/peer.js').Codec} */
export const codec = {
  async bulkBody (docs) {
    return JSON.stringify({ new_edits: false, docs: await unpack(docs) }, (key, value) => value instanceof Uint8Array ? toBase64(value) : value)
  },
  // what is taken along is not asked for again for months: no wrong byte may get there
  check: docs => checkDigests(docs, data => digestOf(typeof data === 'string' ? fromBase64(data) : data))
}
