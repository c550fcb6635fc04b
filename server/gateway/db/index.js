// /db: the store's database with CouchDB's API, for reading: for PouchDB, the viewer and the client library.
import { TilecouchError } from '../../../loader/errors.js'
import { SECURITY, filterRows, isAccessError, restrict, toDbError } from '../access/db-access.js'
import { SAFE_HEADERS, matchesEtag, sendJson } from '../responses.js'
import { DbError, notFound, sendDbError, unavailable } from './errors.js'
import { DatabaseProxy, IMMUTABLE } from './proxy.js'
import { checkLimits, parseDbRequest, readBody } from './request.js'

const VIEW = /_design(?:\/|%2f)[^/]+\/_view\//i

/** One for each gateway's store. @type {WeakMap<object, DatabaseProxy>} */
const proxies = new WeakMap()

function proxyOf ({ store, log, signal, options: { trustProxy } }) {
  const proxy = proxies.get(store) ?? new DatabaseProxy(store.couch, { log, signal, trustProxy })
  proxies.set(store, proxy)
  return proxy
}

/**
 * When the gateway ends: feeds end at once, reads under way are answered. The signal of the context does it as well.
 */
export async function closeDb ({ store }) {
  await proxies.get(store)?.close()
}

/**
 * @param {any} ctx
 * @param {{path: string, query: string, visitor?: import('../access/visitor.js').Visitor}} asked path and query as they
 *   came; visitor: where there are private layers
 * @param {import('node:http').IncomingMessage} req
 * @param {import('node:http').ServerResponse} res
 */
export async function db (ctx, asked, req, res) {
  try {
    if (!ctx.options.dbAccess) throw notFound('this gateway shows no database')
    if (asked.path === '/_security' && await sendSecurity(asked, req, res)) return
    const request = parseDbRequest(req.method ?? '', asked.path, asked.query)
    if (ctx.isIncomplete?.() && VIEW.test(asked.path)) {
      throw unavailable(503, 'this edge is being filled, and its indexes come when all of it is there')
    }
    const body = req.method === 'POST' ? await readBody(req, request) : undefined
    request.isLarge = checkLimits(request, body)
    if (asked.visitor) return await answerVisitor(ctx, asked.visitor, request, body, req, res)
    if (await sendImage(ctx, request, req, res)) return
    await proxyOf(ctx).forward(request, body, req, res)
  } catch (error) {
    const known = isAccessError(error) ? toDbError(error) : error
    if (!(known instanceof DbError)) throw error
    sendDbError(req, res, known)
  }
}

/** Where there are private layers. */
async function answerVisitor (ctx, visitor, asked, given, req, res) {
  const { request, body, filter, seconds } = await restrict(visitor, asked, given, res, () => ctx.layers.list())
  if (await sendImage(ctx, request, req, res)) return
  const change = filter && (answer => filterRows(visitor, answer, filter, res))
  await proxyOf(ctx).forward(request, body, req, res, { seconds, change })
}

/** Tells visitors who see private layers that not everybody does: a mirror of them must not be open to all. */
async function sendSecurity (/** @type {any} */ { visitor }, req, res) {
  await visitor?.identify()
  if (!visitor?.isKnown || !['GET', 'HEAD'].includes(req.method ?? '')) return false
  sendJson(req, res, SECURITY, { cacheControl: 'no-store' })
  return true
}

/**
 * The image of a tile in a given revision, which never changes. It is read as all tiles are: many at once, and kept in
 * memory, since
 * viewers ask for little else. An address without a revision is left to the store: a client that has just replicated a
 * new document
 * would put an image from memory, a moment older, into it for good.
 * @param {any} ctx @param {import('./request.js').DbRequest} request
 * @param {import('node:http').IncomingMessage} req
 * @param {import('../routes/tile.js').Response} res
 * @returns {Promise<boolean>} whether it was sent
 */
async function sendImage ({ tiles }, { tile, isPinned }, req, res) {
  if (!tile || !isPinned) return false
  const found = await readTile(tiles, tile.id, res)
  if (res.destroyed) return true
  if (!found || found.entry.rev !== tile.rev) return false
  const { entry, outcome } = found
  const bytes = /** @type {Buffer} */ (entry.bytes)
  res.outcome = outcome
  const headers = { ETag: entry.etag, 'Cache-Control': IMMUTABLE, 'X-Tilecouch-Cache': outcome, ...SAFE_HEADERS }
  if (matchesEtag(req.headers['if-none-match'], entry.etag)) {
    res.writeHead(304, headers).end()
    return true
  }
  res.sent = bytes.length
  const more = { 'Content-Type': entry.type, 'Content-Length': bytes.length, 'Accept-Ranges': 'none' }
  res.writeHead(200, { ...headers, ...more })
  res.end(req.method === 'HEAD' ? undefined : bytes)
  return true
}

/**
 * @param {import('../tiles/index.js').TileService} tiles @param {string} id
 * @param {import('node:http').ServerResponse} res
 */
async function readTile (tiles, id, res) {
  const left = new AbortController()
  const leave = () => left.abort()
  res.once('close', leave)
  try {
    return await tiles.stored(id, { signal: left.signal })
  } catch (error) {
    throw error instanceof TilecouchError ? unavailable() : error
  } finally {
    res.off('close', leave)
  }
}
