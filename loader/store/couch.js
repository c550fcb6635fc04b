// One CouchDB database over nano: requests with retries, and every failure as an error of the catalogue.
// nano's own errors carry the request with its body and answer '' for JSON that was cut off; neither leaves this module.
import nano from 'nano'
import { setTimeout as sleep } from 'node:timers/promises'
import { TilecouchError, scrub } from '../../core/index.js'
import { leavesOf } from '../../core/bulk-answer.js'
import { raceAbort, timeoutSignal } from '../../core/abort.js'
import { askQueries } from '../../core/mirror/queries.js'
import { rewrite } from '../../core/rewrite.js'
import { encodeId, parseDatabaseUrl } from './address.js'
import { bulkBody } from './bulk-body.js'
import { askBytes, toBody } from './bytes.js'
import { beginAnew } from './deletions.js'
import { parseRows, parseWhole, winnerOf } from './leaves.js'
import { childSignal } from './child-signal.js'

export const retryDefaults = {
  retries: 10, // times a request is repeated after 429, 5xx or a lost connection
  firstDelay: 100, // milliseconds before the first repetition, doubled each time
  longestDelay: 5000, // milliseconds between two repetitions at most
  silentRetries: 1 // times a request is repeated that was given up for want of an answer
}

/**
 * @typedef {object} CouchRequest
 * @property {string} [method]
 * @property {string} [path] below the database, already encoded
 * @property {Record<string, any>} [qs]
 * @property {any} [body] an object; or JSON already, as a string or bytes
 * @property {boolean} [raw] the answer as bytes
 * @property {number} [most] bytes of the answer; one that is larger is given up
 * @property {(bytes: Buffer) => any} [parse] what becomes of a raw answer; when it throws, the request is made again
 * @property {string} [accept] media types, when not JSON
 * @property {boolean} [server] the path is the server's, not the database's
 * @property {boolean} [nobody] asked without the name and password, with `raw` alone
 * @property {AbortSignal} [signal]
 * @property {number} [retries]
 * @property {number} [patience] milliseconds without an answer, or without more of one that is read as bytes
 * @property {() => void} [onBytes] told of more
 * @property {string} [type] of the body, when not JSON
 */

/** @typedef {{origin: string, base: string, path: string, headers: {authorization?: string}}} Access */

export class Couch {
  #target
  /** @type {Access | undefined} */
  #access

  /**
   * @param {string} url of a database, may hold a name and password
   * @param {Partial<typeof retryDefaults> & {onRetry?: (error: TilecouchError) => void, ambient?: boolean, most?: number, signal?: AbortSignal}} [options]
   * ambient: see parseDatabaseUrl; most: bytes of any answer, for a database of somebody else; signal: ends every request
   */
  constructor (url, options = {}) {
    const parsed = parseDatabaseUrl(url, options)
    this.db = parsed.db
    this.url = parsed.url
    this.serverUrl = parsed.serverUrl
    this.#target = parsed
    this.options = { ...retryDefaults, ...options }
    /** Told of every repetition, by whoever writes at the moment. @type {Set<(error: TilecouchError) => void>} */
    this.retryListeners = new Set(options.onRetry ? [options.onRetry] : [])
    this.nano = /** @type {any} */ (nano)({ url: parsed.authorised, parseUrl: false }) // nano's types lack parseUrl and dontStringify
  }

  /**
   * Where the database is and what opens it, for who speaks HTTP with it himself. Never to be shown.
   * @returns {Access} base, path: of the server and of the database
   */
  get access () {
    return (this.#access ??= this.#parseAccess())
  }

  #parseAccess () {
    const { origin, pathname, username, password } = new URL(this.#target.authorised)
    const base = pathname.replace(/\/$/, '')
    const auth = username && Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
    return { origin, base, path: `${base}/${encodeURIComponent(this.db)}`, headers: auth ? { authorization: `Basic ${auth}` } : {} }
  }

  /**
   * @param {CouchRequest} request
   * @returns {Promise<any>}
   */
  async request (request) {
    const { silentRetries, firstDelay, longestDelay, signal, most } = this.options
    request = { ...request, signal: request.signal ?? signal, most: request.most ?? most }
    const retries = request.retries ?? this.options.retries
    for (let attempt = 0; ; attempt++) {
      if (request.signal?.aborted) throw new TilecouchError('ABORTED')
      try {
        return await (request.patience ? this.#inTime(request) : this.#once(request))
      } catch (error) {
        const failure = this.#explain(error, request)
        if (!failure.retryable || attempt >= (failure.error.details.silent ? Math.min(silentRetries, retries) : retries)) throw failure.error
        for (const listener of this.retryListeners) listener(failure.error)
        const delay = Math.min(firstDelay * 2 ** attempt, longestDelay)
        await sleep(delay * (0.5 + Math.random() / 2), undefined, { signal: request.signal }).catch(() => {})
      }
    }
  }

  /** A line that was cut says nothing: whoever waits for an answer would wait for ever. */
  async #inTime (request) {
    const waiting = timeoutSignal(request.patience, request.signal)
    try {
      return await this.#once({ ...request, signal: waiting.signal, onBytes: waiting.renew })
    } catch (error) {
      if (waiting.isOver) throw new TilecouchError('UNREACHABLE', { url: this.url, why: `no answer within ${request.patience / 1000} s`, silent: true })
      throw error
    } finally {
      waiting.end()
    }
  }

  /** @param {CouchRequest} request */
  async #once (request) {
    const { method = 'GET', path = '', qs, body, server, signal, type } = request
    if (request.raw) return askBytes(this.access, request)
    if (request.most) return askBytes(this.access, { ...request, qs: encodeKeys(qs), accept: 'application/json', parse: parseWhole })
    // of its own: fetch keeps listeners until they are collected, and one signal may stop thousands of requests
    const own = signal && childSignal(signal)
    const answer = await raceAbort(this.nano.request({
      method,
      db: server ? undefined : this.db,
      path,
      qs,
      body: toBody(body),
      dontStringify: true,
      contentType: type,
      signal: own?.signal
    }), own?.signal).finally(own?.end)
    // an answer that ended early parses as nothing: a server that was killed while it spoke
    if (method !== 'HEAD' && (typeof answer !== 'object' || answer === null || Buffer.isBuffer(answer))) {
      throw Object.assign(new Error('not JSON, or cut off'), { badAnswer: true })
    }
    return answer
  }

  /** Sorts an error from nano into the catalogue, and into those that may pass and those that will not. */
  #explain (error, request) {
    if (error instanceof TilecouchError) return { error, retryable: error.code === 'BAD_ANSWER' || error.details.silent === true }
    if (error.name === 'AbortError' || request.signal?.aborted) return { error: new TilecouchError('ABORTED'), retryable: false }
    const url = request.server ? this.serverUrl : this.url
    const status = error.statusCode
    const reason = scrub(error.reason ?? error.message)
    const make = (code, details = {}) => new TilecouchError(code, { url, status, reason, db: this.db, ...details })
    if (error.badAnswer) return { error: make('BAD_ANSWER', { why: reason }), retryable: true }
    if (!status) return { error: make('UNREACHABLE', { why: reason.replace(/^error happened in your connection\. Reason: /, '') }), retryable: true }
    if (status === 507 || /no space left|enospc/i.test(reason)) return { error: make('DISK_FULL', { where: url }), retryable: false }
    if (status === 401 && !/not authorized|not a (server|db)/i.test(reason)) return { error: make('UNAUTHORIZED'), retryable: false }
    if (status === 401 || status === 403) return { error: make('FORBIDDEN'), retryable: false }
    if (status === 404 && /database does not exist|no_db_file/i.test(reason)) return { error: make('DATABASE_NOT_FOUND'), retryable: false }
    // of a database: a page of whatever stands between, as while nothing is behind it
    if (status === 404 && !request.server && request.method !== 'HEAD' && typeof error.error !== 'string') return { error: make('BAD_ANSWER', { why: `404 ${reason}, and not in its words`, status: undefined }), retryable: false }
    return { error: make('COUCHDB_ERROR'), retryable: status === 429 || status >= 500 }
  }

  /** As request, with undefined for what is not there. */
  async find (request) {
    try {
      return await this.request(request)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /** @param {string} id */
  get (id) {
    return this.find({ path: encodeId(id) })
  }

  /** Writes one document; a conflict is COUCHDB_ERROR with status 409. */
  put (doc) {
    return this.request({ method: 'PUT', path: encodeId(doc._id), body: doc })
  }

  /**
   * The document as `change` makes it of what is stored, written again until nobody else wrote in between.
   * @param {string} id
   * @param {(stored: any) => any} change answers the new document, or nothing to leave it alone
   */
  update (id, change) {
    return rewrite(id, {
      read: () => this.get(id),
      change,
      write: async (doc, stored) => {
        const { rev } = await this.put({ ...doc, _id: id, _rev: stored?._rev })
        return { ...doc, _id: id, _rev: rev }
      }
    })
  }

  /**
   * Documents named by id, in their order: the winner of each, or the fact that there is none.
   * @param {string[]} ids
   * @param {{attachments?: boolean, signal?: AbortSignal}} [options] attachments: with their bytes, as buffers
   * @returns {Promise<{id: string, doc?: any, deleted: boolean}[]>}
   */
  async docs (ids, options) {
    const leaves = await this.leavesOf(ids, options)
    return ids.map(id => {
      const winner = winnerOf(leaves.get(id))
      return winner && !winner._deleted ? { id, doc: winner, deleted: false } : { id, deleted: Boolean(winner) }
    })
  }

  /**
   * Every leaf of documents, those that were ended as well.
   * @param {string[]} ids
   * @param {{attachments?: boolean, signal?: AbortSignal}} [options]
   * @returns {Promise<Map<string, any[]>>} an empty list: there never was one
   */
  leavesOf (ids, { attachments, signal } = {}) {
    return leavesOf(this, ids, {
      signal,
      limits: this.#delays,
      request: {
        qs: attachments ? { attachments: true } : {},
        accept: attachments ? 'multipart/mixed' : 'application/json', // any mention of JSON, and CouchDB sends that, with base64
        raw: true,
        parse: parseRows
      }
    })
  }

  get #delays () {
    const { firstDelay, longestDelay } = this.options
    return { firstDelay, longestDelay }
  }

  /**
   * Several ranges of the primary index or of a view in one request.
   * @param {string} path `_all_docs` or `_design/d/_view/v`
   * @param {object[]} queries
   * @param {AbortSignal} [signal]
   * @returns {Promise<any[][]>} the rows of each
   */
  async queries (path, queries, signal) {
    if (!queries.length) return []
    try {
      return await askQueries(this, path, queries, { signal, limits: this.#delays })
    } catch (error) {
      if (isMissing(error) && path.startsWith('_design/')) throw new TilecouchError('INDEX_MISSING', { view: path })
      throw error
    }
  }

  /** One range of a view. */
  async view (path, qs, signal) {
    const [rows] = await this.queries(path, [qs], signal)
    return rows
  }

  /**
   * @param {string | Buffer} body JSON of { docs }
   * @param {AbortSignal} [signal]
   * @returns {Promise<{id: string, ok?: boolean, rev?: string, error?: string, reason?: string}[]>}
   */
  async bulk (body, signal) {
    // as bytes: nano would copy a body of megabytes once more
    const answer = await this.request({ method: 'POST', path: '_bulk_docs', body, raw: true, accept: 'application/json', parse: parseWhole, signal })
    if (!Array.isArray(answer)) throw new TilecouchError('BAD_ANSWER', { url: this.url, why: 'no list of results' })
    return answer
  }

  /** New revisions. @param {any[]} docs attachments with bytes in `data`; what has no `_rev` is new @param {AbortSignal} [signal] */
  async send (docs, signal) {
    await beginAnew(this, docs.filter(({ _rev: rev }) => !rev).map(({ _id: id }) => id), signal)
    return this.bulk(bulkBody(docs), signal)
  }
}

/** As nano has it: keys are JSON. */
const encodeKeys = (qs = {}) => Object.fromEntries(Object.entries(qs).map(([name, value]) => [name, /key/.test(name) ? JSON.stringify(value) : value]))

/** Whether CouchDB says that something is not there, in a database that is. */
const isMissing = ({ code, details }) => code === 'COUCHDB_ERROR' && details.status === 404
