// Passes questions on to the store's database, with the gateway's own credentials, and its answers back as they come.
import { setMaxListeners } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { Pool } from 'undici'
import { accepts } from '../codings.js'
import { SAFE } from '../safe.js'
import { Refusal, away, notFound } from './refusal.js'
import { Seats } from './seats.js'

export const proxyDefaults = {
  connections: 96, // to the store, for questions that are answered at once; more of them wait
  waiting: 2000, // of those that wait for one of these connections, and as many for those of images
  images: 48, // connections to the store for answers with images in JSON, which can be hundreds of MB; more of them wait
  imagesEach: 24, // of those that ask for them or wait, for one address
  longest: 1800000, // milliseconds such an answer may take from its first byte on
  feeds: 500, // that wait for changes at a time; each is a connection to the store
  feedsEach: 64, // of these for one address; a proxy on this machine counts as none, here and above
  connectTimeout: 5000, // milliseconds until a store that does not take a connection is away
  patience: 30000, // milliseconds a document or an image may take to come, and the pauses in between
  longPatience: 600000, // milliseconds for all else: a view may have to be built first, a feed waits
  mostChanged: 8e6, // bytes of an answer that is read as a whole, since not all of it is for who asked
  stall: 30000 // milliseconds in which nothing of an answer goes on: it holds a connection to the store, which others wait for
}

// What is passed on. Credentials, cookies and what belongs to one connection are not among it.
const ASKED = ['accept', 'if-none-match']
const ANSWERED = ['content-type', 'content-length', 'content-encoding', 'content-range', 'content-md5', 'accept-ranges', 'etag', 'last-modified', 'cache-control']

export const IMMUTABLE = 'public, max-age=31536000, immutable'

export class DatabaseProxy {
  #access
  /** Connections of their own, so that none of these keeps the others waiting. @type {Record<'reads' | 'images' | 'feeds', {pool: Pool, seats: Seats}>} */
  #ways
  #closing = new AbortController()
  /** @type {Promise<any> | undefined} */
  #closed

  /**
   * @param {import('../../../loader/store/couch.js').Couch} couch
   * @param {Partial<typeof proxyDefaults> & {log?: any, signal?: AbortSignal, trustProxy?: boolean}} [options] signal: the gateway ends
   */
  constructor (couch, { log, signal, trustProxy = false, ...options } = {}) {
    this.options = { ...proxyDefaults, ...options }
    this.log = log
    this.#access = couch.access
    setMaxListeners(0, this.#closing.signal) // one for each feed
    const { connections, waiting, images, imagesEach, feeds, feedsEach, connectTimeout } = this.options
    const way = (most, seats) => ({
      pool: new Pool(this.#access.origin, { connect: { timeout: connectTimeout }, pipelining: 1, keepAliveTimeout: 20000, connections: most }),
      seats: new Seats({ trustProxy, ...seats })
    })
    const tooMuch = status => () => away(status, 'too much is asked at once')
    this.#ways = {
      reads: way(connections, { most: connections + waiting, refusal: tooMuch(503) }),
      images: way(images, { most: images + waiting, each: imagesEach, refusal: tooMuch(429) }),
      feeds: way(feeds, { most: feeds, each: feedsEach, refusal: () => away(429, 'too many wait for changes already') })
    }
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
    const way = this.#ways[reading.waits ? 'feeds' : reading.isLarge || change ? 'images' : 'reads']
    const giveBack = way.seats.take(req)
    const gone = new AbortController()
    const leave = () => gone.abort()
    res.once('close', leave)
    if (reading.waits) this.#closing.signal.addEventListener('abort', leave)
    const late = seconds === undefined ? undefined : setTimeout(() => res.destroy(), Math.max(0, seconds * 1000))
    const asked = { reading, body, pool: way.pool, signal: gone.signal }
    try {
      await (change ? this.#passChanged(asked, req, res, change) : this.#pass(asked, req, res))
    } finally {
      clearTimeout(late)
      giveBack()
      res.off('close', leave)
      this.#closing.signal.removeEventListener('abort', leave)
    }
  }

  /** Asks; throws what is no answer to who asked. */
  async #answer (asked, headers) {
    const answer = await this.#ask(asked, headers)
    const { statusCode: status } = answer
    const trouble = troubleOf(status)
    if (!trouble) return answer
    await answer.body.dump({ limit: 65536 }).catch(() => {})
    this.log?.warn({ status, path: asked.reading.path }, 'the store did not answer what /db asked')
    throw trouble
  }

  /** An answer of which not all is for who asked: read as a whole, and with nothing of the store's own to tell it by. */
  async #passChanged ({ reading, ...asked }, req, res, change) {
    const whole = { ...reading, method: reading.method === 'HEAD' ? 'GET' : reading.method }
    const { statusCode, body: answer } = await this.#answer({ ...asked, reading: whole }, { accept: 'application/json' })
    const value = await readJson(answer, this.options.mostChanged)
    const text = Buffer.from(`${JSON.stringify(statusCode === 200 ? change(value) : value)}\n`)
    res.writeHead(statusCode, { 'Content-Type': 'application/json', 'Content-Length': text.length, 'Cache-Control': 'must-revalidate', ...SAFE })
    res.end(req.method === 'HEAD' ? undefined : text)
  }

  async #pass ({ reading, ...asked }, req, res) {
    const answer = await this.#answer({ ...asked, reading }, headersFor(req))
    const { statusCode: status, headers } = answer
    const kept = Object.fromEntries(ANSWERED.filter(name => headers[name] !== undefined).map(name => [name, headers[name]]))
    if (reading.pinned && (status === 200 || status === 206 || status === 304)) kept['cache-control'] = IMMUTABLE
    if (kept['content-encoding']) res.appendHeader('Vary', 'Accept-Encoding')
    res.writeHead(status, { ...kept, ...SAFE })
    if (!reading.waits) res.setTimeout(this.options.stall, () => res.destroy())
    const late = reading.isLarge && !reading.waits ? setTimeout(() => res.destroy(), this.options.longest) : undefined
    try {
      if (req.method === 'HEAD') {
        await answer.body.dump()
        res.end()
      } else await pipeline(answer.body, res)
    } catch {
      res.destroy() // one of the two left; half an answer must not look whole
    } finally {
      clearTimeout(late)
    }
  }

  /** Asks, and once more when the connection had been closed from the other side in the meantime: all of this only reads. */
  async #ask ({ reading, body, pool, signal }, given) {
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
    return (this.#closed ??= Promise.all(Object.values(this.#ways).map(({ pool }) => pool.close())))
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
