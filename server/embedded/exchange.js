// One request and its answer. A rewrite makes a second exchange for the same answer, so method, target, headers and
// body are values here and not read from Node's request.
import { once } from 'node:events'
import { parse, unescape } from 'node:querystring'
import { matchesEtag, sendBody } from '../http/answers.js'
import { parseJson as parseWithin, readBody, requireJson } from '../http/body.js'
import { HttpError, badRequest, notAllowed, tooLarge } from '../http/errors.js'
import { isObject, mapValues } from '../../core/values.js'

export const MAX_BODY = 256 * 1024 * 1024 // bytes; a batch of 500 tiles of 100 kB in base64 is 70 MB
export const MAX_QUESTION = 16 * 1024 * 1024 // bytes of the body of a query: 200,000 keys

const JSON_HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'must-revalidate' }

/** Decodes a path segment as mochiweb does: also + to a space. Bytes that are no UTF-8 are replaced. */
const decode = text => unescape(text.replaceAll('+', ' '))

/**
 * Parses the parameters of a query. If one occurs several times, the first value counts.
 * @param {string} search without the question mark @returns {Record<string, string>}
 */
const parseQuery = search =>
  mapValues(parse(search, '&', '=', { maxKeys: 0 }), value => Array.isArray(value) ? value[0] : value)

export class Exchange {
  /**
   * @param {{method: string, target: string, headers: Record<string, any>, req: import('node:http').IncomingMessage,
   *   res: import('node:http').ServerResponse, body?: Promise<Buffer>, rewrites?: number, signal: AbortSignal}} parts
   */
  constructor ({ method, target, headers, req, res, body, rewrites = 0, signal }) {
    this.method = method
    this.target = target
    this.headers = headers
    this.req = req
    this.res = res
    this.rewrites = rewrites
    this.signal = signal
    this.bodyPromise = body
    if (/%(?![0-9a-f]{2})/i.test(target)) throw badRequest('invalid_url_encoding')
    const [path, ...search] = target.split('?')
    this.search = search.join('?')
    this.segments = path.split('/').filter(part => part !== '').map(decode)
    this.query = parseQuery(this.search)
    this.userCtx = /** @type {any} */ (null) // set by the router, like the next two
    this.hasSession = false // whether the user is that of a cookie
    this.db = /** @type {any} */ (null)
  }

  /** Returns this exchange for another target. */
  rewritten ({ target, headers }) {
    const body = this.bytes()
    body.catch(() => {}) // a failed upload is reported to the reader of the body
    const { method, req, res, signal } = this
    return new Exchange({ method, target, headers, body, req, res, signal, rewrites: this.rewrites + 1 })
  }

  /** @param {number} [most] bytes that it may have */
  async bytes (most = MAX_BODY) {
    this.bodyPromise ??= readBody(this.req, most)
    const bytes = await this.bodyPromise
    if (bytes.length > most) throw tooLarge(most) // it may have been read before a rewrite
    return bytes
  }

  /** @param {number} [most] bytes */
  async json (most) {
    return parseJson(await this.bytes(most))
  }

  /** Reads the JSON object of a POST. @param {number} [most] bytes */
  async jsonObject (most) {
    requireJson(this)
    const body = await this.json(most)
    if (!isObject(body)) throw badRequest('Request body must be a JSON object')
    return body
  }

  /** Reads the JSON object of a query, with a lower limit. */
  question () {
    return this.jsonObject(MAX_QUESTION)
  }

  /** Refuses other methods. @param {...string} methods */
  only (...methods) {
    if (!methods.includes(this.method)) throw notAllowed(methods)
  }

  /** A true/false parameter. */
  flag (name, otherwise = false) {
    const value = this.query[name]
    if (value === undefined) return otherwise
    if (value === 'true') return true
    if (value === 'false') return false
    throw new HttpError(400, 'query_parse_error', `Invalid boolean parameter: ${JSON.stringify(value)}`)
  }

  origin () {
    return `http://${this.headers.host ?? `127.0.0.1:${this.req.socket.localPort}`}`
  }

  send (status, body, headers = {}) {
    if (this.res.headersSent) return this.res.destroy()
    sendBody(this, this.res, status, headers, Buffer.isBuffer(body) ? body : Buffer.from(String(body)))
  }

  sendJson (status, body, headers = {}) {
    this.send(status, `${JSON.stringify(body)}\n`, { ...JSON_HEADERS, ...headers })
  }

  /** Answers 304 if the client has this version already. */
  unchanged (etag) {
    const isUnchanged = ['GET', 'HEAD'].includes(this.method) && matchesEtag(this.headers['if-none-match'], etag)
    if (isUnchanged) this.res.writeHead(304, { ETag: etag, 'Cache-Control': 'must-revalidate' }).end()
    return isUnchanged
  }

  /**
   * Writes a piece of JSON, waiting while the client is slow. Throws when it has left. Until the first piece is
   * written, an error becomes the answer.
   */
  async write (text) {
    this.signal.throwIfAborted()
    if (!this.res.headersSent) this.res.writeHead(200, JSON_HEADERS)
    if (this.method === 'HEAD' || this.res.write(text)) return
    await once(this.res, 'drain', { signal: this.signal })
  }
}

/** Limits of JSON: a batch of documents has some ten thousand values. */
const SHAPE = { levels: 200, values: 1e6 }

/** Parses JSON that a client has sent. @param {string | Buffer} text */
export const parseJson = text => parseWithin(Buffer.isBuffer(text) ? text : Buffer.from(text), SHAPE)
