// A server in front of a store, which also serves the pages of tests. It logs every request, and can be slow, wrong or
// dead.
import { request as ask } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { startServer } from '../server.js'
import { clientFiles } from './client-page.js'

/**
 * @typedef {object} Entry
 * @property {'layer' | 'index' | 'extent' | 'tile' | 'changes' | 'other'} kind
 * @property {string} path below the database
 * @property {string} tile z/x/y, of a tile
 * @property {any} body parsed
 * @property {number | undefined} status
 * @property {boolean} aborted the page aborted the request
 * @property {boolean} done
 * @property {{up: number, down: number}} bytes sizes of the bodies on the wire
 * @typedef {{status?: number, body?: string | Buffer, headers?: Record<string, string>, cut?: number, hang?: number,
 *   change?: (piece: Buffer, at: number) => void}} Answer
 *   cut, hang: bytes of the real answer after which the connection breaks or stalls; change: changes a piece of the
 *   answer in place; the piece begins at the offset `at`
 * @typedef {(entry: Entry) => Answer | void | Promise<Answer | unknown>} Rule
 */

/** Kinds of requests. The first pattern that matches the path counts. */
const PATTERNS = {
  changes: /^_changes/,
  index: /by_tile\/queries/,
  extent: /by_time\/queries/,
  layer: /^layer(:|%3A)/,
  tile: /\/tile(\?|$)/
}
const kindOf = path => Object.keys(PATTERNS).find(kind => PATTERNS[kind].test(path)) ?? 'other'

/**
 * @param {string} target URL of the database
 * @param {{files?: () => Promise<Record<string, [string, string]>>}} [options] files: of the test pages, by name
 */
export async function startFront (target, { files = clientFiles } = {}) {
  const { pathname: database, port: upstream, hostname } = new URL(target)
  let log = []
  const rules = new Set()

  async function serve (request, response) {
    const url = request.url
    if (url.startsWith('/__page/')) return servePage(await files(), url, response)
    if (request.method === 'OPTIONS') return response.writeHead(204, sharing(request)).end()
    const body = await buffer(request)
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
    const upstreamRequest =
      ask({ host: hostname, port: upstream, path: request.url, method: request.method, headers }, answer => {
      entry.status = answer.statusCode
      response.writeHead(entry.status, { ...answer.headers, ...sharing(request) })
      answer.once('error', () => response.destroy())
      const limit = cut ?? hang ?? Infinity
      answer.on('data', data => {
        const offset = entry.bytes.down
        if (offset >= limit) return
        const piece = data.subarray(0, limit - offset)
        change?.(piece, offset)
        entry.bytes.down += piece.length
        const isLast = entry.bytes.down >= limit
        if (!response.write(piece, () => { if (isLast && cut !== undefined) response.destroy() }) && !isLast) {
          answer.pause()
          response.once('drain', () => answer.resume())
        }
      })
      answer.once('end', () => { if (hang === undefined || entry.bytes.down < hang) response.end() })
    })
    upstreamRequest.on('error', () => response.destroy())
    response.once('close', () => upstreamRequest.destroy())
    upstreamRequest.end(body)
  }

  const { url: origin, port, close, restart } = await startServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  const entriesOf = (kind, name) => log.filter(entry => entry.kind === kind && (name === undefined ||
    new RegExp(`(^|:|%3A)${name}(:|%3A|$|%22)`).test(entry.path) || JSON.stringify(entry.body)?.includes(`"${name}"`)))
  return {
    url: origin + database,
    /** With the name and password of the target. */
    accountUrl: Object.assign(new URL(target), { hostname: '127.0.0.1', port }).href,
    page: `${origin}/__page/index.html`,
    /** All requests so far, or those of one kind. */
    requests: (kind, name) => kind ? entriesOf(kind, name) : log,
    /** `z/x/y` of the requested tiles, sorted as text. */
    tiles: () => entriesOf('tile').map(({ tile }) => tile).sort(),
    forget: () => { log = [] },
    /** Adds a rule; the returned function removes it. The newest rule is asked first. @param {Rule} rule */
    rule (rule) {
      rules.add(rule)
      return () => rules.delete(rule)
    },
    reset () {
      rules.clear()
      log = []
    },
    stop: close,
    restart,
    close
  }
}

/** Headers that let a page of another origin read the answer. They replace those of the store. */
const sharing = ({ headers: { origin, 'access-control-request-headers': requestedHeaders } }) => origin
  ? {
    'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
    ...(requestedHeaders && { 'access-control-allow-headers': requestedHeaders }), vary: 'origin'
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

/** A gate for rules: code that awaits `opened` continues after `open()`. */
export function createGate () {
  let open
  const opened = new Promise(resolve => { open = resolve })
  return { opened, open: () => open(undefined) }
}

/** @param {number} count @returns {Promise<void>} */
export const seconds = count => new Promise(resolve => { setTimeout(resolve, count * 1000) })
