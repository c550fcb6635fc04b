// The MD5 digests that CouchDB keeps of attachments: browsers have no MD5 of their own.
import SparkMD5 from 'spark-md5'

/** The digest of an attachment, as in documents. @param {Uint8Array} bytes */
export const digestOf = bytes => `md5-${btoa(SparkMD5.ArrayBuffer.hash(/** @type {any} */ (bytes), true))}`

/**
 * Whether an image is the one that the store names. Captive portals and proxies answer 200 with another image, and a
 * connection may cut one off and still give the right length.
 * @param {Blob} blob
 * @param {{bytes?: number, digest?: string}} expected digest: as in documents; an unknown field is not compared
 */
export async function isImageOf (blob, { bytes, digest }) {
  if (bytes !== undefined && blob.size !== bytes) return false
  return !digest || digestOf(new Uint8Array(await blob.arrayBuffer())) === digest
}
