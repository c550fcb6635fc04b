// A bad line between two servers: a TCP proxy that counts, and that can be cut, frozen, slowed and made to lose or
// change bytes.
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { random } from '../../bench/tiles.js'

const linkDefaults = {
  rate: Infinity, // bytes a second in each direction, of all connections together
  delay: 0, // milliseconds on the way, in each direction
  loss: 0, // bytes after which a connection is reset, on average; 0: never
  flip: 0 // bytes from the server between two that arrive changed, on average; 0: never
}

const PIECE = 16384 // bytes passed on at once
const QUEUE = 64 // pieces on their way at most
// characters on either side of a changed one without a quote or the end of a line: it lies in an attachment
const AROUND = 200
const FRAMING = new Set([0x22, 0x0d])

/**
 * @param {string} url of a server, or of a database
 * @param {Partial<typeof linkDefaults> & {seed?: number}} [options]
 */
export async function startLink (url, options) {
  const link = new Link(url, options)
  await link.restore()
  return link
}

class Link {
  #to
  #port = 0
  #random
  #server = createServer(socket => this.#join(socket))
  #pairs = /** @type {Set<import('node:net').Socket[]>} */ (new Set())
  #fuse = Infinity // bytes from the server until it is cut
  #frozen = /** @type {Promise<void> | undefined} */ (undefined)
  #thaw = () => {}
  #stranded = new WeakSet()
  #free = { up: 0, down: 0 } // when the next byte may go
  #untilFlip = Infinity

  /** @param {string} url @param {Partial<typeof linkDefaults> & {seed?: number}} [options] */
  constructor (url, { seed = 1, ...settings } = {}) {
    this.#to = new URL(url)
    this.#random = random(seed)
    /** Bytes that got through: up to the server, down from it. */
    this.bytes = { up: 0, down: 0 }
    /** How often: connections made, of those the ones that were reset, and bytes changed. */
    this.counts = { connections: 0, resets: 0, flips: 0 }
    this.set(settings)
  }

  /** The URL of the server, or of the database, by way of the link. */
  get url () {
    return `${this.#to.protocol}//${this.#to.username ? `${this.#to.username}:${this.#to.password}@` : ''}127.0.0.1:` +
      `${this.#port}${this.#to.pathname.replace(/\/$/, '')}`
  }

  /**
   * What it does to bytes from now on; what is not named is as it should be.
   * @param {Partial<typeof linkDefaults>} [settings]
   */
  set (settings) {
    this.settings = { ...linkDefaults, ...settings }
    this.#untilFlip = this.#next(this.settings.flip)
  }

  /** Resets all connections and refuses new ones. */
  cut () {
    this.#fuse = Infinity
    this.#server.close()
    for (const pair of this.#pairs) this.#reset(pair)
  }

  /** Cuts it when so many more bytes have come from the server. @param {number} bytes */
  cutAfter (bytes) {
    this.#fuse = bytes
  }

  /** After a cut: the same address again. */
  async restore () {
    if (this.#server.listening) return
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = /** @type {import('node:net').AddressInfo} */ (this.#server.address()).port
  }

  /** Nothing gets through, nothing ends; new connections are taken. */
  freeze () {
    this.#frozen ??= new Promise(resolve => { this.#thaw = resolve })
  }

  /** What was held back arrives. */
  thaw () {
    this.#thaw()
    this.#frozen = undefined
  }

  /**
   * The connections of this moment are dead without knowing it, as behind a router that has forgotten them; new ones
   * are well.
   */
  strand () {
    for (const pair of this.#pairs) this.#stranded.add(pair)
  }

  async close () {
    this.cut()
    this.thaw()
  }

  /** About so many, at random, and never a fraction. */
  #next (mean) {
    return mean ? Math.ceil(-Math.log(1 - this.#random()) * mean) : Infinity
  }

  #join (client) {
    this.counts.connections++
    const server = connect(+this.#to.port || 80, this.#to.hostname)
    const pair = [client, server]
    this.#pairs.add(pair)
    const life = { left: /** @type {number | undefined} */ (undefined) }
    for (const socket of pair) {
      socket.setNoDelay(true)
      socket.on('error', () => this.#reset(pair))
      socket.on('close', () => {
        if (this.#stranded.has(pair) && client.destroyed) this.#reset(pair)
        else if (client.destroyed && server.destroyed) this.#pairs.delete(pair)
      })
    }
    this.#pass(client, server, 'up', pair, life).catch(() => this.#reset(pair))
    this.#pass(server, client, 'down', pair, life).catch(() => this.#reset(pair))
  }

  #reset (pair) {
    if (!this.#pairs.delete(pair)) return
    this.counts.resets++
    for (const socket of pair) socket.resetAndDestroy()
  }

  async #pass (from, to, way, pair, life) {
    let sent = Promise.resolve()
    let queued = 0
    for await (const chunk of from) {
      if (way === 'down') this.#spoil(chunk)
      for (let at = 0; at < chunk.length; at += PIECE) {
        const piece = chunk.subarray(at, at + PIECE)
        const due = this.#due(piece.length, way)
        const before = sent
        queued++
        sent = (async () => {
          await before
          const wait = due - performance.now()
          if (wait > 1) await sleep(wait)
          await this.#held(pair)
          await this.#send(piece, to, way, pair, life)
          queued--
        })()
        sent.catch(() => {})
        if (queued >= QUEUE || this.settings.rate < Infinity) await sent
      }
    }
    await sent
    await this.#held(pair)
    to.end()
  }

  /** When these bytes arrive. */
  #due (length, way) {
    const now = performance.now()
    const { rate, delay } = this.settings
    this.#free[way] = Math.max(now, this.#free[way]) + length / rate * 1000
    return this.#free[way] + delay
  }

  async #held (pair) {
    while (this.#frozen) await this.#frozen
    if (this.#stranded.has(pair)) await new Promise(() => {}) // until it is reset
  }

  async #send (piece, to, way, pair, life) {
    if (!this.settings.loss) life.left = undefined
    else life.left ??= this.#next(this.settings.loss)
    const last = Math.min(life.left ?? Infinity, way === 'down' ? this.#fuse : Infinity)
    const passing = piece.length > last ? piece.subarray(0, last) : piece
    if (to.destroyed) return
    this.bytes[way] += passing.length
    if (life.left) life.left -= passing.length
    if (way === 'down') this.#fuse -= passing.length
    const isTaken = to.write(passing)
    if (passing === piece) {
      return isTaken || to.destroyed ? undefined : Promise.race([once(to, 'drain'), once(to, 'close')])
    }
    // the bytes before it are to arrive
    await new Promise(resolve => to.write('', () => resolve(undefined)))
    if (this.#fuse < 1) this.cut()
    else this.#reset(pair)
  }

  /** Changes a byte of an attachment now and then: of nothing else could one tell. */
  #spoil (chunk) {
    this.#untilFlip -= chunk.length
    if (this.#untilFlip > 0) return
    for (let tries = 0; tries < 100; tries++) {
      const at = Math.floor(this.#random() * chunk.length)
      const around = chunk.subarray(Math.max(0, at - AROUND), at + AROUND)
      // what is no text is in an attachment anyway
      if (chunk[at] < 0x80 && (around.length < 2 * AROUND || around.some(byte => FRAMING.has(byte)))) continue
      chunk[at] ^= chunk[at] === 0x41 ? 3 : 1 // A to B, and other letters of base64 to letters
      this.counts.flips++
      this.#untilFlip = this.#next(this.settings.flip)
      return
    }
  }
}
