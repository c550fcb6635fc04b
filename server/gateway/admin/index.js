// The control room: its page at /admin, and CouchDB for that page at /admin/couch, if the operator wants it.
//   request.js    which requests are passed on
//   cookie.js     the session in the browser and at CouchDB
//   visitors.js   who has signed in, and whether he may write
//   proxy.js      passes requests on
// The gateway is public, so each request is one of its own page (no other origin), comes with the session of a writer
// or an admin of the store, and is judged by CouchDB besides. Passwords are counted with those of accessUsers.
import { TilecouchError } from '../../../loader/errors.js'
import { isAccessError, toDbError } from '../access/db-access.js'
import { clientAddress } from '../addresses.js'
import { DbError, badRequest, forbidden, sendDbError, unavailable } from '../db/errors.js'
import { sendJson } from '../responses.js'
import { sendAdminPage } from '../routes/viewer.js'
import { cookieFor, endedCookie, sessionIn, sessionOf, toCouch } from './cookie.js'
import { AdminProxy } from './proxy.js'
import { parseAdminRequest, readAdminBody } from './request.js'
import { AdminVisitors } from './visitors.js'

const LONGEST = 1000 // characters of a name, and of a password
const MAX_CREDENTIALS = 16384 // bytes of both as JSON

const NO_STORE = { cacheControl: 'no-store' }

/**
 * @param {import('../../../loader/store/couch.js').Couch} couch
 * @param {Pick<import('../access/users.js').Users, 'signIn'>} users
 * @param {{log?: any, signal?: AbortSignal, trustProxy?: boolean}} options
 */
export function openControlRoom (couch, users, options) {
  const proxy = new AdminProxy(couch, options)
  return { proxy, users, visitors: new AdminVisitors(asked => proxy.read(asked)) }
}

/** @param {any} ctx @param {import('../router.js').AskedAdmin} asked */
export async function admin (ctx, { path, query }, req, res) {
  if (path === '') return sendAdminPage(ctx, req, res)
  if (path === '/') return void res.writeHead(308, { Location: '../admin', 'Cache-Control': 'no-store' }).end()
  try {
    await answer(ctx, { path: path.slice('/couch'.length), query }, req, res)
  } catch (error) {
    sendDbError(req, res, known(error))
  }
}

function known (error) {
  if (isAccessError(error)) return toDbError(error)
  if (error instanceof TilecouchError && error.code === 'UNREACHABLE') return unavailable()
  if (!(error instanceof DbError)) throw error
  return error
}

async function answer (ctx, { path, query }, req, res) {
  const { controlRoom: { proxy, visitors }, publicUrl } = ctx
  const { base } = publicUrl(req)
  res.setHeader('Cache-Control', 'no-store')
  res.setHeader('Cross-Origin-Resource-Policy', 'same-origin')
  const request = parseAdminRequest(req.method ?? '', path, query)
  requireOwnPage(req, base)
  const session = sessionIn(req.headers, base)
  if (request.isSession) return answerSession(ctx, session, request, req, res)
  const task = async () => {
    if (session === undefined) throw needsSession()
    const visitor = await visitors.find(session)
    if (visitor.name === null) {
      res.setHeader('Set-Cookie', endedCookie(base))
      throw needsSession()
    }
    if (!visitor.isWriter) throw forbidden('only writers and admins of this store use its control room')
    const hasBody = req.method === 'POST' || req.method === 'PUT'
    const body = hasBody ? (await readAdminBody(req, request)).bytes : undefined
    if (request.names[1] === '_security' && hasBody) visitors.forget(session)
    await proxy.forward(request, body, toCouch(session), req, res, cookie => {
      const renewed = sessionOf(cookie)
      return renewed && cookieFor(renewed, base)
    })
  }
  await proxy.limited(req, task, request.isFeed)
}

const needsSession = () => new DbError(401, 'unauthorized', 'sign in first')

/**
 * Refuses requests that pages of other origins have caused. Browsers say from which site a request comes, or from which
 * origin; without either only reads are answered, since no cookie comes with those of other sites.
 */
function requireOwnPage ({ method, headers: { origin, 'sec-fetch-site': site } }, base) {
  const reads = method === 'GET' || method === 'HEAD'
  const isOwn = site !== undefined
    ? site === 'same-origin' || (site === 'none' && reads) // none: an address that somebody has typed
    : origin !== undefined ? origin === new URL(base).origin : reads
  if (isOwn) return
  throw forbidden('only the page of the control room sends this: behind a proxy, set publicUrl to the address that browsers use')
}

/** Who has signed in, signing in, signing out. */
async function answerSession (ctx, session, request, req, res) {
  const { controlRoom: { proxy, users, visitors }, publicUrl, options } = ctx
  const { base } = publicUrl(req)
  if (req.method === 'POST') {
    const { value: { name, password } } = await readAdminBody(req, request, MAX_CREDENTIALS)
    const isText = text => typeof text === 'string' && text !== '' && text.length <= LONGEST
    if (!isText(name) || !isText(password)) throw badRequest('it takes a name and a password')
    const found = await users.signIn({ name, password, address: clientAddress(req, options.trustProxy) })
    if (!found) throw new DbError(401, 'unauthorized', 'Name or password is incorrect.')
    visitors.forget(found.session) // of the same second it is the same session: his rights may be others
    res.setHeader('Set-Cookie', cookieFor(found, base))
    return sendJson(req, res, { ok: true, name }, NO_STORE)
  }
  if (req.method === 'DELETE') {
    if (session !== undefined) visitors.forget(session)
    res.setHeader('Set-Cookie', endedCookie(base))
    return sendJson(req, res, { ok: true }, NO_STORE)
  }
  const nobody = { name: null, roles: [] }
  if (session === undefined) return sendJson(req, res, { ok: true, userCtx: nobody }, NO_STORE)
  await proxy.limited(req, async () => {
    // not from memory: the page asks whether the session is still there
    const { status, value, setCookie } = await proxy.read({ path: '/_session', headers: toCouch(session) })
    const { name, roles } = (status === 200 && value?.userCtx) || nobody
    const isThere = typeof name === 'string'
    if (!isThere) visitors.forget(session)
    const renewed = isThere ? sessionOf(setCookie) : { session: '' }
    if (renewed) res.setHeader('Set-Cookie', cookieFor(renewed, base))
    sendJson(req, res, { ok: true, userCtx: isThere ? { name, roles } : nobody }, NO_STORE)
  })
}
