// HTTP as a browser speaks it to one server: six connections, redirects followed, what is kept asked for again with its
// ETag. Counts requests and bytes on the wire, headers included.
import http from 'node:http'

export const CONNECTIONS = 6 // of a browser to one server over HTTP/1.1

export class Wire {
  requests = 0
  unchanged = 0 // answers that said 304
  #closed = 0
  /** @type {Set<import('node:net').Socket>} */
  #sockets = new Set()
  /** @type {Map<string, string>} URL -> ETag */
  #kept = new Map()
  #agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  #revalidate

  /** @param {{revalidate?: boolean}} [options] revalidate: as a browser does with what it has; otherwise nothing is kept */
  constructor ({ revalidate = false } = {}) {
    this.#revalidate = revalidate
  }

  /** Bytes received so far. */
  get received () {
    return [...this.#sockets].reduce((sum, { bytesRead }) => sum + bytesRead, this.#closed)
  }

  /**
   * The bytes behind a URL, wherever it leads.
   * @param {string} url @param {AbortSignal} [signal]
   * @returns {Promise<Buffer | null>} null: what was kept is still right
   */
  async get (url, signal) {
    const { status, headers, body } = await this.#once(url, signal)
    if (status === 302) return this.get(new URL(headers.location, url).href, signal)
    if (status === 304) {
      this.unchanged++
      return null
    }
    if (status !== 200) throw new Error(`${status} for ${url}: ${body.toString().slice(0, 200)}`)
    if (headers.etag) this.#kept.set(url, headers.etag)
    return body
  }

  /** @returns {Promise<{status: number, headers: any, body: Buffer}>} */
  #once (url, signal) {
    this.requests++
    const etag = this.#revalidate && this.#kept.get(url)
    return new Promise((resolve, reject) => {
      const request = http.get(url, { agent: this.#agent, signal, headers: etag ? { 'if-none-match': etag } : {} }, response => {
        const chunks = []
        response.on('data', chunk => chunks.push(chunk)).once('error', reject)
        response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }))
      })
      request.once('socket', socket => this.#watch(socket)).once('error', reject)
    })
  }

  #watch (socket) {
    if (this.#sockets.has(socket)) return
    this.#sockets.add(socket)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#closed += socket.bytesRead
    })
  }

  close () {
    this.#agent.destroy()
  }
}
