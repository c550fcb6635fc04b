// A CouchDB, an embedded store or the /db of a gateway over fetch, with what a side of a replication asks of it: retries,
// and every failure as an error of the catalogue.
import { TilecouchError } from '../../core/index.js'
import { raceAbort, timeoutSignal } from '../../core/abort.js'
import { failureOf, isPassing, unanswered } from '../source/failure.js'
import { backoff, wait } from '../source/patience.js'

export const httpDefaults = {
  retries: 8, // times a request is repeated after 429, 5xx or a lost connection
  firstDelay: 250, // milliseconds before the first repetition, doubled each time
  longestDelay: 10000, // milliseconds between two repetitions at most
  silence: 30000, // milliseconds without a byte until a connection counts as lost: slow ones are waited for
  fetchOptions: {} // for every request, as fetch takes them: credentials, headers, …
}

/**
 * @typedef {object} HttpRequest
 * @property {string} [method]
 * @property {string} [path] below the database, already encoded
 * @property {Record<string, any>} [qs]
 * @property {any} [body] an object; or JSON already, as a string or bytes
 * @property {boolean} [raw] the answer as bytes
 * @property {number} [most] bytes of an answer; one that is larger is given up
 * @property {(bytes: Uint8Array) => any} [parse] what becomes of a raw answer; when it throws BAD_ANSWER, the request is made again
 * @property {string} [accept] media types, when not JSON
 * @property {number} [patience] milliseconds without a byte until it is given up, and then not repeated: what is asked for may be too much
 * @property {number} [retries]
 * @property {boolean} [isDivisible] less can be asked for: when the answer breaks off in the middle, it is not asked for again as it is
 * @property {(bytes: number) => void} [onBytes] told the length of an answer that came whole
 * @property {AbortSignal} [signal]
 */

export class HttpCouch {
  #authorization

  /**
   * @param {string} url of a database, absolute or relative to the page; may hold a name and password
   * @param {Partial<typeof httpDefaults>} [options]
   */
  constructor (url, options = {}) {
    const { href, authorization } = parseUrl(url)
    this.url = href
    this.#authorization = authorization
    this.options = { ...httpDefaults, ...options }
  }

  /** What every request carries; with a name and password, if there is one. @returns {Record<string, string>} */
  get headers () {
    return { ...this.#authorization, ...this.options.fetchOptions.headers }
  }

  /**
   * @param {HttpRequest} request
   * @returns {Promise<any>}
   */
  async request (request) {
    const { retries, firstDelay, longestDelay } = this.options
    const { signal } = request
    for (let attempt = 0; ; attempt++) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      try {
        return await this.#once(request)
      } catch (error) {
        if (signal?.aborted) throw new TilecouchError('ABORTED')
        if (!isPassing(error) || error.details.silent || attempt >= (request.retries ?? retries)) throw error
        if (request.isDivisible && error.details.isBroken) throw error
        await wait(backoff(attempt, { first: firstDelay, longest: longestDelay }), signal).catch(() => {})
      }
    }
  }

  /** As request, with undefined for what is not there. @param {HttpRequest} request */
  async find (request) {
    try {
      return await this.request(request)
    } catch (error) {
      if (error.details?.status === 404) return undefined
      throw error
    }
  }

  /** @param {HttpRequest} request */
  async #once ({ method = 'GET', path = '', qs = {}, body, raw, most, parse, accept = 'application/json', patience: given, onBytes, signal }) {
    const { silence, fetchOptions } = this.options
    const target = new URL(path && `${this.url}/${path}` || this.url)
    target.search = new URLSearchParams(qs).toString()
    const init = {
      cache: /** @type {const} */ ('no-store'), // tiles have a place of their own, and what is asked for twice is to be new
      ...fetchOptions,
      method,
      headers: { Accept: accept, ...(body !== undefined && { 'Content-Type': 'application/json' }), ...this.headers },
      body: body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
    }
    const heard = timeoutSignal(given ?? silence, signal)
    let received = 0
    const onPiece = length => {
      received += length
      heard.renew()
    }
    try {
      const response = await raceAbort(fetch(target, { ...init, signal: heard.signal }), heard.signal)
      if (!response.ok) throw await failureOf(response, this.url)
      const bytes = await raceAbort(readAll(response, most, onPiece), heard.signal)
      onBytes?.(received)
      return raw ? parse ? parse(bytes) : bytes : this.#json(bytes)
    } catch (error) {
      if (error instanceof TilecouchError) throw error.code === 'BAD_ANSWER' ? broken(error, received) : error
      if (heard.isOver) throw broken(new TilecouchError('UNREACHABLE', { url: this.url, why: `nothing heard for ${(given ?? silence) / 1000} s`, silent: given !== undefined }), received)
      throw broken(unanswered(error, { url: this.url, timeout: silence, signal }), received)
    } finally {
      heard.end()
    }
  }

  #json (bytes) {
    try {
      const answer = JSON.parse(new TextDecoder().decode(bytes))
      if (typeof answer === 'object' && answer !== null) return answer
    } catch {
      // cut off, or a page of something in between
    }
    throw new TilecouchError('BAD_ANSWER', { url: this.url, why: 'not JSON, or cut off' })
  }
}

/** An error that says whether some of the answer came. */
const broken = (error, received) => received && error.details ? Object.assign(error, { details: { ...error.details, isBroken: true } }) : error

/** @param {string} url */
function parseUrl (url) {
  try {
    const { protocol, origin, pathname, username, password, search } = new URL(url.trim(), globalThis.location?.href)
    if (!/^https?:$/.test(protocol) || search || !/[^/]/.test(pathname)) throw new Error('no database')
    const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    return {
      href: `${origin}${pathname.replace(/\/+$/, '')}`,
      // fetch takes no address with a password in it
      authorization: username ? { Authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}` } : {}
    }
  } catch {
    throw new TilecouchError('BAD_DATABASE', { value: typeof url === 'string' ? url.replace(/\/\/[^/]*@/, '//') : url })
  }
}

/** @param {Response} response @param {number | undefined} most @param {(length: number) => void} onPiece */
async function readAll (response, most, onPiece) {
  const reader = response.body?.getReader()
  const chunks = /** @type {Uint8Array[]} */ ([])
  let length = 0
  for (;;) {
    const { value } = await reader?.read() ?? {}
    if (!value) break
    onPiece(value.length)
    length += value.length
    if (most && length > most) {
      reader?.cancel().catch(() => {})
      throw new TilecouchError('ANSWER_TOO_LARGE', { host: new URL(response.url).host, most })
    }
    chunks.push(value)
  }
  if (chunks.length === 1) return chunks[0]
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
