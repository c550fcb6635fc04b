// From the body of an answer to the bytes of a tile, or to what is wrong with it. Nothing is believed of what the headers
// say about the type: the bytes say it themselves.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { inspectWhole, isGzip, unpack } from '../unpack.js'
import { headerOf } from './freshness.js'
import { exceptionText } from './wms.js'

const LOOKED_AT = 10000 // bytes of what is no image
const SHOWN = 60 // letters of it that an error repeats
const MOST_CODINGS = 2 // of a body, one inside the other: nobody needs more than one
const CODINGS = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', br: 'brotli' }
const pack = promisify(gzip)

/**
 * @param {{headers: import('./freshness.js').Headers, bytes: Buffer}} answer
 * @param {object} options
 * @param {boolean} options.vector the layer is of vector tiles, which are stored gzipped
 * @param {(text: string) => string} options.conceal takes out what nobody may see: servers repeat what they were sent
 * @param {number} [options.limit] bytes, unpacked
 * @returns {Promise<{bytes: Buffer, type: string} | {why: string}>}
 */
export async function tileFrom ({ headers, bytes }, { vector, conceal, limit }) {
  let body = bytes
  try {
    body = await decode(bytes, headerOf(headers, 'content-encoding'), { vector, limit })
    return { bytes: body, type: (await inspectWhole(body)).type }
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

async function decode (bytes, encoding, { vector, limit }) {
  // the packing of a vector tile is part of it
  if (vector && isGzip(bytes)) return bytes
  const names = (encoding ?? '').toLowerCase().split(',').map(name => name.trim()).filter(name => Object.hasOwn(CODINGS, name))
  if (names.length > MOST_CODINGS) throw new Error('packed too often')
  let body = bytes
  for (const name of names.reverse()) {
    const coding = CODINGS[name]
    // some say gzip and send what they had
    if (coding !== 'gzip' || isGzip(body)) body = await unpack(body, { coding, limit })
  }
  return vector && body.length && !isGzip(body) ? pack(body, { level: 9 }) : body
}
