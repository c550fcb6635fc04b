// The embedded store: a CouchDB-compatible server over PouchDB and LevelDB, for users without a CouchDB and for tests.
// Its answers are those of CouchDB 3; test/embedded runs one suite against both.
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { TilecouchError } from '../../loader/errors.js'
import { ADMIN, asAdmin, proofOf } from '../../loader/store/embedded.js'
import { allowReaders, createAccounts, isLocalName, isLoopback } from './access.js'
import { Databases } from './databases.js'
import { DesignThreads } from './design/threads.js'
import { HttpError, toHttpError } from './errors.js'
import { Exchange, JSON_HEADERS } from './exchange.js'
import { isDiskFull } from './level.js'
import { lockFolder, passwordOf } from './lock.js'
import { route } from './router.js'
import { Sessions } from './sessions.js'

export { findEmbedded } from '../../loader/store/embedded.js'

/**
 * Starts a server on a folder.
 * @param {object} options
 * @param {string} options.dir where the data is kept; created, for this user alone
 * @param {number} [options.port] 0: any free one
 * @param {string} [options.host]
 * @param {Record<string, string> | 'everybody'} [options.admins] passwords by name; unless given, one admin whose
 *   password stands in the folder; 'everybody': all who can connect, for tests
 * @param {Record<string, {password: string, roles?: string[]}>} [options.users] who are not admins
 * @param {number} [options.designTimeout] ms a call of design functions may take
 * @param {(line: string) => void} [options.log] called with failures of the server itself
 * @returns {Promise<{url: string, adminUrl: string, port: number, dir: string, close: () => Promise<void>}>} adminUrl:
 *   with the name and password of the folder's own admin
 */
export async function startEmbedded (
  { dir, port = 0, host = '127.0.0.1', admins, users, designTimeout, log = () => {} }
) {
  const lock = await lockFolder(dir)
  try {
    const threads = new DesignThreads(designTimeout)
    const databases = new Databases(join(dir, 'databases'), { threads })
    await databases.load()
    const own = admins === undefined ? passwordOf(dir) : undefined
    const secret = randomBytes(24).toString('base64url')
    const accounts = createAccounts(admins ?? { [ADMIN]: /** @type {string} */ (own) }, users)
    const server = {
      databases,
      accounts,
      sessions: new Sessions(accounts),
      uuid: randomUUID().replaceAll('-', ''),
      prove: challenge => proofOf(secret, challenge),
      isForThisMachine: isLoopback(host),
      log
    }
    const listener = createListener(server)
    await listen(listener, port, host)
    const { port: actual } = /** @type {import('node:net').AddressInfo} */ (listener.address())
    const addressAt = name => `http://${name.includes(':') ? `[${name}]` : name}:${actual}`
    const url = addressAt(host)
    lock.announce({ url: addressAt(EVERYWHERE[host] ?? host), uuid: server.uuid, secret, hasAdmin: own !== undefined })
    let closing
    const close = () => (closing ??= stop(listener, databases, threads, lock))
    return { url, adminUrl: asAdmin(url, own), port: actual, dir, close }
  } catch (error) {
    await lock.release()
    throw isDiskFull(error) ? new TilecouchError('DISK_FULL', { where: dir }, { cause: error }) : error
  }
}

async function stop (listener, databases, threads, lock) {
  const closed = new Promise(resolve => listener.close(resolve))
  await databases.close() // ends the feeds and lets requests under way finish
  await threads.close()
  listener.closeAllConnections()
  await closed
  await lock.release()
}

function listen (listener, port, host) {
  return new Promise((/** @type {(value?: any) => void} */ resolve, reject) => {
    listener.once('error', error =>
      reject(error.code === 'EADDRINUSE' ? new TilecouchError('PORT_IN_USE', { port }, { cause: error }) : error))
    listener.listen(port, host, () => {
      listener.removeAllListeners('error')
      resolve()
    })
  })
}

const { keepAliveTimeout, headersTimeout, requestTimeout, maxHeaderSize, maxConnections } = {
  keepAliveTimeout: 30000, // milliseconds an idle connection is kept
  headersTimeout: 15000, // milliseconds until the head of a request is complete
  requestTimeout: 300000, // milliseconds until all of it is: a batch of tiles on a busy machine
  maxHeaderSize: 16384, // bytes of a head, address included
  maxConnections: 2000 // at once: feeds, a gateway and a browser need some hundreds
}
// hosts that mean all addresses, and the address by which this machine reaches them
const EVERYWHERE = { '0.0.0.0': '127.0.0.1', '::': '::1' }
const PIPELINED = 64 // requests of a connection that wait for their answers

/**
 * Functions to call when the client leaves: an answer that waits for another one of its connection gets no event.
 */
const leaving = Symbol('leaving')

function createListener (server) {
  const limits = { keepAliveTimeout, headersTimeout, requestTimeout, maxHeaderSize }
  const listener = createServer(limits, (req, res) => { serve(req, res, server) })
  listener.maxConnections = maxConnections
  listener.on('connection', socket => {
    socket[leaving] = new Set()
    socket.once('close', () => { for (const leave of socket[leaving]) leave() })
  })
  listener.on('clientError', (error, socket) => {
    if (!socket.writable) return socket.destroy()
    const isTooLong = /** @type {any} */ (error).code === 'HPE_HEADER_OVERFLOW'
    const status = isTooLong ? '431 Request Header Fields Too Large' : '400 Bad Request'
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  })
  return listener
}

/** One request. It never rejects: every error becomes the answer. */
async function serve (req, res, server) {
  const waiting = req.socket[leaving]
  if (waiting.size >= PIPELINED) return req.socket.destroy()
  const gone = new AbortController()
  const leave = () => { if (!res.writableFinished) gone.abort(new Error('the client left')) }
  res.once('close', () => {
    waiting.delete(leave)
    leave()
  })
  waiting.add(leave)
  res.on('error', () => {}) // the client left; close follows
  try {
    if (server.isForThisMachine && !isLocalName(req.headers.host)) {
      throw new HttpError(403, 'forbidden', 'This store is for this machine only: use localhost or 127.0.0.1.')
    }
    if (allowReaders(req, res)) return
    const { method, url: target, headers } = req
    await route(new Exchange({ method, target, headers, req, res, signal: gone.signal }), server)
  } catch (error) {
    fail(res, toHttpError(error), error, gone.signal, server)
  }
}

function fail (res, { status, error, reason, headers }, cause, signal, server) {
  if (signal.aborted || res.destroyed) return
  if (status === 500 && cause?.status === undefined) server.log(`embedded store: ${cause?.stack ?? cause}`)
  if (res.headersSent) return res.destroy() // half an answer must not look complete
  const body = Buffer.from(`${JSON.stringify({ error, reason })}\n`)
  if (!res.req.complete) headers = { ...headers, Connection: 'close' } // the rest of the body was not read
  res.writeHead(status, { ...headers, ...JSON_HEADERS, 'Content-Length': body.length })
  res.end(body)
}
