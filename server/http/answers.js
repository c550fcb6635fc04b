// Parts that answers share: headers that keep them harmless in a browser, ETags, ranges, content codings, JSON.
import { hash } from 'node:crypto'
import { sharePromise } from '../../core/promises.js'
import { TilecouchError } from '../../loader/errors.js'
import { pack } from '../../loader/formats/unpack.js'
import { cacheControlWith } from './addresses.js'

/**
 * Headers of every answer, so that no content of a store can act as a page of the gateway. Browsers do not guess its
 * type. A page runs no script, sends no form and has no origin. The viewer has another policy.
 */
export const SAFE_HEADERS = Object.freeze({ 'Content-Security-Policy': 'sandbox', 'X-Content-Type-Options': 'nosniff' })

/** SAFE_HEADERS as a list: name and value in turn. */
export const SAFE_HEADER_LIST = Object.freeze(Object.entries(SAFE_HEADERS).flat())

/** Sets SAFE_HEADERS on an answer whose other headers are written elsewhere. */
export function setSafeHeaders (res) {
  for (const [name, value] of Object.entries(SAFE_HEADERS)) res.setHeader(name, value)
}

/** Adds a value to the header Vary, before earlier values. */
export function addVary (res, value) {
  res.setHeader('Vary', [...new Set([value, res.getHeader('vary') ?? []].flat())])
}

/**
 * Calls a function just before the head of an answer is written, when all its headers are set: a rule for headers that
 * no route can forget. A Vary of the route is added to those that were set before.
 * @param {import('node:http').ServerResponse} res its headers are not written yet @param {() => void} [change]
 */
export function beforeHead (res, change) {
  const { writeHead } = res
  res.writeHead = /** @type {any} */ ((status, ...args) => {
    res.writeHead = writeHead
    const headers = typeof args.at(-1) === 'object' ? args.pop() : {}
    for (const [name, value] of pairsOf(headers)) {
      if (/^vary$/i.test(name)) addVary(res, value)
      else res.setHeader(name, value)
    }
    change?.()
    return res.writeHead(status, ...args)
  })
}

/** Headers as pairs: routes write flat lists and objects. @returns {[string, any][]} */
function pairsOf (headers) {
  if (!Array.isArray(headers)) return Object.entries(headers)
  return Array.from({ length: headers.length / 2 }, (_, index) => [headers[2 * index], headers[2 * index + 1]])
}

/** Aborts when the client has left, or has its answer. @returns {AbortController} */
export function abortOnClose (res) {
  const controller = new AbortController()
  res.once('close', () => controller.abort(CLOSED))
  return controller
}

const CLOSED = new Error('the connection to the client is closed') // made once: an error costs some microseconds

/**
 * Whether an If-None-Match names this ETag: then the client has the body already. If-Modified-Since is ignored: after
 * a removal an older version is the answer, and two versions may come in one second.
 * @param {string} etag strong, quoted
 */
export function matchesEtag (header, etag) {
  if (header === undefined) return false
  if (header === etag || header.trim() === '*') return true
  return header.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
}

/**
 * Parses the weight of each value that a client accepts: from 0, which refuses it, to 1, the default.
 * @param {string} [header] Accept-Encoding or Accept-Language @returns {Map<string, number>}
 */
export function weightsOf (header = '') {
  if (header.length > 1000) return new Map() // no browser sends that
  return new Map(header.toLowerCase().split(',').map(part => {
    const [name, ...parameters] = part.split(';').map(text => text.trim())
    const weight = parameters.find(text => text.startsWith('q='))
    return [name, weight === undefined ? 1 : Number(weight.slice(2))]
  }))
}

/**
 * Whether a client takes a content coding: it names it, or everything, and does not give it weight 0.
 * @param {string | undefined} header Accept-Encoding
 */
export function acceptsCoding (header, coding) {
  const weights = weightsOf(header)
  return (weights.get(coding) ?? weights.get('*') ?? 0) > 0
}

export const etagOf = bytes => `"${hash('md5', bytes, 'base64')}"`

export const hasBody = ({ headers }) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0

export function sendBody (req, res, status, headers, body) {
  res.writeHead(status, { ...headers, 'Content-Length': body.length })
  res.end(req.method === 'HEAD' ? undefined : body)
}

/**
 * Like sendBody, but sends 304 if the client has the body already, or the range of it that the client asks for.
 * @param {object} whole headers that a 304 does not have
 */
export function sendTagged (req, res, etag, headers, whole, body) {
  const common = { ETag: etag, ...headers }
  if (matchesEtag(req.headers['if-none-match'], etag)) return void res.writeHead(304, common).end()
  const fullHeaders = { ...common, 'Accept-Ranges': 'bytes', ...whole }
  const range = rangeOf(req, body.length, etag)
  if (range) {
    sendBody(req, res, 206, { ...fullHeaders, 'Content-Range': range.header }, body.subarray(range.start, range.end))
  } else sendBody(req, res, 200, fullHeaders, body)
}

/** Bytes below which compressing gains nothing. */
export const SMALL = 1000

export const XML = Object.freeze({ 'Content-Type': 'application/xml; charset=utf-8' })

/** Compressed bodies, kept as long as the bodies. @type {WeakMap<Buffer, Promise<Buffer>>} */
const packedBodies = new WeakMap()

/**
 * Sends a text as sendTagged does, compressed where the client accepts gzip. The compressed bytes have an ETag of their
 * own. A request for a range gets a part of the uncompressed bytes.
 */
export async function sendCompressed (req, res, etag, headers, whole, body) {
  if (body.length >= SMALL) res.appendHeader('Vary', 'Accept-Encoding')
  const isPlain = body.length < SMALL || req.headers.range !== undefined
  if (isPlain || !acceptsCoding(req.headers['accept-encoding'], 'gzip')) {
    return sendTagged(req, res, etag, headers, whole, body)
  }
  const packedEtag = `${etag.slice(0, -1)}-gzip"`
  const isKnown = matchesEtag(req.headers['if-none-match'], packedEtag)
  const packed = isKnown ? body : await sharePromise(packedBodies, body, () => pack(body))
  if (!res.destroyed) sendTagged(req, res, packedEtag, headers, { ...whole, 'Content-Encoding': 'gzip' }, packed)
}

// for several ranges, other units and invalid ranges clients get the whole body, as RFC 9110 allows
const RANGE = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i

/**
 * The part of a body that a GET asks for; undefined: the whole body. An If-Range with another ETag means that the
 * client has a part of another body. A date is no proof: there may be two bodies in one second.
 * @param {{method?: string, headers: import('node:http').IncomingHttpHeaders}} req
 * @param {number} length of the body, in bytes
 * @returns {{start: number, end: number, header: string} | undefined} end: exclusive; header: the Content-Range
 */
export function rangeOf ({ method, headers }, length, etag) {
  if (headers.range === undefined || method !== 'GET') return
  const [, first, last] = RANGE.exec(headers.range) ?? []
  if (!first && !last) return
  const condition = headers['if-range']
  if (condition !== undefined && condition !== etag) return
  if (first && last && +last < +first) return
  const start = first ? +first : Math.max(0, length - +last) // -500: the last 500 bytes
  const end = first && last ? Math.min(+last + 1, length) : length
  if (start >= end) throw new TilecouchError('BAD_RANGE', { value: headers.range, length })
  return { start, end, header: `bytes ${start}-${end - 1}/${length}` }
}

/**
 * Sends an XML document with links below a base.
 * @param {import('./addresses.js').PublicUrl} url @param {string} cacheControl @param {string} text
 * @param {object} [headers] further ones
 */
export function sendXml (req, res, url, cacheControl, text, headers) {
  const bytes = Buffer.from(text)
  const caching = { 'Cache-Control': cacheControlWith(url, cacheControl) }
  return sendCompressed(req, res, etagOf(bytes), caching, { ...XML, ...headers }, bytes)
}

/** For answers that change with every write: clients ask again each time, and mostly get a 304. */
export const REVALIDATE = 'public, max-age=0, must-revalidate'

/** For answers made from a layer document or a style, which hardly ever change. */
export const KEEP = 'public, max-age=60, stale-while-revalidate=3600'

/**
 * Sends a value as JSON. Cacheable answers may be compressed, and are then sent later.
 * @param {any} req @param {any} res @param {any} value
 * @param {{status?: number, cacheControl?: string, type?: string, url?: import('./addresses.js').PublicUrl}} [options]
 *   url: the base of links in it
 * @returns {void | Promise<void>}
 */
export function sendJson (req, res, value, options = {}) {
  const { status = 200, cacheControl = REVALIDATE, type: mediaType = 'application/json', url } = options
  const body = Buffer.from(`${JSON.stringify(value)}\n`)
  const headers = { 'Cache-Control': url ? cacheControlWith(url, cacheControl) : cacheControl }
  const type = { 'Content-Type': mediaType }
  const isCacheable = status === 200 && cacheControl !== 'no-store'
  if (isCacheable) return sendCompressed(req, res, etagOf(body), headers, type, body)
  sendBody(req, res, status, { ...headers, ...type }, body)
}
