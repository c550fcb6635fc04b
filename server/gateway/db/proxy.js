// Forwards requests to the store's database with the gateway's own credentials, and streams the answers back.
import { setMaxListeners } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { Pool } from 'undici'
import { jsonOf } from '../../../core/values.js'
import { AddressLimit, clientAddress } from '../../http/addresses.js'
import { SAFE_HEADERS, abortOnClose, acceptsCoding, rangeOf, sendBody } from '../../http/answers.js'
import { collect } from '../../http/body.js'
import { HttpError, notFound, unavailable } from '../../http/errors.js'

const proxyDefaults = {
  connections: 96, // to the store, for requests that are answered at once; further ones wait
  waiting: 2000, // requests that wait for one of these connections, and as many for those of images
  readsEach: 64, // of these requests, under way or waiting, for one client address
  images: 48, // connections for answers with images in JSON, which can be hundreds of MB; further ones wait
  imagesEach: 24, // of these requests, under way or waiting, for one client address
  longest: 1800000, // milliseconds such an answer may take from its first byte on
  feeds: 500, // open at a time; each is a connection to the store
  feedsEach: 64, // for one client address; none of these limits counts a proxy on this machine
  connectTimeout: 5000, // milliseconds for the store to take a connection
  timeout: 30000, // milliseconds for a document or an image to begin, and for pauses in it
  longTimeout: 600000, // milliseconds for other answers: a view may have to be built first, a feed waits
  mostChanged: 8e6, // bytes of an answer that is filtered for the visitor, and so read completely
  stall: 30000 // milliseconds without progress of an answer: others wait for its connection to the store
}

// Headers that are passed on: no credentials, no cookies, and none that belongs to one connection
const REQUEST_HEADERS = ['accept', 'if-none-match']
const ANSWER_HEADERS = [
  'content-type', 'content-length', 'content-encoding', 'content-range', 'content-md5', 'accept-ranges', 'etag',
  'last-modified', 'cache-control'
]

export const IMMUTABLE = 'public, max-age=31536000, immutable'

export class DatabaseProxy {
  #access
  /**
   * Each kind has its own connections, so that none delays the others.
   * @type {Record<'reads' | 'images' | 'feeds', {pool: Pool, limit: AddressLimit, error: () => Error}>}
   */
  #pools

  /**
   * @param {import('../../../loader/store/couch.js').Couch} couch
   * @param {Partial<typeof proxyDefaults> & {log?: any, signal?: AbortSignal, trustProxy?: boolean}} [options] signal:
   *   aborts when the gateway ends, and ends all feeds
   */
  constructor (couch, { log, signal = new AbortController().signal, trustProxy = false, ...options } = {}) {
    this.options = { ...proxyDefaults, ...options }
    this.trustProxy = trustProxy
    this.log = log
    this.signal = signal
    this.#access = couch.access
    setMaxListeners(0, signal) // one listener for each feed
    const { connections, waiting, readsEach, images, imagesEach, feeds, feedsEach, connectTimeout } = this.options
    const connect = { timeout: connectTimeout }
    const poolOf = (most, limit, reason = 'too many requests at once') => ({
      pool: new Pool(this.#access.origin, { connect, pipelining: 1, keepAliveTimeout: 20000, connections: most }),
      limit: new AddressLimit(limit),
      error: () => unavailable(429, reason)
    })
    this.#pools = {
      reads: poolOf(connections, { most: connections + waiting, each: readsEach }),
      images: poolOf(images, { most: images + waiting, each: imagesEach }),
      feeds: poolOf(feeds, { most: feeds, each: feedsEach }, 'too many clients wait for changes')
    }
  }

  /**
   * @param {import('./request.js').DbRequest} request @param {any} body of a POST @param {any} req @param {any} res
   * @param {{change?: (answer: any) => any, seconds?: number, endings?: AbortSignal[]}} [options] change: filters
   *   an answer in JSON; seconds: longest duration; endings: signals that end it
   */
  async forward (request, body, req, res, { change, seconds, endings = [] } = {}) {
    const readKind = request.isLarge || change ? 'images' : 'reads'
    const kind = request.isFeed ? 'feeds' : readKind
    const { pool, limit, error } = this.#pools[kind]
    const isOver = (request.isFeed && this.signal.aborted) || endings.some(({ aborted }) => aborted)
    if (isOver) throw unavailable()
    const release = limit.acquire(clientAddress(req, this.trustProxy))
    if (!release) throw error()
    const controller = abortOnClose(res)
    const leave = () => controller.abort()
    if (request.isFeed) this.signal.addEventListener('abort', leave)
    const end = () => res.destroy()
    const timer = seconds === undefined ? undefined : setTimeout(end, Math.max(0, seconds * 1000))
    for (const ending of endings) ending.addEventListener('abort', end)
    const forwarded = { request, body, pool, signal: controller.signal }
    try {
      await (change ? this.#passFiltered(forwarded, req, res, change) : this.#pass(forwarded, req, res))
    } finally {
      clearTimeout(timer)
      for (const ending of endings) ending.removeEventListener('abort', end)
      this.signal.removeEventListener('abort', leave)
      release()
    }
  }

  /** Sends a request to the store; throws for an answer that the client must not see. */
  async #answer (forwarded, headers) {
    const answer = await this.#send(forwarded, headers)
    const { statusCode: status } = answer
    const error = errorFor(status)
    if (!error) return answer
    await answer.body.dump({ limit: 65536 }).catch(() => {})
    this.log?.warn({ status, path: forwarded.request.path }, 'the store did not answer what /db asked')
    throw error
  }

  /** Reads an answer completely, filters it for the visitor, and sends it without the ETag of the store. */
  async #passFiltered ({ request, ...forwarded }, req, res, change) {
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const complete = { ...forwarded, request: { ...request, method } }
    const { statusCode, body: answer } = await this.#answer(complete, { accept: 'application/json' })
    const value = await readJson(answer, this.options.mostChanged)
    const text = Buffer.from(`${JSON.stringify(statusCode === 200 ? change(value) : value)}\n`)
    const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'must-revalidate', ...SAFE_HEADERS }
    sendBody(req, res, statusCode, headers, text)
  }

  async #pass ({ request, ...forwarded }, req, res) {
    const answer = await this.#answer({ ...forwarded, request }, headersFor(req))
    const { statusCode: status, headers } = answer
    const passed = pick(headers, ANSWER_HEADERS)
    const range = await this.#rangeOf(req, answer)
    if (range) {
      passed['content-range'] = range.header
      passed['content-length'] = `${range.end - range.start}`
    }
    if (isWhole(answer)) passed['accept-ranges'] = 'bytes'
    if (request.isPinned && (status === 200 || status === 206 || status === 304)) passed['cache-control'] = IMMUTABLE
    if (passed['content-encoding']) res.appendHeader('Vary', 'Accept-Encoding')
    res.writeHead(range ? 206 : status, { ...passed, ...SAFE_HEADERS })
    if (!request.isFeed) res.setTimeout(this.options.stall, () => res.destroy())
    const mayTakeLong = !request.isLarge || request.isFeed
    const timer = mayTakeLong ? undefined : setTimeout(() => res.destroy(), this.options.longest)
    try {
      if (req.method === 'HEAD') {
        await answer.body.dump()
        res.end()
      } else await (range ? pipeline(answer.body, body => partOf(body, range), res) : pipeline(answer.body, res))
    } catch {
      res.destroy() // a connection was closed; a partial answer must not look complete
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * The range that the client requests. The gateway cuts it out: CouchDB does not compare If-Range, an embedded store
   * has no ranges, and attachments are small.
   */
  async #rangeOf (req, answer) {
    if (req.headers.range === undefined || !isWhole(answer)) return
    const { 'content-length': length, etag } = answer.headers
    try {
      return rangeOf(req, Number(length), etag)
    } catch (error) {
      await answer.body.dump().catch(() => {})
      throw error
    }
  }

  /** Sends a request, and again if the store has just closed the connection: all requests only read. */
  async #send ({ request: { method, endpoint, path: relativePath, search }, body, pool, signal }, clientHeaders) {
    const { path, headers } = this.#access
    const timeout = /document|attachment|info/.test(endpoint) ? this.options.timeout : this.options.longTimeout
    const request = {
      method,
      path: path + relativePath + search,
      headers: { ...clientHeaders, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      headersTimeout: timeout,
      bodyTimeout: timeout
    }
    for (let attempt = 1; ; attempt++) {
      try {
        return await pool.request(request)
      } catch (error) {
        if (attempt > 1 || signal.aborted || !isCut(error)) throw this.#toHttpError(error, signal)
      }
    }
  }

  #toHttpError (error, signal) {
    if (signal.aborted) return unavailable()
    if (/^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/.test(error.code)) return notFound()
    this.log?.warn({ code: error.code ?? error.name }, 'the store cannot be reached for /db')
    const isLate = error.code === 'UND_ERR_HEADERS_TIMEOUT'
    return isLate ? unavailable(504, 'the store did not answer in time') : unavailable()
  }

  /** Resolves when requests under way are answered. */
  async close () {
    await Promise.all(Object.values(this.#pools).map(({ pool }) => pool.close()))
  }
}

async function readJson (body, most) {
  const bytes = await collect(body, most, () => unavailable(502, 'the answer of the store is too large'))
  const value = jsonOf(bytes.toString())
  if (value === undefined) throw unavailable(502, 'the store is in trouble')
  return value
}

/** Whether an answer has constant bytes of known length. A compressed answer has the ETag of the plain one. */
const isWhole = ({ statusCode, headers }) => statusCode === 200 && headers['content-length'] !== undefined &&
  headers.etag !== undefined && headers['content-encoding'] === undefined

async function * partOf (body, { start, end }) {
  let offset = 0
  for await (const chunk of body) {
    const part = chunk.subarray(Math.max(0, start - offset), Math.max(0, end - offset))
    if (part.length) yield part
    offset += chunk.length
  }
}

const isCut = ({ code }) => code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'

const pick = (headers, names) =>
  Object.fromEntries(names.filter(name => headers[name] !== undefined).map(name => [name, headers[name]]))

function headersFor ({ headers }) {
  const passed = pick(headers, REQUEST_HEADERS)
  // the only encoding that CouchDB knows; without the header, it answers uncompressed
  if (acceptsCoding(headers['accept-encoding'], 'gzip')) passed['accept-encoding'] = 'gzip'
  return passed
}

/** The error for an answer that is about the gateway and its store, and not for the client; else null. */
function errorFor (status) {
  if (status === 401 || status === 403) {
    return new HttpError(502, 'bad_gateway', 'the store does not let the gateway read')
  }
  if (status >= 300 && status < 400 && status !== 304) return notFound()
  return status >= 500 ? unavailable(status === 503 ? 503 : 502, 'the store is in trouble') : null
}
