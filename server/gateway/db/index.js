// /db: the store's database with CouchDB's API, for reading: for PouchDB, the viewer and the client library.
import { TilecouchError } from '../../../loader/errors.js'
import { SECURITY, restrict, toHttpError } from '../access/db-access.js'
import { SAFE_HEADERS, sendJson, sendTagged } from '../../http/answers.js'
import { HttpError, notFound, sendHttpError, unavailable } from '../../http/errors.js'
import { hideAdministrative } from './hidden.js'
import { IMMUTABLE } from './proxy.js'
import { checkLimits, parseDbRequest, readQuestion } from './request.js'

const VIEW = /_design(?:\/|%2f)[^/]+\/_view\//i

/** @type {import('../dispatch.js').Route<import('../router.js').AskedDb>} */
export async function db (ctx, asked, req, res) {
  try {
    if (!ctx.options.dbAccess) throw notFound('this gateway shows no database')
    // visitors who see private layers learn that not everybody does: a mirror of them must not be open to all
    if (asked.path === '/_security' && asked.visitor?.isKnown && ['GET', 'HEAD'].includes(req.method ?? '')) {
      return sendJson(req, res, SECURITY, { cacheControl: 'no-store' })
    }
    const request = parseDbRequest(req.method ?? '', asked.path, asked.query)
    if (ctx.isIncomplete?.() && VIEW.test(asked.path)) {
      throw unavailable(503, 'this edge is being filled, and its indexes come when all of it is there')
    }
    const question = req.method === 'POST' ? await readQuestion(req, request) : undefined
    request.isLarge = checkLimits(request, question)
    const { visitor } = asked
    const shown = hideAdministrative(request, question)
    const restricted = visitor && await restrict(visitor, request, shown, res, () => ctx.layers.list())
    if (await sendImage(ctx, request, req, res)) return
    const { body, change, seconds } = { ...shown, ...restricted }
    const endings = seconds === undefined ? [] : visitor?.endings
    await ctx.proxy.forward(request, body, req, res, { seconds, endings, change })
  } catch (error) {
    const failure = toHttpError(error)
    if (!(failure instanceof HttpError)) throw error
    sendHttpError(req, res, failure)
  }
}

/**
 * The image of a tile in a given revision, which never changes. It is read as all tiles are: many at once, and kept in
 * memory, since viewers ask for little else. An address without a revision is left to the store: a client that has just
 * replicated a new document would put an image from memory, a moment older, into it for good.
 * @param {import('../dispatch.js').Context} ctx @param {import('./request.js').DbRequest} request
 * @returns {Promise<boolean>} whether it was sent
 */
async function sendImage ({ tiles }, { imageOf: id, query, isPinned }, req, res) {
  if (id === undefined || !isPinned) return false
  const stored = await readTile(tiles, id, res)
  if (res.destroyed) return true
  if (!stored || stored.entry.rev !== query.get('rev')) return false
  const { entry, outcome } = stored
  const bytes = /** @type {Buffer} */ (entry.bytes)
  res.outcome = outcome
  const headers = { 'Cache-Control': IMMUTABLE, 'X-Tilecouch-Cache': outcome, ...SAFE_HEADERS }
  sendTagged(req, res, entry.etag, headers, { 'Content-Type': entry.type }, bytes)
  if (res.statusCode === 200) res.sent = bytes.length
  return true
}

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
