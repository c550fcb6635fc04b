// Attachments within JSON: base64, and the gzip in which CouchDB sends texts. Pages that show tiles do not load this.
import { unzip } from '../../core/images.js'

const PIECE = 0x6000 // bytes: a multiple of 3, and no more arguments than a call may have

/** @param {string} text */
export const fromBase64 = text => Uint8Array.from(atob(text), character => character.charCodeAt(0))

/** @param {any} bytes */
export function toBase64 (bytes) {
  if (bytes.toBase64) return bytes.toBase64() // browsers of 2025 on
  const pieces = []
  for (let offset = 0; offset < bytes.length; offset += PIECE) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(offset, offset + PIECE))))
  }
  return pieces.join('')
}

/**
 * Unzips attachments: CouchDB compresses text by itself, and sends it so.
 * @param {any[]} docs
 * @returns {Promise<any[]>}
 */
export const unpack = docs => Promise.all(docs.map(async doc => {
  const packed = Object.entries(doc._attachments ?? {})
    .filter(([, { encoding, data }]) => encoding === 'gzip' && data instanceof Uint8Array)
  if (!packed.length) return doc
  const attachments = { ...doc._attachments }
  for (const [name, { encoding, encoded_length: length, data, ...fields }] of packed) {
    attachments[name] = { ...fields, data: await unzip(data) }
  }
  return { ...doc, _attachments: attachments }
}))
