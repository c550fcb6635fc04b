// A bad line between two servers: a TCP proxy that counts bytes. Tests can cut, freeze or slow it, and let it reset
// connections or change bytes.
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { random } from '../../bench/tiles.js'

const linkDefaults = {
  rate: Infinity, // bytes a second in each direction, of all connections together
  delay: 0, // milliseconds of delay, in each direction
  loss: 0, // bytes after which a connection is reset, on average; 0: never
  flip: 0 // bytes from the server between two changed bytes, on average; 0: never
}

const PIECE = 16384 // bytes passed on at once
const QUEUE = 64 // pieces in flight at most
// bytes on either side of a changed one: without a quote or an end of line among them, it belongs to an attachment
const AROUND = 200
const FRAMING = new Set([0x22, 0x0d])

/**
 * @param {string} url of a server or a database
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
  #server = createServer(socket => this.#accept(socket))
  #pairs = /** @type {Set<import('node:net').Socket[]>} */ (new Set())
  #bytesUntilCut = Infinity // bytes from the server until the link is cut
  #frozen = /** @type {Promise<void> | undefined} */ (undefined)
  #thaw = () => {}
  #stranded = new WeakSet()
  #freeAt = { up: 0, down: 0 } // when the next byte may be sent
  #untilFlip = Infinity

  /** @param {string} url @param {Partial<typeof linkDefaults> & {seed?: number}} [options] */
  constructor (url, { seed = 1, ...settings } = {}) {
    this.#to = new URL(url)
    this.#random = random(seed)
    /** Bytes that were passed on: up to the server, down from it. */
    this.bytes = { up: 0, down: 0 }
    /** Counts of connections, of reset connections, and of changed bytes. */
    this.counts = { connections: 0, resets: 0, flips: 0 }
    this.set(settings)
  }

  /** The URL of the server or the database through the link. */
  get url () {
    return `${this.#to.protocol}//${this.#to.username ? `${this.#to.username}:${this.#to.password}@` : ''}127.0.0.1:` +
      `${this.#port}${this.#to.pathname.replace(/\/$/, '')}`
  }

  /**
   * Replaces the settings from now on. Settings that are not named get their defaults.
   * @param {Partial<typeof linkDefaults>} [settings]
   */
  set (settings) {
    this.settings = { ...linkDefaults, ...settings }
    this.#untilFlip = this.#randomInterval(this.settings.flip)
  }

  /** Resets all connections and refuses new ones. */
  cut () {
    this.#bytesUntilCut = Infinity
    this.#server.close()
    for (const pair of this.#pairs) this.#reset(pair)
  }

  /** Cuts the link after so many more bytes from the server. @param {number} bytes */
  cutAfter (bytes) {
    this.#bytesUntilCut = bytes
  }

  /** Listens again after a cut, at the same address. */
  async restore () {
    if (this.#server.listening) return
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = /** @type {import('node:net').AddressInfo} */ (this.#server.address()).port
  }

  /** Holds all bytes back without closing connections. New connections are accepted. */
  freeze () {
    this.#frozen ??= new Promise(resolve => { this.#thaw = resolve })
  }

  /** Passes the held bytes on. */
  thaw () {
    this.#thaw()
    this.#frozen = undefined
  }

  /**
   * Holds the bytes of the present connections back without closing them, as a router does that has forgotten them. New
   * connections work.
   */
  strand () {
    for (const pair of this.#pairs) this.#stranded.add(pair)
  }

  async close () {
    this.cut()
    this.thaw()
  }

  /** A random whole number with this mean; Infinity for 0. */
  #randomInterval (mean) {
    return mean ? Math.ceil(-Math.log(1 - this.#random()) * mean) : Infinity
  }

  #accept (client) {
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

  async #pass (from, to, direction, pair, life) {
    let sent = Promise.resolve()
    let queued = 0
    for await (const chunk of from) {
      if (direction === 'down') this.#corrupt(chunk)
      for (let offset = 0; offset < chunk.length; offset += PIECE) {
        const piece = chunk.subarray(offset, offset + PIECE)
        const due = this.#due(piece.length, direction)
        const previousPiece = sent
        queued++
        sent = (async () => {
          await previousPiece
          const wait = due - performance.now()
          if (wait > 1) await sleep(wait)
          await this.#waitWhileHeld(pair)
          await this.#send(piece, to, direction, pair, life)
          queued--
        })()
        sent.catch(() => {})
        if (queued >= QUEUE || this.settings.rate < Infinity) await sent
      }
    }
    await sent
    await this.#waitWhileHeld(pair)
    to.end()
  }

  /** The time at which these bytes arrive. */
  #due (length, direction) {
    const now = performance.now()
    const { rate, delay } = this.settings
    this.#freeAt[direction] = Math.max(now, this.#freeAt[direction]) + length / rate * 1000
    return this.#freeAt[direction] + delay
  }

  async #waitWhileHeld (pair) {
    while (this.#frozen) await this.#frozen
    if (this.#stranded.has(pair)) await new Promise(() => {}) // never resolves: the connection is reset later
  }

  async #send (piece, to, direction, pair, life) {
    if (!this.settings.loss) life.left = undefined
    else life.left ??= this.#randomInterval(this.settings.loss)
    const allowedBytes = Math.min(life.left ?? Infinity, direction === 'down' ? this.#bytesUntilCut : Infinity)
    const passing = piece.length > allowedBytes ? piece.subarray(0, allowedBytes) : piece
    if (to.destroyed) return
    this.bytes[direction] += passing.length
    if (life.left) life.left -= passing.length
    if (direction === 'down') this.#bytesUntilCut -= passing.length
    const isTaken = to.write(passing)
    if (passing === piece) {
      return isTaken || to.destroyed ? undefined : Promise.race([once(to, 'drain'), once(to, 'close')])
    }
    // the bytes before the cut must arrive
    await new Promise(resolve => to.write('', () => resolve(undefined)))
    if (this.#bytesUntilCut < 1) this.cut()
    else this.#reset(pair)
  }

  /** Changes a byte of an attachment now and then. A reader cannot detect changes of other bytes. */
  #corrupt (chunk) {
    this.#untilFlip -= chunk.length
    if (this.#untilFlip > 0) return
    for (let tries = 0; tries < 100; tries++) {
      const position = Math.floor(this.#random() * chunk.length)
      const nearby = chunk.subarray(Math.max(0, position - AROUND), position + AROUND)
      // a byte above 0x7f belongs to an attachment in any case
      if (chunk[position] < 0x80 && (nearby.length < 2 * AROUND || nearby.some(byte => FRAMING.has(byte)))) continue
      chunk[position] ^= chunk[position] === 0x41 ? 3 : 1 // A to B, and other letters of base64 to letters
      this.counts.flips++
      this.#untilFlip = this.#randomInterval(this.settings.flip)
      return
    }
  }
}
