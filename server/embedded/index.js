// The embedded store: a CouchDB-compatible server over PouchDB and LevelDB, for users without a CouchDB and for tests.
// Its answers are those of CouchDB 3; test/embedded runs one suite against both.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { shared } from '../../core/promises.js'
import { TilecouchError } from '../../loader/errors.js'
import { isDiskFull } from '../../loader/formats/system.js'
import { ADMIN, asAdmin, proofOf } from '../../loader/store/embedded.js'
import { forbidden, sendHttpError } from '../http/errors.js'
import { Listener } from '../http/listener.js'
import { allowReaders, createAccounts, isLocalName } from './access.js'
import { Databases } from './databases.js'
import { DesignThreads } from './design/threads.js'
import { toHttpError } from './errors.js'
import { Exchange } from './exchange.js'
import { lockFolder, passwordOf } from './lock.js'
import { route } from './router.js'
import { newId } from './routes/server.js'
import { Sessions } from './sessions.js'

export { findEmbedded } from '../../loader/store/embedded.js'

/**
 * Starts a server on a folder.
 * @param {object} options
 * @param {string} options.dir where the data is kept; created, for this user alone
 * @param {number} [options.port] 0: any free one
 * @param {Record<string, string> | 'everybody'} [options.admins] passwords by name (default: one admin, whose
 *   password is in the folder); 'everybody': every client is an admin, for tests
 * @param {Record<string, {password: string, roles?: string[]}>} [options.users] who are not admins
 * @param {number} [options.designTimeout] ms a call of design functions may take
 * @returns {Promise<{url: string, adminUrl: string, port: number, dir: string, close: () => Promise<void>}>} adminUrl:
 *   with the name and password of the folder's own admin
 */
export async function startEmbedded ({ dir, port = 0, admins, users, designTimeout }) {
  const lock = await lockFolder(dir)
  const threads = new DesignThreads(designTimeout)
  const databases = new Databases(join(dir, 'databases'), threads)
  /** @type {Listener | undefined} */
  let listener
  const close = shared(async () => {
    const closed = listener?.close(LIMITS.requestTimeout)
    await databases.close() // ends the feeds and lets requests under way finish
    await threads.close()
    listener?.cut()
    await closed
    await lock.release()
  })
  try {
    await databases.load()
    const password = admins === undefined ? await passwordOf(dir) : undefined
    const secret = randomBytes(24).toString('base64url')
    const accounts = createAccounts(admins ?? { [ADMIN]: /** @type {string} */ (password) }, users)
    const server = {
      databases,
      accounts,
      sessions: new Sessions(accounts),
      uuid: newId(),
      prove: challenge => proofOf(secret, challenge)
    }
    listener = new Listener((req, res) => serve(req, res, server), LIMITS)
    const actualPort = await listener.listen(port, HOST)
    const url = `http://${HOST}:${actualPort}`
    await lock.announce({ url, uuid: server.uuid, secret, hasAdmin: password !== undefined })
    return { url, adminUrl: asAdmin(url, password), port: actualPort, dir, close }
  } catch (error) {
    await close()
    throw isDiskFull(error) ? new TilecouchError('DISK_FULL', { where: dir }, { cause: error }) : error
  }
}

const HOST = '127.0.0.1'

const LIMITS = {
  keepAliveTimeout: 30000, // milliseconds an idle connection is kept
  requestTimeout: 300000, // milliseconds until all of a request has arrived: a batch of tiles on a busy machine
  idle: 0, // no limit: a feed without heartbeats may wait
  maxConnections: 2000 // at once: feeds, a gateway and a browser need some hundreds
}

/** Answers a request. Never rejects: every error becomes the answer. */
async function serve (req, res, server) {
  const disconnected = new AbortController()
  res.once('close', () => { if (!res.writableFinished) disconnected.abort(new Error('the client left')) })
  res.on('error', () => {}) // the client left; close follows
  try {
    if (!isLocalName(req.headers.host)) throw forbidden('This store is for this machine only: use localhost.')
    if (allowReaders(req, res)) return
    const { method, url: target, headers } = req
    await route(new Exchange({ method, target, headers, req, res, signal: disconnected.signal }), server)
  } catch (error) {
    if (disconnected.signal.aborted) return
    sendHttpError(req, res, toHttpError(error))
  }
}
