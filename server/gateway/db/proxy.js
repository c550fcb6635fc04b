// Passes questions on to the store's database, with the gateway's own credentials, and its answers back as they come.
import { setMaxListeners } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { Pool } from 'undici'
import { accepts } from '../codings.js'
import { peerOf } from '../peer.js'
import { SAFE } from '../safe.js'
import { Refusal, away, notFound } from './refusal.js'

export const proxyDefaults = {
  connections: 96, // to the store, for questions that are answered at once; more of them wait
  waiting: 2000, // of those that wait for one of these connections
  feeds: 500, // that wait for changes at a time; each is a connection to the store
  feedsEach: 64, // of these for one address; a proxy on this machine counts as none
  connectTimeout: 5000, // milliseconds until a store that does not take a connection is away
  patience: 30000, // milliseconds a document or an image may take to come, and the pauses in between
  longPatience: 600000, // milliseconds for all else: a view may have to be built first, a feed waits
  mostChanged: 32e6, // bytes of an answer that is read as a whole, since not all of it is for who asked
  stall: 30000 // milliseconds in which nothing of an answer goes on: it holds a connection to the store, which others wait for
}

// What is passed on. Credentials, cookies and what belongs to one connection are not among it.
const ASKED = ['accept', 'if-none-match']
const ANSWERED = ['content-type', 'content-length', 'content-encoding', 'content-range', 'content-md5', 'accept-ranges', 'etag', 'last-modified', 'cache-control']

export const IMMUTABLE = 'public, max-age=31536000, immutable'

export class DatabaseProxy {
  #access
  #reads
  #feeds
  #open = 0 // feeds
  #asked = 0 // all else
  /** @type {Map<string, number>} feeds of an address */
  #each = new Map()
  #closing = new AbortController()
  /** @type {Promise<any> | undefined} */
  #closed

  /**
   * @param {import('../../../loader/store/couch.js').Couch} couch
   * @param {Partial<typeof proxyDefaults> & {log?: any, signal?: AbortSignal, trustProxy?: boolean}} [options] signal: the gateway ends
   */
  constructor (couch, { log, signal, trustProxy = false, ...options } = {}) {
    this.trustProxy = trustProxy
    this.options = { ...proxyDefaults, ...options }
    this.log = log
    this.#access = couch.access
    setMaxListeners(0, this.#closing.signal) // one for each feed
    const { connections, feeds, connectTimeout } = this.options
    const common = { connect: { timeout: connectTimeout }, pipelining: 1, keepAliveTimeout: 20000 }
    this.#reads = new Pool(this.#access.origin, { ...common, connections })
    this.#feeds = new Pool(this.#access.origin, { ...common, connections: feeds }) // they must not keep others waiting
    signal?.addEventListener('abort', () => { this.close() }, { once: true })
  }

  /**
   * @param {import('./reading.js').Reading} reading
   * @param {any} body of a POST
   * @param {import('node:http').IncomingMessage} req
   * @param {import('node:http').ServerResponse} res
   * @param {{change?: (answer: any) => any, seconds?: number}} [options] change: of an answer in JSON, before it is given; seconds: it may last
   */
  async forward (reading, body, req, res, { change, seconds } = {}) {
    const leaveQueue = this.#enter(reading, req)
    const gone = new AbortController()
    const leave = () => gone.abort()
    res.once('close', leave)
    if (reading.waits) this.#closing.signal.addEventListener('abort', leave)
    const late = seconds === undefined ? undefined : setTimeout(() => res.destroy(), Math.max(0, seconds * 1000))
    try {
      await (change ? this.#passChanged(reading, body, req, res, gone.signal, change) : this.#pass(reading, body, req, res, gone.signal))
    } finally {
      clearTimeout(late)
      leaveQueue()
      res.off('close', leave)
      this.#closing.signal.removeEventListener('abort', leave)
    }
  }

  /** Takes a place among those who ask, if there is one. @returns {() => void} to leave it */
  #enter ({ waits }, req) {
    const { connections, waiting, feeds, feedsEach } = this.options
    if (!waits) {
      if (this.#asked >= connections + waiting) throw away(503, 'too much is asked at once')
      this.#asked++
      return () => { this.#asked-- }
    }
    const peer = peerOf(req, this.trustProxy)
    const own = peer === null ? 0 : this.#each.get(peer) ?? 0
    if (this.#open >= feeds || own >= feedsEach) throw away(429, 'too many wait for changes already')
    this.#open++
    if (peer !== null) this.#each.set(peer, own + 1)
    return () => {
      this.#open--
      if (peer === null) return
      const left = (this.#each.get(peer) ?? 0) - 1
      if (left > 0) this.#each.set(peer, left)
      else this.#each.delete(peer)
    }
  }

  /** Asks; throws what is no answer to who asked. */
  async #answer (reading, body, headers, signal) {
    const answer = await this.#ask(reading, body, headers, signal)
    const { statusCode: status } = answer
    const trouble = troubleOf(status)
    if (!trouble) return answer
    await answer.body.dump({ limit: 65536 }).catch(() => {})
    this.log?.warn({ status, path: reading.path }, 'the store did not answer what /db asked')
    throw trouble
  }

  /** An answer of which not all is for who asked: read as a whole, and with nothing of the store's own to tell it by. */
  async #passChanged (reading, body, req, res, signal, change) {
    const { statusCode, body: answer } = await this.#answer({ ...reading, method: reading.method === 'HEAD' ? 'GET' : reading.method }, body, { accept: 'application/json' }, signal)
    const value = await readJson(answer, this.options.mostChanged)
    const text = Buffer.from(`${JSON.stringify(statusCode === 200 ? change(value) : value)}\n`)
    res.writeHead(statusCode, { 'Content-Type': 'application/json', 'Content-Length': text.length, 'Cache-Control': 'must-revalidate', ...SAFE })
    res.end(req.method === 'HEAD' ? undefined : text)
  }

  async #pass (reading, body, req, res, signal) {
    const answer = await this.#answer(reading, body, headersFor(req), signal)
    const { statusCode: status, headers } = answer
    const kept = Object.fromEntries(ANSWERED.filter(name => headers[name] !== undefined).map(name => [name, headers[name]]))
    if (reading.pinned && (status === 200 || status === 206 || status === 304)) kept['cache-control'] = IMMUTABLE
    if (kept['content-encoding']) res.appendHeader('Vary', 'Accept-Encoding')
    res.writeHead(status, { ...kept, ...SAFE })
    if (!reading.waits) res.setTimeout(this.options.stall, () => res.destroy())
    try {
      if (req.method === 'HEAD') {
        await answer.body.dump()
        res.end()
      } else await pipeline(answer.body, res)
    } catch {
      res.destroy() // one of the two left; half an answer must not look whole
    }
  }

  /** Asks, and once more when the connection had been closed from the other side in the meantime: all of this only reads. */
  async #ask (reading, body, given, signal) {
    const { path, headers } = this.#access
    const patience = /document|attachment|info/.test(reading.question) ? this.options.patience : this.options.longPatience
    const request = {
      method: reading.method,
      path: path + reading.path + reading.search,
      headers: { ...given, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      headersTimeout: patience,
      bodyTimeout: patience
    }
    const pool = reading.waits ? this.#feeds : this.#reads
    for (let attempt = 1; ; attempt++) {
      try {
        return await pool.request(request)
      } catch (error) {
        if (attempt > 1 || signal.aborted || !isCut(error)) throw this.#explain(error, signal)
      }
    }
  }

  #explain (error, signal) {
    if (signal.aborted) return away()
    if (/^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/.test(error.code)) return notFound()
    this.log?.warn({ code: error.code ?? error.name }, 'the store cannot be reached for /db')
    return error.code === 'UND_ERR_HEADERS_TIMEOUT' ? away(504, 'the store did not answer in time') : away()
  }

  /** Feeds end, reads under way are answered. */
  close () {
    this.#closing.abort()
    return (this.#closed ??= Promise.all([this.#reads.close(), this.#feeds.close()]))
  }
}

async function readJson (body, most) {
  const chunks = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > most) throw away(502, 'the answer of the store is too large')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw away(502, 'the store is in trouble')
  }
}

const isCut = ({ code }) => code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'

function headersFor ({ headers }) {
  const passed = Object.fromEntries(ASKED.filter(name => headers[name] !== undefined).map(name => [name, headers[name]]))
  // one range and one encoding, as CouchDB knows them; whatever else is asked for, everything is an answer
  if (/^bytes=(\d{1,15}-\d{0,15}|-\d{1,15})$/.test(headers.range ?? '')) passed.range = headers.range
  if (accepts(headers['accept-encoding'], 'gzip')) passed['accept-encoding'] = 'gzip'
  return passed
}

/** Answers that are not for who asked: they are about the gateway and its store. */
function troubleOf (status) {
  if (status === 401 || status === 403) return new Refusal(502, 'bad_gateway', 'the store does not let the gateway read')
  if (status >= 300 && status < 400 && status !== 304) return notFound()
  return status >= 500 ? away(status === 503 ? 503 : 502, 'the store is in trouble') : null
}
