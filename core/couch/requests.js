// Sends requests to a CouchDB. A request is repeated as long as it may succeed later. Every failure becomes an error of
// the catalogue. The caller passes the function that sends: nano or undici in Node (loader/store/couch.js), fetch in
// browsers.
import { pause, timeoutSignal } from '../promises.js'
import { TilecouchError, scrub } from '../errors.js'
import { jsonIn } from './multipart.js'

const SLOWEST_UPLOAD = 16 // bytes of a body per millisecond: this time is added to `timeout` and `silence`

export const clientDefaults = {
  retries: 10, // times a request is repeated after 429, 5xx or a lost connection
  firstDelay: 100, // milliseconds before the first repetition, doubled each time
  longestDelay: 5000, // milliseconds between two repetitions at most
  silentRetries: 1, // times a request with `timeout` is repeated after no answer in that time
  silence: /** @type {number | undefined} */ (undefined), // default of `timeout`, in milliseconds; no timeout
  most: /** @type {number | undefined} */ (undefined), // largest answer, in bytes; unlimited
  signal: /** @type {AbortSignal | undefined} */ (undefined) // default of `signal`
}

/**
 * @typedef {object} CouchRequest
 * @property {string} [method]
 * @property {string} [path] below the database, already encoded
 * @property {Record<string, any>} [qs] keys are written as JSON, other values as text
 * @property {any} [body] an object, or JSON as a string or bytes
 * @property {string} [type] media type of the body, if it is not JSON
 * @property {string} [accept] media types of the answer, if it is not JSON
 * @property {boolean} [raw] returns bytes instead of parsed JSON
 * @property {(bytes: any) => any} [parse] parses a raw answer; after BAD_ANSWER the request is repeated
 * @property {(piece: Uint8Array) => void} [onPiece] takes the answer piece by piece; the result is undefined
 * @property {number} [most] largest answer in bytes; a larger one is an error
 * @property {boolean} [server] the path is below the server, not the database
 * @property {boolean} [anonymous] sent without name and password
 * @property {number} [retries]
 * @property {number} [timeout] milliseconds without a byte of the answer
 * @property {boolean} [isDivisible] the caller can ask for less: a request whose answer breaks off is not repeated
 * @property {(bytes: number) => void} [onBytes] called with the length of a complete answer
 * @property {boolean} [isFrequent] for frequent or large requests: Node sends them with undici, which is faster and
 *   does not copy the body
 * @property {AbortSignal} [signal]
 *
 * @typedef {object} HttpRequest a request as it is sent
 * @property {string} method
 * @property {URL} url
 * @property {Record<string, string>} headers
 * @property {string | Uint8Array} [body]
 * @property {number} [most] largest answer in bytes; a larger one rejects with ANSWER_TOO_LARGE
 * @property {boolean} isJson the answer is JSON, to be parsed
 * @property {boolean} [isFrequent] see CouchRequest
 * @property {AbortSignal} [signal]
 * @property {(piece: Uint8Array, status: number) => boolean} onPiece called with every piece of the answer; after true
 * the piece is not collected
 *
 * @typedef {object} HttpAnswer
 * @property {number} status
 * @property {string} [reason] the text beside the status
 * @property {number} [skew] milliseconds that the clock of the server is ahead
 * @property {Uint8Array} bytes
 * @property {any} [json] the parsed value of the bytes, if they were parsed
 *
 * @typedef {(request: HttpRequest) => Promise<HttpAnswer>} Exchange
 */

export class Requester {
  #exchange
  #headers

  /**
   * @param {object} parts
   * @param {string} parts.url of the database, without any password: errors show it
   * @param {string} [parts.serverUrl]
   * @param {string} [parts.db] its name
   * @param {() => Record<string, string>} [parts.headers] headers of every request, such as its authorization
   * @param {Exchange} parts.exchange sends a request
   * @param {Partial<typeof clientDefaults>} [parts.options]
   */
  constructor ({ url, serverUrl = url, db = url, headers = () => ({}), exchange, options }) {
    this.url = url
    this.serverUrl = serverUrl
    this.db = db
    this.options = { ...clientDefaults, ...options }
    /** Milliseconds that the clock of the server is ahead, by its last answer. */
    this.skew = 0
    /** Functions that are called before every repetition. @type {Set<(error: TilecouchError) => void>} */
    this.retryListeners = new Set()
    this.#headers = headers
    this.#exchange = exchange
  }

  /** Sends a request. Repeats it as long as it may succeed. @param {CouchRequest} request @returns {Promise<any>} */
  async request (request) {
    const { options } = this
    const { signal = options.signal, retries = options.retries, most = options.most } = request
    for (let attempt = 0; ; attempt++) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      try {
        return await this.#sendOnce({ ...request, signal, most })
      } catch (caught) {
        if (signal?.aborted || caught.name === 'AbortError') throw new TilecouchError('ABORTED')
        const { error, mayPass } = this.#failureFrom(caught, request)
        const allowed = error.details.silent ? Math.min(options.silentRetries, retries) : retries
        if (!mayPass || attempt >= allowed) throw error
        for (const listener of this.retryListeners) listener(error)
        const delay = Math.min(options.firstDelay * 2 ** attempt, options.longestDelay)
        await pause(delay * (0.5 + Math.random() / 2), signal)
      }
    }
  }

  /** @param {CouchRequest} request */
  async #sendOnce (request) {
    const { signal, onPiece } = request
    const message = this.#messageOf(request)
    const silence = this.#silenceOf(request, message.body)
    const timer = silence ? timeoutSignal(silence, signal) : undefined
    let received = 0
    try {
      const answer = await this.#exchange({
        ...message,
        signal: timer?.signal ?? signal,
        onPiece (piece, status) {
          received += piece.length
          timer?.renew()
          const isTaken = onPiece !== undefined && isSuccess(status)
          if (isTaken) onPiece(piece)
          return isTaken
        }
      })
      if (answer.skew) this.skew = answer.skew
      if (!isSuccess(answer.status)) throw new Refusal(answer.status, answer.reason, answer.bytes)
      request.onBytes?.(received)
      return this.#resultOf(answer, request)
    } catch (error) {
      const failure = timer?.isOver && !signal?.aborted ? this.#silentError(request, silence) : error
      throw received ? Object.assign(failure, { isBroken: true }) : failure
    } finally {
      timer?.end()
    }
  }

  /** The request without the parts that depend on its timer. @param {CouchRequest} request */
  #messageOf (request) {
    const { method = 'GET', path, qs, body, raw, parse, most, anonymous, onPiece, isFrequent } = request
    const { type = 'application/json', accept = raw && !parse ? '*/*' : 'application/json' } = request
    const base = request.server ? this.serverUrl : this.url
    const url = new URL(path ? `${base}/${path}` : base)
    if (qs) url.search = searchOf(qs)
    const headers = { accept, 'content-type': type, ...(!anonymous && this.#headers()) }
    const isReady = body === undefined || typeof body === 'string' || body instanceof Uint8Array
    const content = isReady ? body : JSON.stringify(body)
    return { method, url, headers, body: content, most, isJson: !raw && !onPiece, isFrequent }
  }

  /**
   * Milliseconds without a byte of the answer after which a request fails; 0 for no limit.
   * @param {CouchRequest} request
   * @param {string | Uint8Array} [body] as it is sent
   */
  #silenceOf ({ timeout }, body) {
    const idleTimeout = timeout ?? this.options.silence
    return idleTimeout ? idleTimeout + (body?.length ?? 0) / SLOWEST_UPLOAD : 0
  }

  /** @param {CouchRequest} request @param {number} silence milliseconds */
  #silentError (request, silence) {
    const why = `no answer within ${silence / 1000} s`
    return new TilecouchError('UNREACHABLE', { url: this.url, why, ...(request.timeout && { silent: true }) })
  }

  /** @param {HttpAnswer} answer @param {CouchRequest} request */
  #resultOf ({ bytes, json }, { raw, parse, onPiece }) {
    if (onPiece) return undefined
    if (raw) return parse ? parse(bytes) : bytes
    const value = json ?? jsonIn(bytes)
    if (typeof value === 'object' && value !== null) return value
    throw new TilecouchError('BAD_ANSWER', { url: this.url, why: 'not JSON, or cut off' })
  }

  /** The error of the catalogue for a failure, and whether the request is to be repeated. */
  #failureFrom (caught, { server = false, isDivisible = false }) {
    const target = { url: server ? this.serverUrl : this.url, db: this.db }
    // the answer of a refusal is complete: 429 and 503 are repeated, even if the request is divisible
    if (caught instanceof Refusal) return failureOf(caught, { ...target, isServer: server })
    const isOurs = caught instanceof TilecouchError
    const error = isOurs ? caught : new TilecouchError('UNREACHABLE', { ...target, why: whyOf(caught) })
    if (caught.isBroken) error.details = { ...error.details, isBroken: true }
    const mayPass = error.code === 'BAD_ANSWER' || error.code === 'UNREACHABLE'
    return { error, mayPass: mayPass && !(caught.isBroken && isDivisible) }
  }
}

const isSuccess = status => status >= 200 && status < 300

const KEYS = new Set(['key', 'keys', 'startkey', 'endkey', 'start_key', 'end_key'])

/** @param {Record<string, any>} qs */
function searchOf (qs) {
  const entries = Object.entries(qs).filter(([, value]) => value !== undefined)
  const textOf = (name, value) => KEYS.has(name) ? JSON.stringify(value) : String(value)
  return new URLSearchParams(entries.map(([name, value]) => [name, textOf(name, value)])).toString()
}

// Turns CouchDB's error answers into errors of the catalogue.

/**
 * @param {{status: number, message: string, answer?: any}} refusal answer: the parsed body, if it is JSON
 * @param {{url: string, db: string, isServer: boolean}} target
 * @returns {{error: TilecouchError, mayPass: boolean}} mayPass: the request may succeed later
 */
export function failureOf ({ status, message, answer }, { url, db, isServer }) {
  const reason = scrub(answer?.reason ?? message)
  const failure = (code, details = {}, mayPass = false) => (
    { error: new TilecouchError(code, { url, status, reason, db, ...details }), mayPass }
  )
  const badAnswer = why => failure('BAD_ANSWER', { why, status: undefined })
  if (status === 507 || /no space left|enospc/i.test(reason)) return failure('DISK_FULL', { where: url })
  if (status === 401 && !/not authorized|not a (server|db)/i.test(reason)) return failure('UNAUTHORIZED')
  if (status === 401 || status === 403) return failure('FORBIDDEN')
  if (status === 404 && /database does not exist|no_db_file/i.test(reason)) return failure('DATABASE_NOT_FOUND')
  if (status >= 300 && status < 400) return badAnswer(`${status}: redirects are not followed`)
  // This 404 may come from a proxy whose CouchDB is down. It does not mean that the document is missing.
  if (status === 404 && !isServer && typeof answer?.error !== 'string') return badAnswer('404, and not from CouchDB')
  return failure('COUCHDB_ERROR', {}, status === 429 || status >= 500)
}

/** An answer with an error status. */
export class Refusal extends Error {
  /** @param {number} status @param {string | undefined} reason @param {Uint8Array} bytes */
  constructor (status, reason, bytes) {
    super(reason || `status ${status}`)
    this.status = status
    this.answer = jsonIn(bytes)
  }
}

/** Why a connection failed. If all addresses of a host fail, Node throws an error without a message. */
export const whyOf = ({ message, code, errors }) =>
  scrub(message || errors?.map(error => error.message).join(', ') || code || 'the connection failed')
