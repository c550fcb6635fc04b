// Verifies that an image is the one that the store names. Captive portals and proxies answer 200 with another image,
// and a connection may cut one off and still give the right length.
import { digestOf } from '../mirror/digest.js'

/**
 * @param {Blob} blob
 * @param {{bytes?: number, digest?: string}} expected digest: as documents name it; what is not known is not compared
 */
export async function isImageOf (blob, { bytes, digest }) {
  if (bytes !== undefined && blob.size !== bytes) return false
  return !digest || digestOf(new Uint8Array(await blob.arrayBuffer())) === digest
}
