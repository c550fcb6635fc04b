// The CouchDB client (core/couch/client.js) for browsers, over fetch, and a store as a peer of a replication.
import { raceAbort } from '../../core/promises.js'
import { CouchClient } from '../../core/couch/client.js'
import { TilecouchError } from '../../core/index.js'
import { CouchPeer, checkDigests } from '../../core/mirror/index.js'
import { fromBase64, toBase64, unpack } from './base64.js'
import { digestOf } from './digest.js'

export const httpDefaults = {
  retries: 8, // times a request is repeated after 429, 5xx or a lost connection
  firstDelay: 250, // milliseconds before the first repetition, doubled each time
  longestDelay: 10000, // milliseconds between two repetitions at most
  silentRetries: 0, // a request with `timeout` may ask for too much: it is not repeated as it is
  silence: 30000, // milliseconds without a byte until a connection counts as lost
  fetchOptions: /** @type {RequestInit} */ ({}) // for every request, as fetch takes them: credentials, headers, …
}

export class HttpCouch extends CouchClient {
  #authorization

  /**
   * @param {string} url of a database, absolute or relative to the page; may hold a name and password
   * @param {Partial<typeof httpDefaults>} [options]
   */
  constructor (url, options = {}) {
    const { href, authorization } = parseUrl(url)
    super({
      url: href,
      headers: () => this.headers,
      exchange: request => this.#send(request),
      bulkBody,
      options: { ...httpDefaults, ...options }
    })
    this.#authorization = authorization
    this.fetchOptions = options.fetchOptions ?? {}
  }

  /**
   * Headers of every request, with the name and password if there is one. Their names are in lower case.
   * @returns {Record<string, string>}
   */
  get headers () {
    return { ...this.#authorization, ...Object.fromEntries(new Headers(this.fetchOptions.headers)) }
  }

  /** @type {import('../../core/couch/client.js').Exchange} */
  async #send ({ method, url, headers: { 'content-type': type, ...headers }, body, most, signal, onPiece }) {
    const request = fetch(url, {
      cache: 'no-store', // the device keeps tiles itself, and a repeated request has to get a new answer
      ...this.fetchOptions,
      method,
      // without a body the type would cost a preflight
      headers: { ...headers, ...(body !== undefined && { 'content-type': type }) },
      body: /** @type {any} */ (body),
      signal
    })
    const response = await raceAbort(request, signal)
    const bytes = await raceAbort(readAll(response, most, piece => onPiece(piece, response.status)), signal)
    return { status: response.status, reason: response.statusText, bytes }
  }
}

/** @param {any[]} docs @param {{newEdits?: boolean}} options */
async function bulkBody (docs, { newEdits = true }) {
  const body = { ...(!newEdits && { new_edits: false }), docs: await unpack(docs) }
  return JSON.stringify(body, (key, value) => value instanceof Uint8Array ? toBase64(value) : value)
}

/** @param {string} url */
function parseUrl (url) {
  try {
    const { protocol, origin, pathname, username, password, search } = new URL(url.trim(), globalThis.location?.href)
    if (!/^https?:$/.test(protocol) || search || !/[^/]/.test(pathname)) throw new Error('no database')
    const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    const authorization = /** @type {Record<string, string>} */ ({})
    // fetch takes no address with a password in it
    if (username) authorization.authorization = `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}`
    return { href: `${origin}${pathname.replace(/\/+$/, '')}`, authorization }
  } catch {
    throw new TilecouchError('BAD_DATABASE', { value: typeof url === 'string' ? url.replace(/\/\/[^/]*@/, '//') : url })
  }
}

/** @param {Response} response @param {number | undefined} most @param {(piece: Uint8Array) => boolean} onPiece */
async function readAll (response, most, onPiece) {
  const reader = response.body?.getReader()
  const chunks = /** @type {Uint8Array[]} */ ([])
  let length = 0
  for (;;) {
    const { value } = await reader?.read() ?? {}
    if (!value) break
    if (onPiece(value)) continue
    length += value.length
    if (most && length > most) {
      reader?.cancel().catch(() => {})
      throw new TilecouchError('ANSWER_TOO_LARGE', { host: new URL(response.url).host, most })
    }
    chunks.push(value)
  }
  if (chunks.length === 1) return chunks[0]
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/** @type {import('../../core/mirror/peer.js').Codec} */
export const codec = {
  // a device may keep a tile for months, so that its bytes must be right
  check: docs => checkDigests(docs, data => digestOf(typeof data === 'string' ? fromBase64(data) : data))
}

/**
 * A store that a mirror only reads: it writes no checkpoint there. Thousands of devices would leave one each, most may
 * not write, and each refused write would put an error into the console of the browser.
 */
export class ReadOnlyPeer extends CouchPeer {
  async getLocal () {
    return undefined
  }

  /** @returns {Promise<never>} */
  async updateLocal () {
    throw new TilecouchError('READ_ONLY', { reason: `${this.name} is not written to` })
  }
}
