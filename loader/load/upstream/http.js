// Sends requests to an upstream, bounded in time and size. Errors contain nothing that was sent.
import { Agent } from 'undici'
import { TilecouchError } from '../../errors.js'
import { timeoutSignal } from '../../../core/promises.js'
import { headerOf } from './freshness.js'

export const httpDefaults = {
  maxBytes: 32e6, // bytes of an answer, packed or unpacked: a metatile of photographs has ten
  held: 256e6, // bytes of answers that are being read, of all upstreams of a process
  redirects: 3, // followed one after the other
  connect: 10 // seconds until there is a connection, at most
}

// codes of a kept-open connection that the server has closed: the request can be repeated
const STALE_CONNECTION = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

const WORDS = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its name cannot be looked up now',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time'
}

export class Requester {
  #agent
  #options

  /**
   * @param {object} options
   * @param {import('./secrets.js').Secrets} options.secrets
   * @param {import('./networks.js').Networks} options.networks that it may connect to
   * @param {Record<string, string>} options.headers sent with every request
   * @param {number} options.timeout seconds for a request
   * @param {number} options.connections
   * @param {number} [options.maxBytes]
   * @param {number} [options.held]
   */
  constructor (options) {
    const { timeout, connections, networks, maxBytes = httpDefaults.maxBytes } = options
    this.#options = options
    const milliseconds = timeout * 1000
    this.#agent = new Agent({
      connections,
      connect: networks.connector(Math.min(milliseconds, httpDefaults.connect * 1000)),
      headersTimeout: milliseconds,
      bodyTimeout: milliseconds,
      maxResponseSize: maxBytes
    })
    this.maxBytes = maxBytes
    /** Requests made, redirects and repetitions included. */
    this.requests = 0
  }

  /**
   * @param {string} url
   * @param {{headers?: Record<string, string>, signal?: AbortSignal}} [options]
   * @returns {Promise<{status: number, headers: import('./freshness.js').Headers, bytes: Buffer}>} bytes only with
   * status 200
   */
  async get (url, { headers = {}, signal } = {}) {
    const first = new URL(url)
    // one timeout for everything from connecting to the last byte
    const wait = timeoutSignal(this.#options.timeout * 1000, signal)
    try {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      return await this.#follow(first, headers, wait.signal)
    } catch (error) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      if (error instanceof TilecouchError) throw error
      if (wait.isOver) throw failed(first, `no answer within ${this.#options.timeout} s`)
      throw requestError(error, first)
    } finally {
      wait.end()
    }
  }

  async #follow (first, headers, signal) {
    let url = first
    for (let hop = 0; ; hop++) {
      const answer = await this.#sendWithRetry(url, headers, signal)
      const status = answer.statusCode
      const location = headerOf(answer.headers, 'location')
      const { headers: received } = answer
      if (status === 200) return { status, headers: received, bytes: await read(answer.body, this.#options.held) }
      await answer.body.dump({ limit: 65536, signal })
      const isRedirect = [301, 302, 303, 307, 308].includes(status) && location !== undefined
      if (!isRedirect) return { status, headers: received, bytes: Buffer.alloc(0) }
      if (hop === httpDefaults.redirects) throw failed(first, 'it redirects again and again')
      url = resolve(location, url, first)
    }
  }

  async #sendWithRetry (url, headers, signal) {
    try {
      return await this.#send(url, headers, signal)
    } catch (error) {
      if (signal.aborted || !STALE_CONNECTION.has(error.code)) throw error
      return this.#send(url, headers, signal)
    }
  }

  #send (url, headers, signal) {
    this.requests++
    const secret = this.#options.secrets.for(url)
    const search = secret.query ? `${url.search ? `${url.search}&` : '?'}${secret.query}` : url.search
    const allHeaders = { ...this.#options.headers, ...headers, ...secret.headers }
    return this.#agent.request({
      origin: url.origin, path: url.pathname + search, method: 'GET', headers: allHeaders, signal
    })
  }

  async close () {
    await this.#agent.destroy()
  }
}

let heldBytes = 0

// marks errors of the body: the server was reached even if the body ends early
async function read (body, most = httpDefaults.held) {
  const chunks = []
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      heldBytes += chunk.length
      if (heldBytes > most) throw Object.assign(new Error('too much at once'), { code: 'TOO_MUCH' })
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, size)
  } catch (error) {
    throw Object.assign(error, { inBody: true })
  } finally {
    heldBytes -= size
  }
}

function resolve (location, url, first) {
  if (!URL.canParse(location, url.href)) throw failed(first, 'it redirects to something that is no address')
  const next = new URL(location, url)
  if (!/^https?:$/.test(next.protocol)) throw failed(first, 'it redirects to something that is not HTTP')
  return next
}

const failed = (url, why) => new TilecouchError('UPSTREAM_FAILED', { url: url.origin, why })

// error messages may quote what was sent or received; their codes do not
function requestError (error, url) {
  const code = typeof error.code === 'string' ? error.code : ''
  if (code === 'ADDRESS_REFUSED') {
    return new TilecouchError('UPSTREAM_ADDRESS', { url: url.origin, address: error.address })
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return failed(url, 'its answer is too large')
  if (code === 'TOO_MUCH') return failed(url, 'answers that are being read take more memory than they may')
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return failed(url, 'no answer in time')
  if (error.inBody) return failed(url, 'its answer was cut off')
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') return failed(url, 'its answer is not HTTP')
  return new TilecouchError('UPSTREAM_UNREACHABLE', {
    url: url.origin, why: WORDS[code] ?? (code || 'the connection failed')
  })
}
