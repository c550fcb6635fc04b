// /db: the database of the store with CouchDB's API, read-only, for PouchDB, the viewer and the client library.
import { TilecouchError } from '../../../loader/errors.js'
import { SECURITY, restrict, toHttpError } from '../access/db-access.js'
import { SAFE_HEADERS, abortOnClose, sendJson, sendTagged } from '../../http/answers.js'
import { HttpError, notFound, sendHttpError, unavailable } from '../../http/errors.js'
import { hideAdministrative } from './hidden.js'
import { IMMUTABLE } from './proxy.js'
import { checkLimits, parseDbRequest, readQuestion } from './request.js'

/** @type {import('../dispatch.js').Route<import('../router.js').DbTarget>} */
export async function db (ctx, target, req, res) {
  try {
    if (!ctx.options.dbAccess) throw notFound('this gateway shows no database')
    // tells visitors of private layers that the store is not public: a mirror of them must not be public either
    if (target.path === '/_security' && target.visitor?.isKnown && ['GET', 'HEAD'].includes(req.method ?? '')) {
      return sendJson(req, res, SECURITY, { cacheControl: 'no-store' })
    }
    const request = parseDbRequest(req.method ?? '', target.path, target.query)
    if (ctx.isIncomplete?.() && /_view$/.test(request.form)) {
      throw unavailable(503, 'this edge is being filled, and its indexes come when all of it is there')
    }
    const question = req.method === 'POST' ? await readQuestion(req, request) : undefined
    request.isLarge = checkLimits(request, question)
    const { visitor } = target
    const filtered = hideAdministrative(request, question)
    const restricted = visitor && await restrict(visitor, request, filtered, res, () => ctx.layers.list())
    if (await sendImage(ctx, request, req, res)) return
    const { body, change, seconds } = { ...filtered, ...restricted }
    const endings = seconds === undefined ? [] : visitor?.endings
    await ctx.proxy.forward(request, body, req, res, { seconds, endings, change })
  } catch (error) {
    const failure = toHttpError(error)
    if (!(failure instanceof HttpError)) throw error
    sendHttpError(req, res, failure)
  }
}

/**
 * Sends the image of a tile in a given revision, which never changes. It is read like other tiles, many at once, and
 * kept in memory, since viewers request little else. An address without a revision is left to the store: memory may be
 * a moment older than a document that the client has just replicated.
 * @param {import('../dispatch.js').Context} ctx @param {import('./request.js').DbRequest} request
 * @returns {Promise<boolean>} whether it was sent
 */
async function sendImage ({ tiles }, { imageOf: id, query, isPinned }, req, res) {
  if (id === undefined || !isPinned) return false
  const { signal } = abortOnClose(res)
  const stored = await tiles.stored(id, { signal }).catch(error => {
    throw error instanceof TilecouchError ? unavailable() : error
  })
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
