// Bytes of archives, unpacked within bounds: what unpacks to more than it may is refused before it is there.
import * as zlib from 'node:zlib'
import { promisify } from 'node:util'

// Node has zstd from 22.15 on
const zstd = /** @type {any} */ (zlib).zstdDecompress

/** @type {Record<string, (bytes: Uint8Array, options: {maxOutputLength: number}) => Promise<Buffer>>} */
const unpackers = {
  gzip: promisify(zlib.gunzip),
  brotli: promisify(zlib.brotliDecompress),
  deflate: promisify(zlib.inflateRaw),
  ...(zstd && { zstd: promisify(zstd) })
}

/** @param {string} compression */
export const canUnpack = compression => compression === 'none' || compression in unpackers

/**
 * @param {Uint8Array} bytes
 * @param {string} compression none, gzip, brotli, deflate or zstd
 * @param {number} most bytes it may have unpacked
 * @returns {Promise<Buffer>}
 */
export async function unpack (bytes, compression, most) {
  if (compression === 'none') {
    if (bytes.length > most) throw new Error(`it has more than ${most} bytes`)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
  try {
    return await unpackers[compression](bytes, { maxOutputLength: most })
  } catch (error) {
    throw new Error(error.code === 'ERR_BUFFER_TOO_LARGE' ? `it unpacks to more than ${most} bytes` : `it is no ${compression}: ${error.message}`, { cause: error })
  }
}
