// A server before a store, on which the pages of tests stand: it remembers every request, and can be made slow, wrong
// or dead.
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
 * @property {{up: number, down: number}} bytes of bodies, as they were on the wire
 * @typedef {{status?: number, body?: string | Buffer, headers?: Record<string, string>, cut?: number, hang?: number,
 *   change?: (piece: Buffer, at: number) => void}} Answer
 *   cut, hang: bytes of the real answer after which the connection breaks, or says nothing more; change: spoils what
 *   comes in its place, told where it begins
 * @typedef {(entry: Entry) => Answer | void | Promise<Answer | unknown>} Rule
 */

const kindOf = path => /^_changes/.test(path) ? 'changes'
  : /by_tile\/queries/.test(path) ? 'index'
    : /by_time\/queries/.test(path) ? 'extent'
      : /^layer(:|%3A)/.test(path) ? 'layer'
        : /\/tile(\?|$)/.test(path) ? 'tile' : 'other'

/**
 * @param {string} target URL of the database
 * @param {{files?: () => Promise<Record<string, [string, string]>>}} [options] files: of the pages that it has, by name
 */
export async function startFront (target, { files = clientFiles } = {}) {
  const { pathname: database, port: upstream, hostname } = new URL(target)
  let log = []
  const rules = new Set()
  const sockets = new Set()

  async function serve (request, response) {
    const url = request.url
    if (url.startsWith('/__page/')) return servePage(await files(), url, response)
    if (request.method === 'OPTIONS') return response.writeHead(204, sharing(request)).end()
    const body = await read(request)
    const path = url.slice(database.length + 1)
    const [, z, x, y] = /:(\d+):(\d+):(\d+)/.exec(decodeURIComponent(path)) ?? []
    const entry = { kind: kindOf(path), path, tile: `${z}/${x}/${y}`, body: body.length ? JSON.parse(body.toString())
      : null, status: undefined, aborted: false, done: false, bytes: { up: body.length, down: 0 } }
    log.push(entry)
    response.once('close', () => {
      entry.done = true
      entry.aborted = !response.writableFinished
    })
    let answer
    for (const rule of [...rules].reverse()) {
      answer = await rule(entry)
      if (answer) break
    }
    if (response.destroyed) return
    if (answer?.status) return send(response, entry, { ...answer, headers: { ...sharing(request), ...answer.headers } })
    forward(request, body, response, entry, answer ?? {})
  }

  function forward (request, body, response, entry, { cut, hang, change }) {
    const { host, connection, ...headers } = request.headers
    const passed =
      ask({ host: hostname, port: upstream, path: request.url, method: request.method, headers }, answer => {
      entry.status = answer.statusCode
      response.writeHead(entry.status, { ...answer.headers, ...sharing(request) })
      answer.once('error', () => response.destroy())
      const most = cut ?? hang ?? Infinity
      answer.on('data', data => {
        const at = entry.bytes.down
        if (at >= most) return
        const piece = data.subarray(0, most - at)
        change?.(piece, at)
        entry.bytes.down += piece.length
        const isLast = entry.bytes.down >= most
        if (!response.write(piece, () => { if (isLast && cut !== undefined) response.destroy() }) && !isLast) {
          answer.pause()
          response.once('drain', () => answer.resume())
        }
      })
      answer.once('end', () => { if (hang === undefined || entry.bytes.down < hang) response.end() })
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
  const { port } = server.address()
  const stop = () => new Promise(resolve => {
    server.close(() => resolve(undefined))
    for (const socket of sockets) socket.destroy()
  })
  const only = (kind, name) => log.filter(entry => entry.kind === kind && (name === undefined ||
    new RegExp(`(^|:|%3A)${name}(:|%3A|$|%22)`).test(entry.path) || JSON.stringify(entry.body)?.includes(`"${name}"`)))
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

/** What lets a page of another origin read the answer, in place of what the store says of that. */
const sharing = ({ headers: { origin, 'access-control-request-headers': asked } }) => origin
  ? {
    'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
    ...(asked && { 'access-control-allow-headers': asked }), vary: 'origin'
  }
  : {}

function servePage (files, url, response) {
  const [contentType, body] = files[new URL(url, 'http://x').pathname.slice('/__page/'.length)] ?? []
  response.writeHead(body ? 200 : 404, { 'Content-Type': contentType ?? 'text/plain', 'Cache-Control': 'max-age=600' })
    .end(body)
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
