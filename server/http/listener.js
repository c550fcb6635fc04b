// The HTTP server: its limits, and how it ends. A handler gives the answers.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Server as NetServer } from 'node:net'
import { TilecouchError } from '../../loader/errors.js'
import { AddressLimit, clientAddress } from './addresses.js'
import { SAFE_HEADERS } from './answers.js'

const listenerDefaults = {
  keepAliveTimeout: 75000, // milliseconds for an idle connection: longer than those of load balancers
  headersTimeout: 15000, // milliseconds the head of a request may take to arrive
  requestTimeout: 30000, // milliseconds all of a request may take to arrive
  checking: 5000, // milliseconds between two checks for requests that come too slowly
  idle: 900000, // milliseconds without any bytes on a connection: a view may take ten minutes before an answer begins
  pipelined: 64, // requests of a connection that wait for answers: browsers and proxies send the next after the answer
  maxHeaderSize: 16384, // bytes of a head, address included
  connectionsEach: 0, // connections of one address; this machine is not limited; 0: no limit
  backlog: 1024, // connections that wait to be accepted
  linger: 500 // milliseconds after an answer in which the next request may be on its way, at a shutdown; also the time
  // that a refused client has to read the reason
}

const SWEEP = 20 // milliseconds between two checks for idle connections, during a shutdown

/** The time of the last request of a connection. */
const used = Symbol('used')
/** Requests of a connection that wait for their answers. */
const waiting = Symbol('waiting')

/**
 * Answers at once and returns nothing, or returns a promise of the end of the answer, which never rejects.
 * @typedef {(req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => void |
 *   Promise<void>} Handler
 */

export class Listener {
  #server
  #handler
  #addressOf
  #options
  #sockets = new Set()
  #limit
  /** Answers under way. @type {Set<import('node:http').ServerResponse>} */
  #live = new Set()
  /** @type {Promise<void> | undefined} */
  #closed

  /**
   * @param {Handler} handler
   * @param {Partial<typeof listenerDefaults> & {maxConnections?: number, addressOf?: (socket:
   *   import('node:net').Socket) => string | null}} [options] addressOf: the address that a connection counts for;
   *   null: none
   */
  constructor (handler, { addressOf = socket => clientAddress({ headers: {}, socket }, false), ...options } = {}) {
    this.#handler = handler
    this.#addressOf = addressOf
    this.#options = { ...listenerDefaults, ...options }
    this.#limit = new AddressLimit({ each: this.#options.connectionsEach || Infinity })
    const { keepAliveTimeout, headersTimeout, requestTimeout, checking, maxHeaderSize, maxConnections } = this.#options
    this.#server = createServer({
      keepAliveTimeout,
      requestTimeout,
      headersTimeout: Math.min(headersTimeout, requestTimeout || Infinity),
      maxHeaderSize,
      connectionsCheckingInterval: checking
    })
    if (maxConnections) this.#server.maxConnections = maxConnections
    this.#server.timeout = this.#options.idle
    this.#server
      .on('request', (req, res) => this.#handle(req, res))
      .on('checkContinue', (req, res) => this.#handleContinue(req, res))
      .on('clientError', (error, socket) => this.#refuse(error, socket))
      .on('connection', socket => this.#accept(socket))
  }

  /** @param {number} port 0: any free one @returns {Promise<number>} the port */
  async listen (port, host) {
    this.#server.listen({ port, host, backlog: this.#options.backlog })
    await once(this.#server, 'listening').catch(error => { throw listenError(error, port, host) })
    return /** @type {import('node:net').AddressInfo} */ (this.#server.address()).port
  }

  #accept (socket) {
    const release = this.#limit.acquire(this.#addressOf(socket))
    if (!release) return void socket.destroy()
    socket[used] = performance.now()
    socket[waiting] = 0
    this.#sockets.add(socket)
    socket.once('close', () => {
      release()
      this.#sockets.delete(socket)
      if (socket[waiting]) this.#abandon(socket)
    })
  }

  /** Ends answers that waited for another answer of a closed connection: Node does not tell them that it closed. */
  #abandon (socket) {
    for (const res of this.#live) {
      if (res.req.socket !== socket || res.socket || res.destroyed) continue
      res.destroy()
      res.emit('close')
    }
  }

  #handle (req, res) {
    const { socket } = req
    if (socket[waiting] >= this.#options.pipelined) return void socket.destroy()
    socket[used] = performance.now()
    if (this.#closed) res.shouldKeepAlive = false
    const answer = this.#handler(req, res)
    if (answer !== undefined) this.#wait(answer, req, res)
  }

  /** @param {Promise<void>} answer */
  async #wait (answer, req, res) {
    const { socket } = req
    this.#live.add(res)
    socket[waiting]++
    await answer
    socket[waiting]--
    this.#live.delete(res)
    socket[used] = performance.now()
  }

  /** A client that asks before it sends a body may send it when the handler begins to read, whatever the method. */
  #handleContinue (req, res) {
    const continueIfRead = name => {
      if (name !== 'data' && name !== 'readable') return
      req.off('newListener', continueIfRead)
      if (!res.headersSent) res.writeContinue()
    }
    req.on('newListener', continueIfRead)
    this.#handle(req, res)
  }

  /** Answers a request that is not HTTP, came too slowly, or is too long. */
  #refuse (error, socket) {
    const isBusy = [...this.#live].some(res => res.socket === socket)
    // text in the middle of an answer would be part of it
    if (isBusy || !socket.writable || error.code === 'ECONNRESET') return socket.destroy()
    const { status, why } = PARSER_ERRORS[error.code] ?? { status: '400 Bad Request', why: 'this is not HTTP' }
    const body = `${JSON.stringify(new TilecouchError('BAD_REQUEST', { why }))}\n`
    const isHead = error.rawPacket?.subarray(0, 5).toString('latin1') === 'HEAD '
    socket.end([
      `HTTP/1.1 ${status}`,
      'Connection: close',
      'Content-Type: application/json',
      'Cache-Control: no-store',
      ...SAFE_LINES,
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      isHead ? '' : body
    ].join('\r\n'))
    // a client that does not close its side as well would keep the connection
    const ending = setTimeout(() => socket.destroy(), this.#options.linger)
    socket.resume().once('close', () => clearTimeout(ending))
  }

  /**
   * Takes no new connections, lets answers under way end, and closes idle connections. A connection that was in use
   * just now is closed after its next answer or a moment later, since a request may be on its way.
   * @param {number} [grace] milliseconds until the remaining answers are cut off
   */
  close (grace = 10000) {
    return (this.#closed ??= this.#end(grace))
  }

  async #end (grace) {
    /** @type {Promise<void>} */
    const ended = new Promise(resolve => {
      // the close of http would cut off requests that are on their way
      NetServer.prototype.close.call(this.#server, () => resolve())
    })
    for (const res of this.#live) if (!res.headersSent) res.shouldKeepAlive = false
    this.#sweep()
    const sweeping = setInterval(() => this.#sweep(), SWEEP)
    const cutting = setTimeout(() => this.cut(), grace)
    await ended
    clearInterval(sweeping)
    clearTimeout(cutting)
    this.#server.close() // ends http's timer that looks for slow requests
  }

  /** Ends all connections. */
  cut () {
    this.#server.closeAllConnections()
  }

  #sweep () {
    const now = performance.now()
    const busySockets = new Set([...this.#live].map(res => res.socket))
    for (const socket of this.#sockets) {
      if (!busySockets.has(socket) && socket.writableLength === 0 && now - socket[used] >= this.#options.linger) {
        socket.destroySoon()
      }
    }
  }
}

const SAFE_LINES = Object.entries(SAFE_HEADERS).map(([name, value]) => `${name}: ${value}`)

const PARSER_ERRORS = {
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', why: 'its head is too long' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: '413 Payload Too Large', why: 'its chunks have too long extensions' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', why: 'it came too slowly' }
}

function listenError (error, port, host) {
  if (error.code === 'EADDRINUSE') return new TilecouchError('PORT_IN_USE', { port }, { cause: error })
  const badOption = (option, value, why) => new TilecouchError('BAD_OPTION', { option, value, why }, { cause: error })
  if (error.code === 'EACCES') return badOption('--port', port, 'this user may not listen there')
  if (/^(EADDRNOTAVAIL|ENOTFOUND|EINVAL|EAI_AGAIN)$/.test(error.code)) {
    return badOption('--host', host, 'no address of this machine')
  }
  return error
}
