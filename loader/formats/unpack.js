// Unpacks tiles, parts of files and answers of servers. They are not trusted: a few kilobytes may become a gigabyte, so
// it stops at a limit. It works beside the main thread, and unpacks large contents one after the other.
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { inspectTile } from '../../core/index.js'
import { Semaphore } from '../../core/promises.js'
import { sourceLimits } from './reading.js'

export const unpackDefaults = {
  bytes: sourceLimits.tile, // of a tile at most, packed or unpacked
  alone: 4e6, // unpacked bytes from which on contents are unpacked one after the other
  small: 1e6 // unpacked bytes up to which another thread costs more than unpacking
}

const zstd = /** @type {any} */ (zlib).zstdDecompress // from Node 22.15 on

/** @type {Record<string, (bytes: Uint8Array, options: object) => Promise<Buffer>>} */
const decoders = {
  gzip: promisify(zlib.gunzip),
  deflate: promisify(zlib.inflate),
  brotli: promisify(zlib.brotliDecompress),
  ...(zstd && { zstd: promisify(zstd) })
}
const large = new Semaphore(1)

export const canUnpack = coding => coding === 'none' || Object.hasOwn(decoders, coding)

/**
 * @param {Uint8Array} bytes
 * @param {{limit?: number, coding?: string}} [options] limit: bytes; coding: see `decoders`, or none
 * @returns {Promise<Buffer>} rejects with ERR_BUFFER_TOO_LARGE beyond the limit
 */
export async function unpack (bytes, { limit = unpackDefaults.bytes, coding = 'gzip' } = {}) {
  const tooLarge = cause =>
    Object.assign(new Error(`it unpacks to more than ${limit} bytes`, { cause }), { code: 'ERR_BUFFER_TOO_LARGE' })
  if (coding === 'none') {
    if (bytes.length > limit) throw tooLarge()
    return bufferOf(bytes)
  }
  try {
    return await decode(decoders[coding], bytes, limit)
  } catch (error) {
    if (error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(error)
    throw Object.assign(new Error(`it is no ${coding}: ${error.message}`, { cause: error }), { code: error.code })
  }
}

async function decode (decoder, bytes, limit) {
  try {
    return await decoder(bytes, { maxOutputLength: Math.min(limit, unpackDefaults.alone) })
  } catch (error) {
    if (error.code !== 'ERR_BUFFER_TOO_LARGE' || limit <= unpackDefaults.alone) throw error
    return large.run(() => decoder(bytes, { maxOutputLength: limit, chunkSize: 2 ** 20 }))
  }
}

/** Vector tiles are stored in gzip. */
export const pack = promisify(zlib.gzip)

/** Bytes as a Buffer, without a copy. @param {Uint8Array} bytes */
export const bufferOf = bytes =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export const isGzip = bytes => bytes[0] === 0x1f && bytes[1] === 0x8b

/** Whether bytes are a vector tile without gzip: it begins with field 3, a layer. */
export const isRawVectorTile = bytes => bytes[0] === 0x1a

/**
 * The format of a tile, as inspectTile returns it. A vector tile is unpacked and inspected as well.
 * @returns {Promise<{type: string, ext: string}>}
 */
export async function inspectWhole (bytes) {
  if (!isGzip(bytes)) return inspectTile(bytes)
  const getInside = await insideOf(bytes).then(content => () => content, error => () => { throw error })
  return inspectTile(bytes, { gunzip: getInside })
}

/** Unpacks gzip that is mostly small: in this thread, up to a limit. */
export async function insideOf (bytes) {
  try {
    return zlib.gunzipSync(bytes, { maxOutputLength: unpackDefaults.small })
  } catch (error) {
    if (error.code !== 'ERR_BUFFER_TOO_LARGE') throw error
    return unpack(bytes)
  }
}
