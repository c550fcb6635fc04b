// The HTTP server: what it takes, how long it waits, and how it ends. What the answers are is the handler's.
import { createServer } from 'node:http'
import { Server as NetServer } from 'node:net'
import { TilecouchError } from '../../core/index.js'
import { peerOf } from './peer.js'
import { SAFE } from './safe.js'

export const listenerDefaults = {
  keepAliveTimeout: 75000, // milliseconds an idle connection is kept: longer than load balancers keep theirs, or they would send into a closed one
  headersTimeout: 15000, // milliseconds the head of a request may take to come
  requestTimeout: 30000, // milliseconds all of a request may take to come
  checking: 5000, // milliseconds between two looks for requests that come too slowly
  idle: 900000, // milliseconds in which nothing moves on a connection: a view may be built for ten minutes before an answer begins
  pipelined: 64, // requests of a connection that wait for their answers: browsers and proxies send the next one after the answer
  maxHeaderSize: 16384, // bytes of a head, address included
  connectionsEach: 0, // connections of one address; this machine has as many as it likes, and 0 means everybody
  backlog: 1024, // connections that wait to be accepted
  linger: 500 // milliseconds after an answer in which, at a shutdown, the next request may be on its way
}

const SWEEP = 20 // milliseconds between two looks for connections that have become idle, during a shutdown

/** The time of the last request of a connection. */
const used = Symbol('used')
/** Requests of a connection that wait for their answers. */
const waiting = Symbol('waiting')

/**
 * Answers at once and returns nothing, or returns a promise of the end of the answer, which never rejects.
 * @typedef {(req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => void | Promise<void>} Handler
 */

export class Listener {
  #server
  #handler
  #peer
  #options
  #sockets = new Set()
  /** Connections of an address. @type {Map<string, number>} */
  #each = new Map()
  /** Answers that are not given at once. @type {Set<import('node:http').ServerResponse>} */
  #live = new Set()
  /** @type {Promise<void> | undefined} */
  #closed

  /**
   * @param {Handler} handler
   * @param {Partial<typeof listenerDefaults> & {maxConnections?: number, peer?: (socket: import('node:net').Socket) => string | null}} [options] peer: whose connection it is; null: nobody's who is counted
   */
  constructor (handler, { peer = socket => peerOf({ headers: {}, socket }, false), ...options } = {}) {
    this.#handler = handler
    this.#peer = peer
    this.#options = { ...listenerDefaults, ...options }
    const { keepAliveTimeout, headersTimeout, requestTimeout, checking, maxHeaderSize, maxConnections } = this.#options
    const timeouts = { keepAliveTimeout, requestTimeout, headersTimeout: Math.min(headersTimeout, requestTimeout || Infinity) }
    this.#server = createServer({ ...timeouts, maxHeaderSize, connectionsCheckingInterval: checking })
    if (maxConnections) this.#server.maxConnections = maxConnections
    this.#server.timeout = this.#options.idle
    this.#server
      .on('request', (req, res) => this.#take(req, res))
      .on('checkContinue', (req, res) => this.#takeLate(req, res))
      .on('clientError', (error, socket) => this.#refuse(error, socket))
      .on('connection', socket => this.#greet(socket))
  }

  /**
   * @param {number} port 0: any free one
   * @param {string} host
   * @returns {Promise<number>} the port
   */
  listen (port, host) {
    return new Promise((resolve, reject) => {
      this.#server.once('error', error => reject(explain(error, port, host)))
      this.#server.listen({ port, host, backlog: this.#options.backlog }, () => {
        this.#server.removeAllListeners('error')
        resolve(/** @type {import('node:net').AddressInfo} */ (this.#server.address()).port)
      })
    })
  }

  #greet (socket) {
    if (this.#options.connectionsEach && !this.#count(socket)) return void socket.destroy()
    socket[used] = performance.now()
    socket[waiting] = 0
    this.#sockets.add(socket)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      if (socket[waiting]) this.#abandon(socket)
    })
  }

  /** Answers that waited for another one of the same connection: Node does not tell them that the client has left. */
  #abandon (socket) {
    for (const res of this.#live) {
      if (res.req.socket !== socket || res.socket || res.destroyed) continue
      res.destroy()
      res.emit('close')
    }
  }

  /** Whether a client may have one more. */
  #count (socket) {
    const peer = this.#peer(socket)
    if (peer === null) return true
    const own = this.#each.get(peer) ?? 0
    if (own >= this.#options.connectionsEach) return false
    this.#each.set(peer, own + 1)
    socket.once('close', () => {
      const left = /** @type {number} */ (this.#each.get(peer)) - 1
      if (left > 0) this.#each.set(peer, left)
      else this.#each.delete(peer)
    })
    return true
  }

  #take (req, res) {
    const { socket } = req
    if (socket[waiting] >= this.#options.pipelined) return void socket.destroy()
    socket[used] = performance.now()
    if (this.#closed) res.shouldKeepAlive = false
    const answer = this.#handler(req, res)
    if (answer !== undefined) this.#wait(answer, req, res)
  }

  /** @param {Promise<void>} answer */
  async #wait (answer, req, res) {
    this.#live.add(res)
    req.socket[waiting]++
    await answer
    req.socket[waiting]--
    this.#live.delete(res)
    req.socket[used] = performance.now()
  }

  /** A client that asks before it sends a body: where none is read, it need not send it. */
  #takeLate (req, res) {
    if (req.method === 'POST') res.writeContinue()
    this.#take(req, res)
  }

  /** What is no HTTP, came too slowly, or is too long. */
  #refuse (error, socket) {
    const busy = [...this.#live].some(res => res.socket === socket)
    if (busy || !socket.writable || error.code === 'ECONNRESET') return socket.destroy() // words in the middle of an answer would be part of it
    const { status, why } = TROUBLES[error.code] ?? { status: '400 Bad Request', why: 'this is not HTTP' }
    const body = `${JSON.stringify(new TilecouchError('BAD_REQUEST', { why }))}\n`
    const isHead = error.rawPacket?.subarray(0, 5).toString('latin1') === 'HEAD ' // which takes no body, whatever is wrong with the rest
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n${SAFE_LINES}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${isHead ? '' : body}`)
  }

  /**
   * Takes no new connections, lets what is under way end, and closes the others: those in use a moment ago after their next
   * answer or a moment later, since a request may be on its way on them.
   * @param {number} [grace] milliseconds; what is not done then is cut off
   */
  close (grace = 10000) {
    return (this.#closed ??= this.#end(grace))
  }

  async #end (grace) {
    /** @type {Promise<void>} */
    const ended = new Promise(resolve => {
      // not http's own close, which would cut off requests that are on their way
      NetServer.prototype.close.call(this.#server, () => resolve())
    })
    for (const res of this.#live) if (!res.headersSent) res.shouldKeepAlive = false
    this.#sweep()
    const sweeping = setInterval(() => this.#sweep(), SWEEP)
    const cutting = setTimeout(() => this.#server.closeAllConnections(), grace)
    await ended
    clearInterval(sweeping)
    clearTimeout(cutting)
    this.#server.close() // ends what http adds: the timer that looks for slow requests
  }

  #sweep () {
    const now = performance.now()
    const busy = new Set([...this.#live].map(res => res.socket))
    for (const socket of this.#sockets) {
      if (!busy.has(socket) && socket.writableLength === 0 && now - socket[used] >= this.#options.linger) socket.destroySoon()
    }
  }
}

const SAFE_LINES = Object.entries(SAFE).map(([name, value]) => `${name}: ${value}\r\n`).join('')

const TROUBLES = {
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', why: 'its head is too long' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: '413 Payload Too Large', why: 'its chunks have too long extensions' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', why: 'it came too slowly' }
}

function explain (error, port, host) {
  if (error.code === 'EADDRINUSE') return new TilecouchError('PORT_IN_USE', { port }, { cause: error })
  if (error.code === 'EACCES') return new TilecouchError('BAD_OPTION', { option: '--port', value: port, why: 'this user may not listen there' }, { cause: error })
  if (/^(EADDRNOTAVAIL|ENOTFOUND|EINVAL|EAI_AGAIN)$/.test(error.code)) return new TilecouchError('BAD_OPTION', { option: '--host', value: host, why: 'no address of this machine' }, { cause: error })
  return error
}
