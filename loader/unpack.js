// Packed bytes of others, unpacked. A few kilobytes may become a gigabyte: unpacking stops at a ceiling, goes on beside the main
// thread, which has others to serve meanwhile, and what becomes large waits until it is alone.
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import PQueue from 'p-queue'
import { inspectTile } from '../core/index.js'
import { sourceLimits } from './sources/limits.js'

export const unpackDefaults = {
  bytes: sourceLimits.tile, // a tile of more, packed or unpacked, is none
  alone: 4e6, // unpacked bytes from which on it waits for others of its size
  small: 1e6 // unpacked bytes up to which a thread of its own costs more than unpacking
}

const decoders = { gzip: promisify(zlib.gunzip), deflate: promisify(zlib.inflate), br: promisify(zlib.brotliDecompress) }
const large = new PQueue({ concurrency: 1 })

/**
 * @param {Buffer} bytes
 * @param {{limit?: number, coding?: string}} [options] limit: bytes
 * @returns {Promise<Buffer>} rejects with ERR_BUFFER_TOO_LARGE beyond the limit
 */
export async function unpack (bytes, { limit = unpackDefaults.bytes, coding = 'gzip' } = {}) {
  const decode = decoders[coding]
  try {
    return await decode(bytes, { maxOutputLength: Math.min(limit, unpackDefaults.alone) })
  } catch (error) {
    if (error.code !== 'ERR_BUFFER_TOO_LARGE' || limit <= unpackDefaults.alone) throw error
    return large.add(() => decode(bytes, { maxOutputLength: limit, chunkSize: 2 ** 20 }))
  }
}

export const isGzip = bytes => bytes[0] === 0x1f && bytes[1] === 0x8b

/**
 * The format of a tile, as inspectTile says it, with the inside of a vector tile looked at.
 * @param {Buffer} bytes
 * @returns {Promise<{type: string, ext: string}>}
 */
export async function inspectWhole (bytes) {
  if (!isGzip(bytes)) return inspectTile(bytes)
  const inside = await insideOf(bytes).then(content => () => content, error => () => { throw error })
  return inspectTile(bytes, { gunzip: inside })
}

async function insideOf (bytes) {
  try {
    return zlib.gunzipSync(bytes, { maxOutputLength: unpackDefaults.small })
  } catch (error) {
    if (error.code !== 'ERR_BUFFER_TOO_LARGE') throw error
    return unpack(bytes)
  }
}
