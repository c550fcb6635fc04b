// Passes requests of the control room on to CouchDB with the session of the visitor, never with the name of the
// gateway, and the answers back as they come.
import { setMaxListeners } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { Pool } from 'undici'
import { AddressLimit, clientAddress } from '../addresses.js'
import { DbError, notFound, unavailable } from '../db/errors.js'
import { acceptsCoding } from '../responses.js'

export const adminDefaults = {
  connections: 32, // to CouchDB, for requests that are answered at once; more of them wait
  waiting: 200, // requests that wait for one of these connections
  each: 24, // requests at once of one address, under way or waiting; a proxy on this machine is not counted
  feeds: 100, // pages that wait for changes; each is a connection to CouchDB
  feedsEach: 16, // of these for one address
  connectTimeout: 5000, // milliseconds for CouchDB to take a connection
  timeout: 30000, // milliseconds an answer may take to begin, and the pauses in it
  longTimeout: 600000, // milliseconds for views, which may have to be built first, and for feeds
  stall: 30000, // milliseconds without progress of an answer
  mostRead: 1e6 // bytes of an answer that the gateway reads itself
}

/** Headers of an answer that are passed on. All others are of CouchDB's connection, or would weaken the gateway. */
const ANSWER_HEADERS = ['content-type', 'content-length', 'content-encoding']

export class AdminProxy {
  #access
  #pools
  #closing = new AbortController()
  /** @type {Promise<any> | undefined} */
  #closed

  /**
   * @param {import('../../../loader/store/couch.js').Couch} couch
   * @param {Partial<typeof adminDefaults> & {log?: any, signal?: AbortSignal, trustProxy?: boolean}} [options]
   */
  constructor (couch, { log, signal, trustProxy = false, ...options } = {}) {
    this.options = { ...adminDefaults, ...options }
    this.trustProxy = trustProxy
    this.log = log
    this.#access = couch.access
    setMaxListeners(0, this.#closing.signal) // one for each feed
    const { connections, waiting, each, feeds, feedsEach, connectTimeout } = this.options
    const common = { connect: { timeout: connectTimeout }, pipelining: 1, keepAliveTimeout: 20000 }
    const poolOf = (most, limit) => ({
      pool: new Pool(this.#access.origin, { ...common, connections: most }),
      limit: new AddressLimit(limit)
    })
    this.#pools = {
      requests: poolOf(connections, { most: connections + waiting, each }),
      feeds: poolOf(feeds, { most: feeds, each: feedsEach })
    }
    signal?.addEventListener('abort', () => { this.close() }, { once: true })
  }

  /**
   * Runs a task that counts as a request of this address.
   * @param {any} req @param {() => Promise<void>} task @param {boolean} [isFeed]
   */
  async limited (req, task, isFeed = false) {
    const { limit } = this.#pools[isFeed ? 'feeds' : 'requests']
    const release = limit.acquire(clientAddress(req, this.trustProxy))
    if (!release) throw unavailable(429, 'too many requests at once')
    try {
      await task()
    } finally {
      release()
    }
  }

  /**
   * What CouchDB answers, for the gateway itself.
   * @param {{path: string, isInDb?: boolean, headers: Record<string, string>}} asked
   * @returns {Promise<{status: number, value: any, setCookie?: string | string[]}>} value: null if it is no JSON
   */
  async read ({ path, isInDb = false, headers }) {
    const { statusCode: status, headers: { 'set-cookie': setCookie }, body } = await this.#ask({ method: 'GET', path, isInDb, headers })
    if (status >= 500) {
      await body.dump().catch(() => {})
      throw unavailable(503, 'the store is in trouble')
    }
    const chunks = []
    let length = 0
    try {
      for await (const chunk of body) {
        length += chunk.length
        if (length > this.options.mostRead) throw new Error('too large')
        chunks.push(chunk)
      }
    } catch {
      throw unavailable(502, 'the store is in trouble')
    }
    try {
      return { status, value: JSON.parse(Buffer.concat(chunks).toString()), setCookie }
    } catch {
      return { status, value: null }
    }
  }

  /**
   * @param {import('./request.js').AdminRequest} request @param {Buffer | undefined} body
   * @param {Record<string, string>} credentials of the visitor
   * @param {any} req @param {any} res
   * @param {(setCookie: string | string[] | undefined) => string | undefined} toCookie
   */
  async forward (request, body, credentials, req, res, toCookie) {
    const left = new AbortController()
    const leave = () => left.abort()
    res.once('close', leave)
    if (request.isFeed) this.#closing.signal.addEventListener('abort', leave)
    try {
      const headers = {
        accept: req.headers.accept?.slice(0, 200) ?? 'application/json',
        ...(acceptsCoding(req.headers['accept-encoding'], 'gzip') && { 'accept-encoding': 'gzip' }),
        ...(body && { 'content-type': 'application/json' }),
        ...credentials
      }
      const { method, path, isInDb, isFeed, isSlow } = request
      const answer = await this.#ask({ method, path, isInDb, isFeed, isSlow, headers, body, signal: left.signal })
      await this.#pass(answer, req, res, toCookie)
    } finally {
      res.off('close', leave)
      this.#closing.signal.removeEventListener('abort', leave)
    }
  }

  async #pass ({ statusCode: status, headers, body }, req, res, toCookie) {
    if (status < 200 || (status >= 300 && status < 400)) { // redirects name addresses of the inside
      await body.dump().catch(() => {})
      throw notFound()
    }
    const cookie = toCookie(headers['set-cookie'])
    if (cookie) res.setHeader('Set-Cookie', cookie)
    const kept = ANSWER_HEADERS.filter(name => headers[name] !== undefined)
    res.writeHead(status, Object.fromEntries(kept.map(name => [name, headers[name]])))
    res.setTimeout(this.options.stall, () => res.destroy())
    try {
      if (req.method === 'HEAD') {
        await body.dump()
        res.end()
      } else await pipeline(body, res)
    } catch {
      res.destroy() // one of the two left; half an answer must not look complete
    }
  }

  /**
   * A write is sent once: nobody knows whether it was done when the connection breaks. Reads are sent once more when
   * CouchDB had closed the connection in the meantime.
   * @param {{method: string, path: string, isInDb: boolean, headers: Record<string, string>, body?: Buffer,
   *   isFeed?: boolean, isSlow?: boolean, signal?: AbortSignal}} asked
   */
  async #ask ({ path, isInDb, isFeed, isSlow, signal = this.#closing.signal, ...rest }) {
    const timeout = isSlow ? this.options.longTimeout : this.options.timeout
    const { pool } = this.#pools[isFeed ? 'feeds' : 'requests']
    const { base, path: database } = this.#access
    const whole = (isInDb ? database : base) + path
    const request = { ...rest, path: whole, signal, headersTimeout: timeout, bodyTimeout: timeout }
    const attempts = rest.method === 'GET' || rest.method === 'HEAD' ? 2 : 1
    for (let attempt = 1; ; attempt++) {
      try {
        return await pool.request(request)
      } catch (error) {
        if (attempt >= attempts || signal.aborted || !isCut(error)) throw this.#toDbError(error, signal)
      }
    }
  }

  #toDbError (error, signal) {
    if (signal.aborted) return unavailable()
    if (/^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/.test(error.code)) return notFound()
    this.log?.warn({ code: error.code ?? error.name }, 'the store cannot be reached for the control room')
    const isLate = error.code === 'UND_ERR_HEADERS_TIMEOUT'
    return isLate ? new DbError(504, 'timeout', 'the store did not answer in time') : unavailable()
  }

  /** Feeds end, requests under way are answered. */
  close () {
    this.#closing.abort()
    return (this.#closed ??= Promise.all(Object.values(this.#pools).map(({ pool }) => pool.close())))
  }
}

const isCut = ({ code }) => code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
