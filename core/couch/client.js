// The CouchDB client, for Node and for browsers: one database, asked over HTTP. It repeats requests that may succeed
// later, turns every failure into an error of the catalogue, and builds the requests for many documents, so that nobody
// else has to. It is given a function that sends bytes: with undici in Node (loader/store/couch.js), with fetch in
// browsers.
import { pause, timeoutSignal } from '../abort.js'
import { TilecouchError } from '../errors.js'
import { rewrite } from '../rewrite.js'
import { REFUSALS, askAll, askEach, bulkGetRows, isRefusal, leavesIn, noAnswer, winnerOf } from './answers.js'
import { Refusal, failureOf, parseJson, whyOf } from './failure.js'
import { askQueries, askResults, pagesOf } from './queries.js'

const SLOWEST_UPLOAD = 16 // bytes a millisecond of a body: time that is added to `timeout` and `silence`

export const clientDefaults = {
  retries: 10, // times a request is repeated after 429, 5xx or a lost connection
  firstDelay: 100, // milliseconds before the first repetition, doubled each time
  longestDelay: 5000, // milliseconds between two repetitions at most
  silentRetries: 1, // times a request with `timeout` is repeated that got no answer in that time
  silence: /** @type {number | undefined} */ (undefined), // the timeout, in milliseconds, of requests without one; none
  most: /** @type {number | undefined} */ (undefined), // bytes of an answer, from a database of others; unlimited
  signal: /** @type {AbortSignal | undefined} */ (undefined) // ends every request that has none of its own
}

/**
 * @typedef {object} CouchRequest
 * @property {string} [method]
 * @property {string} [path] below the database, already encoded
 * @property {Record<string, any>} [qs] keys are written as JSON, the others as they are
 * @property {any} [body] an object; or JSON already, as a string or bytes
 * @property {string} [type] media type of the body, when not JSON
 * @property {string} [accept] media types of the answer, when not JSON
 * @property {boolean} [raw] answers bytes instead of parsed JSON
 * @property {(bytes: any) => any} [parse] of a raw answer; when it throws BAD_ANSWER, the request is repeated
 * @property {(piece: Uint8Array) => void} [onPiece] takes the answer piece by piece, instead of the result
 * @property {number} [most] bytes of the answer; a larger one is an error
 * @property {boolean} [server] the path is the server's, not the database's
 * @property {boolean} [nobody] without the name and password
 * @property {number} [retries]
 * @property {number} [timeout] milliseconds without a byte of the answer
 * @property {boolean} [isDivisible] the caller can ask for less: an answer that breaks off in the middle is not
 *   repeated
 * @property {(bytes: number) => void} [onBytes] called with the length of a complete answer
 * @property {AbortSignal} [signal]
 *
 * @typedef {object} HttpRequest a request as it is sent
 * @property {string} method
 * @property {URL} url
 * @property {Record<string, string>} headers
 * @property {string | Uint8Array} [body]
 * @property {number} [most] bytes of the answer: rejects with ANSWER_TOO_LARGE
 * @property {AbortSignal} [signal]
 * @property {(piece: Uint8Array, status: number) => boolean} onPiece called with every piece of the answer; true: the
 * piece is not collected
 *
 * @typedef {(request: HttpRequest) => Promise<{status: number, reason?: string, bytes: Uint8Array}>} Exchange reason:
 *   the
 * text beside the status
 *
 * @typedef {object} Range of the primary index
 * @property {string} [startkey]
 * @property {string} [endkey]
 * @property {boolean} [descending]
 * @property {number} [limit]
 * @property {boolean} [include_docs]
 * @property {boolean} [conflicts]
 * @typedef {{id: string, key: any, value: any, doc?: any, error?: string}} Row
 *
 * @typedef {Omit<CouchRequest, 'body' | 'qs' | 'parse' | 'raw' | 'onPiece'> &
 *   {limits?: import('./answers.js').Asking['limits']}} Options of requests for many documents. limits: how often
 * documents without an answer are asked for again
 *
 * @typedef {{id: string, ok?: boolean, rev?: string, error?: string, reason?: string}} Written
 * @typedef {{id: string, seq: any, changes: {rev: string}[], deleted?: boolean, doc?: any}} Change
 */

/** Answers to a written document that a repetition would give again. */
const FINAL = new Set([...REFUSALS, 'conflict'])

export class CouchClient {
  #exchange
  #bulkBody
  #decode
  #headers

  /**
   * @param {object} parts
   * @param {string} parts.url of the database, without any password: errors show it
   * @param {string} [parts.serverUrl]
   * @param {string} [parts.db] its name
   * @param {() => Record<string, string>} [parts.headers] of every request, such as its authorization
   * @param {Exchange} parts.exchange sends a request
   * @param {(docs: any[], options: {newEdits?: boolean}) => string | Uint8Array | Promise<string | Uint8Array>
   *   } [parts.bulkBody] makes the body of a _bulk_docs request
   * @param {(base64: string) => any} [parts.decode] makes bytes of attachments that came as base64
   * @param {Partial<typeof clientDefaults>} [parts.options]
   */
  constructor (parts) {
    const { url, serverUrl = url, db = url, headers = () => ({}), bulkBody = jsonBody, options } = parts
    this.url = url
    this.serverUrl = serverUrl
    this.db = db
    this.options = { ...clientDefaults, ...options }
    /** Functions that are called before every repetition. @type {Set<(error: TilecouchError) => void>} */
    this.retryListeners = new Set()
    this.#headers = headers
    this.#exchange = parts.exchange
    this.#bulkBody = bulkBody
    this.#decode = parts.decode
  }

  /** One request, repeated as long as it may succeed. @param {CouchRequest} request @returns {Promise<any>} */
  async request (request) {
    const { options } = this
    const { signal = options.signal, retries = options.retries, most = options.most } = request
    for (let attempt = 0; ; attempt++) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      try {
        return await this.#once({ ...request, signal, most })
      } catch (caught) {
        if (signal?.aborted || caught.name === 'AbortError') throw new TilecouchError('ABORTED')
        const { error, mayPass, isBroken } = this.#explain(caught, request.server)
        const allowed = error.details.silent ? Math.min(options.silentRetries, retries) : retries
        if (!mayPass || attempt >= allowed || (isBroken && request.isDivisible)) throw error
        for (const listener of this.retryListeners) listener(error)
        const delay = Math.min(options.firstDelay * 2 ** attempt, options.longestDelay)
        await pause(delay * (0.5 + Math.random() / 2), signal)
      }
    }
  }

  /** @param {CouchRequest} request */
  async #once ({ method = 'GET', path = '', qs, body, raw, parse, most, server, timeout, signal, ...rest }) {
    const base = server ? this.serverUrl : this.url
    const url = new URL(path ? `${base}/${path}` : base)
    if (qs) url.search = searchOf(qs)
    const answerTime = timeout ?? this.options.silence
    const silence = answerTime && answerTime + (body?.length ?? 0) / SLOWEST_UPLOAD
    const waiting = silence ? timeoutSignal(silence, signal) : undefined
    const { type = 'application/json', nobody, onPiece, onBytes } = rest
    const { accept = raw && !parse ? '*/*' : 'application/json' } = rest
    const isReady = body === undefined || typeof body === 'string' || body instanceof Uint8Array
    let received = 0
    try {
      const { status, reason, bytes } = await this.#exchange({
        method,
        url,
        headers: { accept, 'content-type': type, ...(!nobody && this.#headers()) },
        body: isReady ? body : JSON.stringify(body),
        most,
        signal: waiting?.signal ?? signal,
        onPiece (piece, code) {
          received += piece.length
          waiting?.renew()
          const isTaken = onPiece !== undefined && isSuccess(code)
          if (isTaken) onPiece(piece)
          return isTaken
        }
      })
      if (!isSuccess(status)) throw new Refusal(status, reason, bytes)
      onBytes?.(received)
      if (onPiece) return undefined
      return raw ? parse ? parse(bytes) : bytes : this.#parse(bytes)
    } catch (error) {
      const isSilent = waiting?.isOver && !signal?.aborted
      const why = `no answer within ${/** @type {number} */ (silence) / 1000} s`
      const failure = isSilent
        ? new TilecouchError('UNREACHABLE', { url: this.url, why, ...(timeout && { silent: true }) })
        : error
      throw received ? Object.assign(failure, { isBroken: true }) : failure
    } finally {
      waiting?.end()
    }
  }

  #parse (bytes) {
    const answer = parseJson(bytes)
    if (typeof answer === 'object' && answer !== null) return answer
    throw new TilecouchError('BAD_ANSWER', { url: this.url, why: 'not JSON, or cut off' })
  }

  /** The error of the catalogue for a failure, and whether the request may succeed later. */
  #explain (caught, server = false) {
    const { isBroken = false } = caught
    const asked = { url: server ? this.serverUrl : this.url, db: this.db }
    const explained = caught instanceof Refusal
      ? failureOf(caught, { ...asked, isServer: server })
      : caught instanceof TilecouchError
        ? { error: caught, mayPass: caught.code === 'BAD_ANSWER' || caught.code === 'UNREACHABLE' }
        : { error: new TilecouchError('UNREACHABLE', { ...asked, why: whyOf(caught) }), mayPass: true }
    if (isBroken) explained.error.details = { ...explained.error.details, isBroken }
    return { ...explained, isBroken }
  }

  /** As request; undefined for what is not there. @param {CouchRequest} request */
  async find (request) {
    try {
      return await this.request(request)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /** Facts about the database. @param {AbortSignal} [signal] @param {Options} [options] @returns {Promise<any>} */
  info (signal, options) {
    return this.request({ ...options, path: '', signal })
  }

  /** @param {string} id @param {AbortSignal} [signal] @param {Options} [options] */
  get (id, signal, options) {
    return this.find({ ...options, path: encodeId(id), signal })
  }

  /** A conflict is COUCHDB_ERROR with status 409. @param {any} doc @param {AbortSignal} [signal] @param {Options} [options] */
  put (doc, signal, options) {
    return this.request({ ...options, method: 'PUT', path: encodeId(doc._id), body: doc, signal })
  }

  /**
   * Writes one document as `change` makes it of the stored one; again when somebody else wrote in between.
   * @param {string} id
   * @param {(stored: any) => any} change answers the new document, or nothing to leave it alone
   * @param {AbortSignal} [signal] @param {Options} [options]
   */
  update (id, change, signal, options) {
    return rewrite(id, {
      read: () => this.get(id, signal, options),
      change,
      write: async (doc, stored) => {
        const { rev } = await this.put({ ...doc, _id: id, _rev: stored?._rev }, signal, options)
        return { ...doc, _id: id, _rev: rev }
      }
    })
  }

  /**
   * Documents by their ids, in that order: the winner of each, if there is one.
   * @param {string[]} ids
   * @param {Options & {attachments?: boolean}} [options] attachments: with their bytes
   * @returns {Promise<{id: string, doc?: any, deleted: boolean}[]>}
   */
  async docs (ids, options) {
    const leaves = await this.leaves(ids, options)
    return ids.map(id => {
      const winner = winnerOf(leaves.get(id))
      return winner && !winner._deleted ? { id, doc: winner, deleted: false } : { id, deleted: Boolean(winner) }
    })
  }

  /**
   * Every leaf of documents, deleted ones as well. _bulk_get is twice to four times as fast as _all_docs with keys.
   * @param {string[]} ids
   * @param {Options & {attachments?: boolean}} [options]
   * @returns {Promise<Map<string, any[]>>} an empty list: there never was one
   */
  async leaves (ids, options) {
    const { leaves, failed } = await this.tryLeaves(ids, options)
    if (failed.size) throw noAnswer(this.url, [...failed.keys()], [...failed.values()][0])
    return leaves
  }

  /**
   * As leaves; a document without an answer costs the others nothing.
   * @param {string[]} ids
   * @param {Options & {attachments?: boolean}} [options]
   * @returns {Promise<{leaves: Map<string, any[]>, failed: Map<string, {error: string, reason: string}>}>} each id is
   *   in
   *   one of them
   */
  async tryLeaves (ids, { signal, limits = this.#delays, ...options } = {}) {
    const ask = left => this.bulkGet(left.map(id => ({ id })), { ...options, signal })
    const { rows, failed } = await askEach(ids, ask, { signal, limits })
    return { leaves: leavesIn(rows), failed }
  }

  /**
   * Documents at the very revisions that are named, with their attachments. One that is not there any more is left out.
   * @param {{id: string, rev: string}[]} asked
   * @param {Options & {attachments?: boolean}} [options]
   * @returns {Promise<any[]>}
   */
  async revisions (asked, { signal, limits = this.#delays, attachments = true, ...options } = {}) {
    const byKey = new Map(asked.map(one => [`${one.id} ${one.rev}`, one]))
    const rows = await askAll(this.url, [...byKey.keys()], async left => {
      const found = await this.bulkGet(left.map(key => /** @type {any} */ (byKey.get(key))), { ...options, attachments, signal })
      return found.map(({ id, doc, rev, ...row }) => ({ ...row, doc, id: `${id} ${doc?._rev ?? rev}` }))
    }, { signal, limits })
    return [...leavesIn(rows).values()].flat()
  }

  /**
   * One _bulk_get request, in which documents without an answer are not asked for again.
   * @param {{id: string, rev?: string, atts_since?: string[]}[]} docs
   * @param {Options & {qs?: Record<string, any>, attachments?: boolean, check?: (rows: any[]) => void}} options
   *   check: throws BAD_ANSWER when the request has to be repeated
   */
  bulkGet (docs, { qs, attachments, check, ...options }) {
    return this.request({
      method: 'POST',
      path: '_bulk_get',
      qs: { ...qs, ...(attachments && { attachments }) },
      // CouchDB prefers JSON, with base64, wherever it is mentioned
      accept: attachments && this.#decode ? 'multipart/mixed' : 'application/json',
      ...options,
      body: { docs },
      raw: true,
      parse: bytes => this.#decoded(bulkGetRows(bytes), check)
    })
  }

  // the embedded store answers JSON whatever is asked for
  #decoded (rows, check) {
    for (const { doc } of rows) {
      for (const attachment of Object.values(doc?._attachments ?? {})) {
        if (this.#decode && typeof attachment.data === 'string') attachment.data = this.#decode(attachment.data)
      }
    }
    check?.(rows)
    return rows
  }

  /**
   * Writes documents in one request.
   * @param {any[]} docs
   * @param {Options & {newEdits?: boolean}} [options] newEdits: false keeps the revisions as they are, as replicators
   *   do
   * @returns {Promise<Written[]>} one for each
   */
  async bulk (docs, { newEdits, ...options } = {}) {
    const body = await this.#bulkBody(docs, { newEdits })
    const answer = await this.request({ ...options, method: 'POST', path: '_bulk_docs', body })
    return this.#list(answer, 'results')
  }

  /**
   * Writes different documents, and sends again what a shard did not take. Throws REFUSED where one may not be written.
   * @param {any[]} docs
   * @param {AbortSignal} [signal]
   * @returns {Promise<Map<string, string | undefined>>} id -> its revision; none after a conflict
   */
  async writeAll (docs, signal) {
    const byId = new Map(docs.map(doc => [doc._id, doc]))
    const send = ids => this.bulk(ids.map(id => byId.get(id)), { signal })
    const rows = await askAll(this.url, [...byId.keys()], send, { signal, final: FINAL, limits: this.#delays })
    return new Map([...rows].map(([id, [{ rev, error, reason }]]) => {
      if (isRefusal(error)) throw new TilecouchError('REFUSED', { id, reason: reason || error })
      return [id, error ? undefined : rev]
    }))
  }

  /** @template T @param {T} list @param {string} name @returns {T} */
  #list (list, name) {
    if (!Array.isArray(list)) throw new TilecouchError('BAD_ANSWER', { url: this.url, why: `no list of ${name}` })
    return list
  }

  /**
   * Several ranges of the primary index or of a view in one request.
   * @param {string} path `_all_docs` or `_design/d/_view/v`
   * @param {object[]} queries
   * @param {AbortSignal} [signal]
   * @param {Options & {most?: number}} [options] most: queries a request
   * @returns {Promise<any[][]>} the rows of each
   */
  async queries (path, queries, signal, options) {
    if (!queries.length) return []
    try {
      return await askQueries(this, path, queries, { limits: this.#delays, ...options, signal })
    } catch (error) {
      if (isMissing(error) && path.startsWith('_design/')) throw new TilecouchError('INDEX_MISSING', { view: path })
      throw error
    }
  }

  /** The rows of one range of a view. @param {string} view @param {object} query @param {AbortSignal} [signal] */
  async view (view, query, signal) {
    const [rows] = await this.queries(view, [query], signal)
    return rows
  }

  /**
   * All rows of a range of a view, page by page, also of documents that are written meanwhile and move within the view.
   * @param {string} view in which a document has one row
   * @param {{startkey?: any, endkey?: any}} range
   * @param {{page: number, signal?: AbortSignal}} options page: rows a request, two at least
   * @returns {AsyncGenerator<{id: string, key: any, value: any}[]>} never an empty page
   */
  async * viewPages (view, range, { page, signal }) {
    for (let from = /** @type {any} */ (range), last; ;) {
      const rows = await this.view(view, { ...from, reduce: false, limit: page }, signal)
      const fresh = rows.filter(({ id }) => id !== last)
      if (fresh.length) yield fresh
      if (rows.length < page) return
      const { id, key } = rows[rows.length - 1]
      last = id
      from = { ...range, startkey: key, startkey_docid: id }
    }
  }

  /**
   * The rows of several ranges of the primary index, or of documents by `keys`, in one request.
   * @param {object[]} ranges
   * @param {AbortSignal} [signal]
   * @param {Options} [options]
   * @returns {Promise<Row[][]>}
   */
  ranges (ranges, signal, options) {
    return this.queries('_all_docs', ranges, signal, options)
  }

  /**
   * As ranges, in one request: a range without an answer costs the others nothing.
   * @param {object[]} ranges
   * @param {Options} [options]
   * @returns {Promise<{rows?: Row[], error?: string, reason?: string}[]>} of each, its rows or an error
   */
  tryRanges (ranges, { limits, ...options } = {}) {
    return askResults(this, '_all_docs', ranges, options)
  }

  /**
   * Rows of the primary index.
   * @param {Range} range
   * @param {AbortSignal} [signal]
   * @param {Options} [options]
   * @returns {Promise<Row[]>}
   */
  async page (range, signal, options) {
    const { rows } = await this.request({ ...options, path: '_all_docs', qs: range, signal })
    return this.#list(rows, 'rows')
  }

  /**
   * All rows of a range of the primary index, page by page, in the order of their ids.
   * @param {Range} range
   * @param {{page?: number, ahead?: boolean, signal?: AbortSignal}} [options] see pagesOf
   */
  pages (range, { signal, ...options } = {}) {
    return pagesOf(part => this.page(part, signal), range, options)
  }

  /**
   * One answer of the feed of changes.
   * @param {Record<string, any>} query
   * @param {CouchRequest & {selector?: object}} [options] selector: of the documents whose changes are wanted
   * @returns {Promise<{results: Change[], last_seq: string | number, pending?: number}>}
   */
  async changes (query, { selector, ...options } = {}) {
    const filtered = selector && { method: 'POST', qs: { ...query, filter: '_selector' }, body: { selector } }
    const answer = await this.request({ ...options, path: '_changes', qs: query, ...filtered })
    if (!Array.isArray(answer.results) || answer.last_seq === undefined) {
      throw new TilecouchError('BAD_ANSWER', { url: this.url, why: 'no list of changes' })
    }
    return answer
  }

  /**
   * All changes since a position in the feed, page by page, up to the present.
   * @param {string | number} since
   * @param {{page: number, signal?: AbortSignal}} options page: changes a request
   * @returns {AsyncGenerator<{results: Change[], last: string | number}>} last: where the next page begins
   */
  async * changesSince (since, { page, signal }) {
    for (let from = since; ;) {
      const { results, last_seq: last } = await this.changes({ since: from, limit: page }, { signal })
      yield { results, last }
      if (results.length < page) return
      from = last
    }
  }

  get #delays () {
    const { firstDelay, longestDelay } = this.options
    return { firstDelay, longestDelay }
  }
}

/** An id in a path: slashes of design documents and colons stay readable, everything else is encoded. */
export const encodeId = id =>
  id.replace(/^(_design|_local)\/|[^A-Za-z0-9_.:~-]/gu, (match, special) => special ? match : encodeURIComponent(match))

const isSuccess = status => status >= 200 && status < 300

/** Whether something is missing, in a database that exists. */
const isMissing = ({ code, details }) => code === 'COUCHDB_ERROR' && details.status === 404

const KEYS = new Set(['key', 'keys', 'startkey', 'endkey', 'start_key', 'end_key'])

/** @param {Record<string, any>} qs */
function searchOf (qs) {
  const given = Object.entries(qs).filter(([, value]) => value !== undefined)
  const textOf = (name, value) => KEYS.has(name) ? JSON.stringify(value) : String(value)
  return new URLSearchParams(given.map(([name, value]) => [name, textOf(name, value)])).toString()
}

const jsonBody = (docs, { newEdits = true }) => JSON.stringify({ ...(!newEdits && { new_edits: false }), docs })
