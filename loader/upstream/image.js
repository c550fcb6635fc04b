// From the body of an answer to the bytes of a tile, or to what is wrong with it. Nothing is believed of what the headers
// say about the type: the bytes say it themselves.
import { brotliDecompressSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib'
import { inspectTile } from '../../core/index.js'
import { headerOf } from './freshness.js'
import { exceptionText } from './wms.js'

const maxOutputLength = 64e6 // bytes: what unpacks to more is no tile
const gunzip = bytes => gunzipSync(bytes, { maxOutputLength })
const decoders = { gzip: gunzip, 'x-gzip': gunzip, deflate: bytes => inflateSync(bytes, { maxOutputLength }), br: bytes => brotliDecompressSync(bytes, { maxOutputLength }) }

const isGzip = bytes => bytes[0] === 0x1f && bytes[1] === 0x8b

/**
 * @param {{headers: import('./freshness.js').Headers, bytes: Buffer}} answer
 * @param {{vector: boolean}} options vector: the layer is of vector tiles, which are stored gzipped
 * @returns {{bytes: Buffer, type: string} | {why: string}}
 */
export function tileFrom ({ headers, bytes }, { vector }) {
  let body = bytes
  try {
    body = unpack(bytes, headerOf(headers, 'content-encoding'), vector)
    return { bytes: body, type: inspectTile(body, { gunzip }).type }
  } catch (error) {
    const type = (headerOf(headers, 'content-type') ?? 'nothing said of its type').slice(0, 80)
    if (error.code === 'EMPTY_IMAGE') return { why: 'its answer was empty' }
    if (error.code === 'TRUNCATED_IMAGE') return { why: error.message }
    const said = error.code === 'UNKNOWN_IMAGE' && exceptionText(body.subarray(0, 10000).toString())
    return { why: said ? `it says ${said}` : error.code === 'UNKNOWN_IMAGE' ? `${error.message} (${type})` : 'its answer cannot be unpacked' }
  }
}

function unpack (bytes, encoding, vector) {
  const names = (encoding ?? '').toLowerCase().split(',').map(name => name.trim()).filter(name => name && name !== 'identity')
  // the packing of a vector tile is part of it
  if (vector && isGzip(bytes)) return bytes
  const body = names.reduceRight((packed, name) => {
    // some say gzip and send what they had
    if (!decoders[name] || (decoders[name] === gunzip && !isGzip(packed))) return packed
    return decoders[name](packed)
  }, bytes)
  return vector && body.length && !isGzip(body) ? gzipSync(body, { level: 9 }) : body
}
