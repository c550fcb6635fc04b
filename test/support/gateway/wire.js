// Sends requests exactly as they are written: no client library changes the path, the headers or the body.
import http from 'node:http'
import net from 'node:net'

const agent = new http.Agent({ keepAlive: true, maxSockets: 256 })

/**
 * @typedef {{status: number, headers: Record<string, any>, body: Buffer, text: string, json: any, cut: boolean}} Answer
 *   cut: the connection ended before the end of the answer
 */

/**
 * @param {string} base @param {string} path sent as it is
 * @param {{method?: string, headers?: Record<string, any>, body?: string | Buffer, signal?: AbortSignal, agent?:
 *   http.Agent | false}} [options]
 * @returns {Promise<Answer>}
 */
export function ask (base, path, { body, headers, ...options } = {}) {
  const { hostname, port } = new URL(base)
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) } // Node sends none with DELETE
  return new Promise((resolve, reject) => {
    const request =
      http.request({ hostname, port, path, agent, headers: { ...length, ...headers }, ...options }, response => {
      const parts = []
      const done = cut => {
        const bytes = Buffer.concat(parts)
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: bytes,
          cut,
          get text () { return bytes.toString() },
          get json () { return JSON.parse(bytes.toString()) }
        })
      }
      response.on('data', part => parts.push(part))
      response.on('end', () => done(false))
      response.on('error', () => done(true))
    })
    request.on('error', reject)
    request.end(body)
  })
}

/**
 * @param {string} base
 * @param {string} path
 * @param {any} value
 * @param {{headers?: Record<string, string>}} [options]
 */
export const post = (base, path, value, { headers } = {}) => ask(base, path, {
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof value === 'string' ? value : JSON.stringify(value)
})

/**
 * Sends bytes over a new connection. Returns the answer when the other side closes, or when nothing more arrives.
 * @param {string} base @param {string | Buffer} bytes
 * @param {{timeout?: number}} [options] milliseconds without data
 * @returns {Promise<string>}
 */
export function speak (base, bytes, { timeout = 3000 } = {}) {
  const { hostname, port } = new URL(base)
  return new Promise(resolve => {
    const socket = net.connect(+port, hostname)
    const parts = []
    socket.setTimeout(timeout, () => socket.destroy())
    socket.on('data', part => parts.push(part))
    socket.on('error', () => {})
    socket.on('close', () => resolve(Buffer.concat(parts).toString('latin1')))
    socket.on('connect', () => socket.write(bytes))
  })
}

/** The status codes of all answers that a connection received. */
export const statuses = text => [...text.matchAll(/^HTTP\/1\.[01] (\d{3})/gm)].map(([, status]) => +status)

export const closeConnections = () => agent.destroy()
