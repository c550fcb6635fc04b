// A tile as an answer. The headers are one flat list and the body one buffer: this is what the gateway does all day.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { TilecouchError, endOf, formats } from '../../core/index.js'
import { blankTile } from './blank.js'
import { isKnown } from './etags.js'
import { sendError } from './failure.js'
import { UNKNOWN } from './entry.js'
import { SAFE_LIST } from './safe.js'
import { accepts } from './codings.js'

/** Seconds clients keep the news that there is no tile: long enough that the edges of a map are not asked for again with every move. */
const MISSING_AGE = 60

const [POLICY, SANDBOX, TYPE_OPTIONS, NOSNIFF] = SAFE_LIST // one by one: to spread the list takes 0.3 µs for each tile
const MVT = formats.mvt.type
const MOST_UNPACKED = 64e6 // bytes; what unpacks to more than this is no tile

/**
 * @typedef {object} Entry
 * @property {string} id
 * @property {string} rev
 * @property {string} time
 * @property {number} expiresAt milliseconds; Infinity: never
 * @property {string} type
 * @property {Buffer} bytes
 * @property {string} etag quoted
 * @property {string} lastModified an HTTP date
 *
 * @typedef {{entry: Entry, outcome: string}} Found
 * @typedef {import('./router.js').AskedTile} AskedTile
 * @typedef {import('node:http').IncomingMessage} Request
 * @typedef {import('node:http').ServerResponse & {outcome?: string, sent?: number}} Response outcome, sent: for metrics and log
 */

/** How long clients and the caches between may keep an answer. */
export class CachePolicy {
  #tail
  #steady
  #missing

  /** @param {Record<string, any>} options of the gateway */
  constructor ({ maxAge, staleWhileRevalidate, staleIfError }) {
    this.#tail = (staleWhileRevalidate > 0 ? `, stale-while-revalidate=${staleWhileRevalidate}` : '') + (staleIfError > 0 ? `, stale-if-error=${staleIfError}` : '')
    this.#steady = `public, max-age=${maxAge}${this.#tail}`
    this.#missing = `public, max-age=${Math.min(MISSING_AGE, maxAge)}`
  }

  get missing () {
    return this.#missing
  }

  /**
   * No time names bytes for ever: what it shows may be removed, filled in or resolved. Addresses that do are below /db, with a revision.
   * @param {AskedTile} asked @param {Found} found
   */
  of ({ time }, { entry, outcome }) {
    const holds = entry.expiresAt === Infinity && outcome !== 'stale'
    if (holds || (time !== undefined && !isToCome(time))) return this.#steady // what expires is the present
    const left = outcome === 'stale' ? 0 : Math.floor((entry.expiresAt - Date.now()) / 1000)
    return `public, max-age=${left > 0 ? left : 0}${this.#tail}`
  }
}

/** Whether the map as of a time is the present one. @param {string} time as written */
const isToCome = time => Date.parse(endOf(time)) >= Date.now()

/**
 * @param {any} ctx @param {AskedTile} asked @param {Request} req @param {Response} res @param {Found} found
 * @returns {void | Promise<void>} nothing when the answer is given
 */
export function sendTile (ctx, asked, req, res, found) {
  const { type, bytes, etag } = found.entry
  if (type === UNKNOWN) throw new TilecouchError('UNKNOWN_IMAGE', { value: bytes.subarray(0, 8).toString('hex') })
  if (type !== MVT || bytes[0] !== 0x1f || bytes[1] !== 0x8b) return send(ctx, asked, req, res, found, etag, bytes, PLAIN)
  if (takesGzip(req.headers['accept-encoding'])) return send(ctx, asked, req, res, found, etag, bytes, GZIPPED)
  return sendUnpacked(ctx, asked, req, res, found)
}

/** What the content coding adds to an answer, and to the news that it has not changed. */
const PLAIN = { whole: [], unchanged: [] }
const UNPACKED = { whole: ['Vary', 'Accept-Encoding'], unchanged: ['Vary', 'Accept-Encoding'] }
const GZIPPED = { whole: ['Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding'], unchanged: UNPACKED.unchanged }

/** A vector tile for the few who do not take it as it is stored. These are other bytes, so they have an ETag of their own. */
async function sendUnpacked (ctx, asked, req, res, found) {
  const { entry } = found
  const etag = `${entry.etag.slice(0, -1)}-plain"`
  const body = isKnown(req.headers['if-none-match'], etag) ? entry.bytes : await unpack(entry)
  if (!res.destroyed) send(ctx, asked, req, res, found, etag, body, UNPACKED)
}

function send (ctx, asked, req, res, found, etag, body, coding) {
  const { entry, outcome } = found
  const { headers, method } = req
  const common = [
    'ETag', etag,
    'Last-Modified', entry.lastModified,
    'Cache-Control', ctx.policy.of(asked, found),
    'X-Tilecouch-Time', entry.time,
    'X-Tilecouch-Cache', outcome,
    POLICY, SANDBOX, TYPE_OPTIONS, NOSNIFF,
    ...ctx.cors.headers(headers.origin)
  ]
  res.outcome = outcome
  if (isKnown(headers['if-none-match'], etag)) {
    common.push(...coding.unchanged)
    res.writeHead(304, common).end()
    return
  }
  common.push('Content-Type', entry.type, 'Content-Length', `${body.length}`, ...coding.whole)
  res.writeHead(200, common)
  if (method === 'HEAD') {
    res.end()
    return
  }
  res.sent = body.length
  res.end(body)
}

const gunzipAsync = promisify(gunzip)

async function unpack ({ bytes, type }) {
  try {
    return await gunzipAsync(bytes, { maxOutputLength: MOST_UNPACKED })
  } catch (error) {
    throw new TilecouchError('TRUNCATED_IMAGE', { type, why: error.message }, { cause: error })
  }
}

/** Weights are rare, and cost more to read than the rest. */
const takesGzip = (header = '') => header.includes(';') ? accepts(header, 'gzip') : /\bgzip\b|\*/i.test(header)

/**
 * There is no such tile in a layer that is there.
 * @param {any} ctx @param {Request} req @param {Response} res
 * @param {TilecouchError} error
 * @param {Record<string, any>} layer
 */
export async function sendMissing (ctx, req, res, error, { format, tileSize = 256 }) {
  const { missing } = ctx.options
  const vector = format === formats.mvt.ext
  const empty = missing === '204' || (vector && missing !== '404')
  const blank = missing === 'transparent' && !vector ? await blankTile(tileSize) : undefined
  if (res.destroyed) return
  const headers = ['Cache-Control', ctx.policy.missing, ...ctx.cors.headers(req.headers.origin)]
  res.outcome = 'missing'
  if (blank) {
    res.writeHead(200, ['Content-Type', formats.png.type, 'Content-Length', `${blank.length}`, ...SAFE_LIST, ...headers])
    res.end(req.method === 'HEAD' ? undefined : blank)
  } else if (empty) {
    res.writeHead(204, [...SAFE_LIST, ...headers]).end()
  } else {
    sendError(req, res, error, headers)
  }
}
