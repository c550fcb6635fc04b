// From the body of an answer to the bytes of a tile, or to what is wrong with it. Nothing is believed of what the headers
// say about the type: the bytes say it themselves.
import { brotliDecompressSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib'
import { inspectTile } from '../../core/index.js'
import { headerOf } from './freshness.js'
import { exceptionText } from './wms.js'

const LOOKED_AT = 10000 // bytes of what is no image
const SHOWN = 60 // letters of it that an error repeats
const maxOutputLength = 64e6 // bytes: what unpacks to more is no tile
const gunzip = bytes => gunzipSync(bytes, { maxOutputLength })
const decoders = { gzip: gunzip, 'x-gzip': gunzip, deflate: bytes => inflateSync(bytes, { maxOutputLength }), br: bytes => brotliDecompressSync(bytes, { maxOutputLength }) }

const isGzip = bytes => bytes[0] === 0x1f && bytes[1] === 0x8b

/**
 * @param {{headers: import('./freshness.js').Headers, bytes: Buffer}} answer
 * @param {object} options
 * @param {boolean} options.vector the layer is of vector tiles, which are stored gzipped
 * @param {(text: string) => string} options.conceal takes out what nobody may see: servers repeat what they were sent
 * @returns {{bytes: Buffer, type: string} | {why: string}}
 */
export function tileFrom ({ headers, bytes }, { vector, conceal }) {
  let body = bytes
  try {
    body = unpack(bytes, headerOf(headers, 'content-encoding'), vector)
    return { bytes: body, type: inspectTile(body, { gunzip }).type }
  } catch (error) {
    if (error.code === 'EMPTY_IMAGE') return { why: 'its answer was empty' }
    if (error.code === 'TRUNCATED_IMAGE') return { why: error.message }
    return { why: error.code === 'UNKNOWN_IMAGE' ? describe(body, headers, conceal) : 'its answer cannot be unpacked' }
  }
}

/** What came instead of an image. Concealed before it is cut: half a key is too much as well. */
function describe (body, headers, conceal) {
  const text = conceal(body.subarray(0, LOOKED_AT).toString())
  const said = exceptionText(text)
  if (said) return `it says ${said}`
  const type = conceal(headerOf(headers, 'content-type') ?? 'of no type').slice(0, 80)
  const begin = text.slice(0, SHOWN)
  return `no image, but ${type}${/^[\t\r\n -~]*$/.test(begin) ? `: ${JSON.stringify(begin)}` : ''}`
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
