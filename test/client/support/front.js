// A server before a store, on which the pages of tests stand: it remembers every request, and can be made slow, wrong or dead.
import { createServer, request as ask } from 'node:http'
import { clientFiles } from './client-page.js'

/**
 * @typedef {object} Entry
 * @property {'layer' | 'index' | 'extent' | 'tile' | 'changes' | 'other'} kind
 * @property {string} path after the database
 * @property {string} tile z/x/y, of a tile
 * @property {any} body parsed
 * @property {number | undefined} status
 * @property {boolean} aborted the page gave it up
 * @property {boolean} done
 * @typedef {{status?: number, body?: string | Buffer, headers?: Record<string, string>, cut?: number}} Answer cut: bytes of the real answer after which the connection breaks
 * @typedef {(entry: Entry) => Answer | void | Promise<Answer | unknown>} Rule
 */

const kindOf = path => /^_changes/.test(path) ? 'changes'
  : /by_tile\/queries/.test(path) ? 'index'
    : /by_time\/queries/.test(path) ? 'extent'
      : /^layer(:|%3A)/.test(path) ? 'layer'
        : /\/tile(\?|$)/.test(path) ? 'tile' : 'other'

/**
 * @param {string} target URL of the database
 */
export async function startFront (target) {
  const { pathname: database, port: upstream, hostname } = new URL(target)
  /** @type {Entry[]} */
  let log = []
  /** @type {Set<Rule>} */
  const rules = new Set()
  const sockets = new Set()

  async function serve (request, response) {
    const url = /** @type {string} */ (request.url)
    if (url.startsWith('/__page/')) return servePage(url, response)
    const body = await read(request)
    const path = url.slice(database.length + 1)
    const [, z, x, y] = /:(\d+):(\d+):(\d+)/.exec(decodeURIComponent(path)) ?? []
    /** @type {Entry} */
    const entry = { kind: kindOf(path), path, tile: `${z}/${x}/${y}`, body: body.length ? JSON.parse(body.toString()) : null, status: undefined, aborted: false, done: false }
    log.push(entry)
    response.once('close', () => {
      entry.done = true
      entry.aborted = !response.writableFinished
    })
    /** @type {Answer | void} */
    let answer
    for (const rule of [...rules].reverse()) {
      answer = await rule(entry)
      if (answer) break
    }
    if (response.destroyed) return
    if (answer?.status) return send(response, entry, answer)
    forward(request, body, response, entry, answer?.cut)
  }

  function forward (request, body, response, entry, cut) {
    const { host, connection, ...headers } = request.headers
    const passed = ask({ host: hostname, port: upstream, path: request.url, method: request.method, headers }, answer => {
      entry.status = answer.statusCode
      response.writeHead(entry.status, answer.headers)
      answer.once('error', () => response.destroy())
      if (cut === undefined) return answer.pipe(response)
      answer.once('data', data => response.write(data.subarray(0, cut), () => response.destroy()))
    })
    passed.on('error', () => response.destroy())
    response.once('close', () => passed.destroy())
    passed.end(body)
  }

  const server = createServer((request, response) => { serve(request, response).catch(() => response.destroy()) })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const listen = port => new Promise(resolve => { server.listen(port, '127.0.0.1', () => resolve(undefined)) })
  await listen(0)
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const stop = () => new Promise(resolve => {
    server.close(() => resolve(undefined))
    for (const socket of sockets) socket.destroy()
  })
  const only = (kind, name) => log.filter(entry => entry.kind === kind && (name === undefined || new RegExp(`(^|:|%3A)${name}(:|%3A|$|%22)`).test(entry.path) || JSON.stringify(entry.body)?.includes(`"${name}"`)))
  return {
    url: `http://127.0.0.1:${port}${database}`,
    page: `http://127.0.0.1:${port}/__page/index.html`,
    /** Requests so far, or those of a kind. */
    requests: (kind, name) => kind ? only(kind, name) : log,
    /** Addresses of tiles asked for, in the order of the alphabet: `z/x/y`. */
    tiles: () => only('tile').map(({ tile }) => tile).sort(),
    forget: () => { log = [] },
    /** From now on, until the function it answers is called. The last rule is asked first. @param {Rule} rule */
    rule (rule) {
      rules.add(rule)
      return () => rules.delete(rule)
    },
    reset () {
      rules.clear()
      log = []
    },
    stop,
    restart: () => listen(port),
    close: stop
  }
}

async function servePage (url, response) {
  const [contentType, body] = (await clientFiles())[new URL(url, 'http://x').pathname.slice('/__page/'.length)] ?? []
  response.writeHead(body ? 200 : 404, { 'Content-Type': contentType ?? 'text/plain', 'Cache-Control': 'max-age=600' }).end(body)
}

function send (response, entry, { status = 200, body = '', headers = {} }) {
  entry.status = status
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers }).end(body)
}

async function read (request) {
  const parts = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}

/** A gate for rules: who waits at it goes on when it is opened. */
export function gate () {
  let open
  const opened = new Promise(resolve => { open = resolve })
  return { opened, open: () => open(undefined) }
}

/** @param {number} count @returns {Promise<void>} */
export const seconds = count => new Promise(resolve => { setTimeout(resolve, count * 1000) })
