// /db: the store's database as CouchDB's API has it, for reading: PouchDB, the viewer and the client library.
import { TilecouchError } from '../../../core/index.js'
import { SECURITY, inWords, isAboutAccess, keepRows, narrow } from '../access/question.js'
import { Refusal, away, notFound, refuse } from '../db/refusal.js'
import { parseReading } from '../db/reading.js'
import { checkLimits, readQuestion } from '../db/question.js'
import { DatabaseProxy, IMMUTABLE } from '../db/proxy.js'
import { isKnown } from '../etags.js'
import { sendJson } from '../json.js'
import { SAFE } from '../safe.js'

const VIEW = /_design(?:\/|%2f)[^/]+\/_view\//i

/** One for each gateway's store. @type {WeakMap<object, DatabaseProxy>} */
const proxies = new WeakMap()

function proxyOf ({ store, log, signal, options: { trustProxy } }) {
  const proxy = proxies.get(store) ?? new DatabaseProxy(store.couch, { log, signal, trustProxy })
  proxies.set(store, proxy)
  return proxy
}

/** When the gateway ends: feeds are ended at once, reads under way are answered. The signal of the context does it as well. */
export async function closeDb ({ store }) {
  await proxies.get(store)?.close()
}

/**
 * @param {any} ctx @param {{path: string, query: string, visitor?: import('../access/visitor.js').Visitor}} asked path and query as they came; visitor: where there are private layers
 * @param {import('node:http').IncomingMessage} req
 * @param {import('node:http').ServerResponse} res
 */
export async function db (ctx, asked, req, res) {
  try {
    if (!ctx.options.dbAccess) throw notFound('this gateway shows no database')
    if (asked.path === '/_security' && await showsSecurity(asked, req, res)) return
    const reading = parseReading(req.method ?? '', asked.path, asked.query)
    if (ctx.isFilling?.() && VIEW.test(asked.path)) throw away(503, 'this edge is being filled, and its indexes come when all of it is there')
    const body = req.method === 'POST' ? await readQuestion(req, reading) : undefined
    reading.isLarge = checkLimits(reading, body)
    if (asked.visitor) return await answerVisitor(ctx, asked.visitor, reading, body, req, res)
    if (await answerImage(ctx, reading, req, res)) return
    await proxyOf(ctx).forward(reading, body, req, res)
  } catch (error) {
    const refusal = isAboutAccess(error) ? inWords(error) : error
    if (!(refusal instanceof Refusal)) throw error
    refuse(req, res, refusal)
  }
}

/** Where there are private layers. */
async function answerVisitor (ctx, visitor, asked, question, req, res) {
  const { reading, body, keep, seconds } = await narrow(visitor, asked, question, res, () => ctx.layers.list())
  if (await answerImage(ctx, reading, req, res)) return
  await proxyOf(ctx).forward(reading, body, req, res, { seconds, change: keep && (answer => keepRows(visitor, answer, keep, res)) })
}

/** Whoever sees private layers here learns that not everybody does: a mirror of them is not to be open to all. */
async function showsSecurity (/** @type {any} */ { visitor }, req, res) {
  await visitor?.settle()
  if (!visitor?.isSomebody || !['GET', 'HEAD'].includes(req.method ?? '')) return false
  sendJson(req, res, SECURITY, { cacheControl: 'no-store' })
  return true
}

/**
 * The image of a tile in the revision that is named, which never changes. Not proxied but read as all tiles are: many at once,
 * and kept, since a viewer asks for nothing as often as for these. An address without a revision is left to the store: who has
 * just replicated a new document from it would put an image from memory, a moment older, into it for good.
 * @param {any} ctx @param {import('../db/reading.js').Reading} reading
 * @param {import('node:http').IncomingMessage} req
 * @param {import('../answer.js').Response} res
 * @returns {Promise<boolean>} whether it was
 */
async function answerImage ({ tiles }, { tile, pinned }, req, res) {
  if (!tile || !pinned) return false
  const found = await read(tiles, tile.id, res)
  if (res.destroyed) return true
  if (!found || found.entry.rev !== tile.rev) return false
  const { entry, outcome } = found
  const bytes = /** @type {Buffer} */ (entry.bytes)
  res.outcome = outcome
  const headers = {
    ETag: entry.etag,
    'Cache-Control': IMMUTABLE,
    'X-Tilecouch-Cache': outcome,
    ...SAFE
  }
  if (isKnown(req.headers['if-none-match'], entry.etag)) {
    res.writeHead(304, headers).end()
    return true
  }
  res.sent = bytes.length
  res.writeHead(200, { ...headers, 'Content-Type': entry.type, 'Content-Length': bytes.length, 'Accept-Ranges': 'none' })
  res.end(req.method === 'HEAD' ? undefined : bytes)
  return true
}

/** @param {import('../tiles.js').TileService} tiles @param {string} id @param {import('node:http').ServerResponse} res */
async function read (tiles, id, res) {
  const gone = new AbortController()
  const leave = () => gone.abort()
  res.once('close', leave)
  try {
    return await tiles.stored(id, { signal: gone.signal })
  } catch (error) {
    throw error instanceof TilecouchError ? away() : error
  } finally {
    res.off('close', leave)
  }
}
