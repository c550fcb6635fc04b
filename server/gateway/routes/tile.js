// Answers requests for tiles: at once from memory, else when the store or the upstream has answered. Nearly all
// requests are for tiles, so the headers are one flat list and the body is one buffer.
import { LRUCache } from 'lru-cache'
import { timeoutSignal } from '../../../core/promises.js'
import { endOf, formats } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'
import { isGzip, unpack } from '../../../loader/formats/unpack.js'
import { fillingOr, refuseIfIncomplete } from '../incomplete-edge.js'
import { sendError } from '../errors.js'
import { SAFE_HEADER_LIST, abortOnClose, acceptsCoding, matchesEtag, rangeOf } from '../../http/answers.js'
import { UNKNOWN } from '../tiles/entry.js'
import { toXyz } from './numbering.js'

/** Milliseconds until a client gets 503. Its fetch continues, so that a later request finds the tile. */
export const TILE_TIMEOUT = 60000

/** Seconds clients keep a 404: long enough not to request the edges of a map with every move. */
const MISSING_AGE = 60

const MISSING_CODES = new Set(['TILE_NOT_FOUND', 'NOT_KEPT'])

const [POLICY, SANDBOX, TYPE_OPTIONS, NOSNIFF] = SAFE_HEADER_LIST // to spread the list takes 0.3 µs for each tile
const MVT = formats.mvt.type
const MOST_UNPACKED = 64e6 // bytes of an unpacked vector tile
const MOST_HELD = 256e6 // bytes of all unpacked vector tiles that are being sent

/**
 * @typedef {import('../tiles/entry.js').Entry & {bytes: Buffer}} Entry
 * @typedef {{entry: Entry, outcome: string}} TileAnswer
 * @typedef {import('../router.js').TileTarget} TileTarget
 * @typedef {import('node:http').IncomingMessage} Request
 * @typedef {import('node:http').ServerResponse & {outcome?: string, sent?: number}} Response outcome, sent: for metrics
 *   and log
 */

/** Returns a promise only if the answer has to wait. @type {import('../dispatch.js').Route<TileTarget>} */
export function tile (ctx, target, req, res) {
  if (target.numbering !== undefined) return toXyz(ctx, target).then(xyzTarget => tile(ctx, xyzTarget, req, res))
  const hit = /** @type {TileAnswer} */ (ctx.tiles.peek(target.layer, target.z, target.x, target.y, target.time))
  return hit ? sendTile(ctx, target, req, res, hit) : waitForTile(ctx, target, req, res)
}

async function waitForTile (ctx, target, req, res) {
  const { layer, z, x, y, time } = target
  refuseIfIncomplete(ctx, target)
  const wait = timeoutSignal(ctx.tileTimeout, abortOnClose(res).signal)
  try {
    const answer = await ctx.tiles.get(layer, z, x, y, time, { signal: wait.signal })
    if (!res.destroyed) await sendTile(ctx, target, req, res, answer)
  } catch (error) {
    const why = `no tile within ${ctx.tileTimeout / 1000} seconds`
    if (wait.isOver) throw new TilecouchError('UNREACHABLE', { url: 'the store', why }, { cause: error })
    const failure = fillingOr(ctx, error)
    if (!MISSING_CODES.has(failure.code)) throw failure
    await sendMissing(ctx, target, req, res, error, await ctx.layers.get(layer))
  } finally {
    wait.end()
  }
}

/** How long clients and caches may keep an answer. */
export class CachePolicy {
  #tail

  /** @param {Record<string, any>} options of the gateway */
  constructor ({ maxAge, staleWhileRevalidate, staleIfError }) {
    this.#tail = (staleWhileRevalidate > 0 ? `, stale-while-revalidate=${staleWhileRevalidate}` : '') +
      (staleIfError > 0 ? `, stale-if-error=${staleIfError}` : '')
    this.steady = `public, max-age=${maxAge}${this.#tail}`
    this.missing = `public, max-age=${Math.min(MISSING_AGE, maxAge)}`
  }

  /**
   * The bytes of an address with a time may change: a version may be removed, filled in or resolved. Only addresses
   * below /db with a revision never change.
   * @param {TileTarget} target @param {TileAnswer} answer
   */
  of ({ time }, { entry, outcome }) {
    const isFresh = entry.expiresAt === Infinity && outcome !== 'stale'
    // past versions do not expire
    if (isFresh || (time !== undefined && Date.parse(endOf(time)) < Date.now())) return this.steady
    const age = outcome === 'stale' ? 0 : Math.floor((entry.expiresAt - Date.now()) / 1000)
    return `public, max-age=${age > 0 ? age : 0}${this.#tail}`
  }
}

/** @param {TileTarget} target @param {TileAnswer} answer @returns {void | Promise<void>} */
function sendTile (ctx, target, req, res, answer) {
  const { type, bytes, etag } = answer.entry
  if (type === UNKNOWN) throw new TilecouchError('UNKNOWN_IMAGE', { value: bytes.subarray(0, 8).toString('hex') })
  if (type !== MVT || !isGzip(bytes)) return send(ctx, target, req, res, answer, etag, bytes, PLAIN)
  if (acceptsGzip(req.headers['accept-encoding'])) return send(ctx, target, req, res, answer, etag, bytes, GZIPPED)
  return sendUnpacked(ctx, target, req, res, answer)
}

/** Headers of a content coding, for an answer and for a 304. */
const PLAIN = { full: [], unchanged: [] }
const UNPACKED = { full: ['Vary', 'Accept-Encoding'], unchanged: ['Vary', 'Accept-Encoding'] }
const GZIPPED = { full: ['Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding'], unchanged: UNPACKED.unchanged }

/** Sends a vector tile to a client without gzip. Unpacked bytes need another ETag. */
async function sendUnpacked (ctx, target, req, res, answer) {
  if (res.destroyed) return // 'close' has been emitted: nothing would release the copy
  const { entry } = answer
  const etag = `${entry.etag.slice(0, -1)}-plain"`
  const body = matchesEtag(req.headers['if-none-match'], etag) ? entry.bytes : await unpacked.take(entry, res)
  if (!res.destroyed) send(ctx, target, req, res, answer, etag, body, UNPACKED)
}

function send (ctx, target, req, res, answer, etag, body, coding) {
  const { entry, outcome } = answer
  const { headers, method } = req
  const common = [
    'ETag', etag,
    'Last-Modified', entry.lastModified,
    'Cache-Control', ctx.policy.of(target, answer),
    'X-Tilecouch-Time', entry.time,
    'X-Tilecouch-Cache', outcome,
    POLICY, SANDBOX, TYPE_OPTIONS, NOSNIFF,
    ...ctx.cors.headers(headers.origin)
  ]
  res.outcome = outcome
  if (matchesEtag(headers['if-none-match'], etag)) {
    common.push(...coding.unchanged)
    return void res.writeHead(304, common).end()
  }
  const range = headers.range === undefined ? undefined : rangeOf(req, body.length, etag)
  const part = range ? body.subarray(range.start, range.end) : body
  const length = `${part.length}`
  common.push('Content-Type', entry.type, 'Content-Length', length, 'Accept-Ranges', 'bytes', ...coding.full)
  if (range) common.push('Content-Range', range.header)
  res.writeHead(range ? 206 : 200, common)
  if (method === 'HEAD') return void res.end()
  res.sent = part.length
  res.end(part)
}

/**
 * Unpacked copies of tiles that are being sent. Clients that request the same tile share one copy. The copies together
 * have a limit. A slow client keeps only its own copy in memory.
 */
export class Unpacked {
  /** By the packed bytes. @type {Map<Buffer, {users: number, length: number, body: Promise<Buffer>}>} */
  #copies = new Map()
  #heldBytes = 0
  /** @type {Promise<any>} */
  #last = Promise.resolve()

  /** @param {{most?: number, mostHeld?: number}} [limits] bytes of one tile, and of all that are being sent */
  constructor ({ most = MOST_UNPACKED, mostHeld = MOST_HELD } = {}) {
    this.most = most
    this.mostHeld = mostHeld
  }

  /** @param {Entry} entry @param {Response} res the copy is kept until it ends @returns {Promise<Buffer>} */
  take ({ bytes, type }, res) {
    const copy = this.#copies.get(bytes) ?? { users: 0, length: 0, body: Promise.resolve(bytes) }
    if (!copy.users++) {
      this.#copies.set(bytes, copy)
      copy.body = this.#last.then(() => this.#unpack(copy, bytes, type))
      this.#last = copy.body.catch(() => this.#forget(bytes, copy)) // the next client tries again
    }
    res.once('close', () => {
      if (--copy.users) return
      this.#forget(bytes, copy)
      this.#heldBytes -= copy.length
    })
    return copy.body
  }

  #forget (bytes, copy) {
    if (this.#copies.get(bytes) === copy) this.#copies.delete(bytes)
  }

  async #unpack (copy, bytes, type) {
    if (!copy.users) throw new TilecouchError('ABORTED') // all clients have left
    const freeBytes = Math.min(this.most, this.mostHeld - this.#heldBytes)
    try {
      const body = await unpack(bytes, { limit: Math.max(1, freeBytes) })
      if (copy.users) this.#heldBytes += copy.length = body.length
      return body
    } catch (error) {
      const isFull = error.code === 'ERR_BUFFER_TOO_LARGE' && freeBytes < this.most
      if (isFull) throw new TilecouchError('BUSY', { why: 'too many tiles are being unpacked' }, { cause: error })
      throw new TilecouchError('TRUNCATED_IMAGE', { type, why: error.message }, { cause: error })
    }
  }
}

const unpacked = new Unpacked()

/** Whether a client accepts gzip. Headers with weights are rare, and slower to parse. */
const acceptsGzip = (header = '') => header.includes(';') ? acceptsCoding(header, 'gzip') : /\bgzip\b|\*/i.test(header)

/**
 * Answers that an existing layer has no such tile.
 * @param {import('../dispatch.js').Context} ctx @param {TileTarget} target @param {Request} req @param {Response} res
 * @param {TilecouchError} error @param {Record<string, any>} layer
 */
async function sendMissing (ctx, target, req, res, error, { format, tileSize = 256 }) {
  const missing = ctx.options.missing === 'auto' ? target.missing : ctx.options.missing
  const isVector = format === formats.mvt.ext
  const isEmpty = missing === '204' || (isVector && missing !== '404')
  const blank = missing === 'transparent' && !isVector ? await blankTiles.fetch(tileSize) : undefined
  if (res.destroyed) return
  const headers = ['Cache-Control', ctx.policy.missing, ...ctx.cors.headers(req.headers.origin)]
  res.outcome = 'missing'
  if (blank) {
    const body = ['Content-Type', formats.png.type, 'Content-Length', `${blank.length}`]
    res.writeHead(200, [...body, ...SAFE_HEADER_LIST, ...headers])
    res.end(req.method === 'HEAD' ? undefined : blank)
  } else if (isEmpty) {
    res.writeHead(204, [...SAFE_HEADER_LIST, ...headers]).end()
  } else {
    sendError(req, res, error, headers)
  }
}

const MOST_BLANK = 16 // sizes kept; layers have only one or two sizes

/** Transparent PNGs by their pixels a side, for clients that need an image. @type {LRUCache<number, any>} */
const blankTiles = new LRUCache({ max: MOST_BLANK, fetchMethod: makeBlank })

async function makeBlank (size) {
  const { default: sharp } = await import('sharp') // most gateways do not need it
  const background = { r: 0, g: 0, b: 0, alpha: 0 }
  return sharp({ create: { width: size, height: size, channels: 4, background } }).png({ palette: true }).toBuffer()
}
