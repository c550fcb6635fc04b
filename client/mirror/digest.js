// Base64, and the MD5 digests that CouchDB keeps of attachments: browsers have no MD5 of their own.
import SparkMD5 from 'spark-md5'

const PIECE = 0x6000 // bytes: a multiple of 3, and no more arguments than a call may have

/** As documents name it. @param {Uint8Array} bytes */
export const digestOf = bytes => `md5-${btoa(SparkMD5.ArrayBuffer.hash(/** @type {any} */ (bytes), true))}`

/**
 * Whether an image is the one that the store names. Captive portals and proxies answer 200 with another image, and a
 * connection may cut one off and still give the right length.
 * @param {Blob} blob
 * @param {{bytes?: number, digest?: string}} expected digest: as documents name it; what is not known is not compared
 */
export async function isImageOf (blob, { bytes, digest }) {
  if (bytes !== undefined && blob.size !== bytes) return false
  return !digest || digestOf(new Uint8Array(await blob.arrayBuffer())) === digest
}

/** @param {string} text */
export const fromBase64 = text => Uint8Array.from(atob(text), character => character.charCodeAt(0))

/** @param {any} bytes */
export function toBase64 (bytes) {
  if (bytes.toBase64) return bytes.toBase64() // browsers of 2025 on
  const pieces = []
  for (let at = 0; at < bytes.length; at += PIECE) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE))))
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
  for (const [name, { encoding, encoded_length: length, data, ...about }] of packed) {
    attachments[name] = { ...about, data: await gunzip(data) }
  }
  return { ...doc, _attachments: attachments }
}))

async function gunzip (bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
