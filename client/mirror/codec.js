// Attachments as browsers hand them on: bytes as they came, base64 where a CouchDB is written to.
import { checkDigests } from '../../core/mirror/index.js'
import { md5 } from './md5.js'

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

/** What a CouchDB is sent. @type {import('../../core/mirror/peer.js').Codec} */
export const codec = {
  async bulkBody (docs) {
    return JSON.stringify({ new_edits: false, docs: await unpack(docs) }, (key, value) => value instanceof Uint8Array ? toBase64(value) : value)
  },
  // what is taken along is not asked for again for months: no wrong byte may get there
  check: docs => checkDigests(docs, data => `md5-${toBase64(md5(typeof data === 'string' ? fromBase64(data) : data))}`)
}

const fromBase64 = text => Uint8Array.from(atob(text), character => character.charCodeAt(0))

const PIECE = 0x6000 // bytes: a multiple of 3, and no more arguments than a call may have

/** @param {any} bytes */
export function toBase64 (bytes) {
  if (bytes.toBase64) return bytes.toBase64() // browsers of 2025 on
  const pieces = []
  for (let at = 0; at < bytes.length; at += PIECE) pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE))))
  return pieces.join('')
}
