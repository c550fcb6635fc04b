// Finds the route that answers a request, after the checks of user, database and membership.
import { asksForPage, signInPage } from '../closed/page.js'
import { isMember, requireMember } from './access.js'
import { notFound } from '../http/errors.js'
import { allDocs, infoRoute, localDocs, viewRoute } from './routes/rows.js'
import { attachmentRoute, bulkDocs, bulkGet, documentRoute, revsDiff } from './routes/documents.js'
import { changes } from './routes/changes.js'
import {
  createDatabase, databaseRoot, databaseRoutes, deleteDatabase, serverRoutes, sessionRoute
} from './routes/server.js'
import { listRoute, rewrite, showRoute } from './routes/design.js'

const inDatabase = {
  ...databaseRoutes,
  _all_docs: allDocs,
  _local_docs: localDocs,
  _bulk_docs: bulkDocs,
  _bulk_get: bulkGet,
  _revs_diff: revsDiff
}

const inDesign = { _view: viewRoute, _show: showRoute, _list: listRoute, _info: infoRoute }

/** Answers an exchange. @param {import('./exchange.js').Exchange} ex */
export async function route (ex, server) {
  const session = server.sessions.find(ex.headers)
  if (session?.cookie) ex.res.setHeader('Set-Cookie', session.cookie)
  ex.hasSession = session !== undefined
  ex.userCtx = session?.user ?? server.accounts.userOf(ex.headers)
  const [first = '', ...path] = ex.segments
  if (path.length === 0 && first === '_session') return sessionRoute(ex, server)
  if (path.length === 0 && Object.hasOwn(serverRoutes, first)) {
    ex.only('GET', 'HEAD')
    return serverRoutes[first](ex, server)
  }
  if (path.length === 0 && ex.method === 'PUT') return createDatabase(ex, server, first)
  if (path.length === 0 && ex.method === 'DELETE') return deleteDatabase(ex, server, first)
  ex.db = server.databases.get(first)
  if (path[0] === '_changes') { // a feed lasts as long as its client, and holds the database during each read only
    await ex.db.open()
    requireMember(ex.userCtx, ex.db.security)
    return changes(ex)
  }
  const next = await ex.db.use(() => answer(ex, path))
  if (next) await route(next, server)
}

/** @returns {Promise<import('./exchange.js').Exchange | void>} a rewritten exchange, to be routed again */
async function answer (ex, path) {
  if (PAGE.test(path.join('/')) && asksForPage(ex) && !isMember(ex.userCtx, ex.db.security)) return askToSignIn(ex)
  requireMember(ex.userCtx, ex.db.security)
  const [name] = path
  if (name === undefined) return databaseRoot(ex)
  if (Object.hasOwn(inDatabase, name)) return inDatabase[name](ex)
  if (name === '_design') return inDesignDocument(ex, path)
  if (name === '_local' && path.length > 1) return documentRoute(ex, path.join('/'))
  if (/^_(design|local)\/./.test(name)) return withId(ex, name, path.slice(1)) // the slash of the id was encoded
  if (name.startsWith('_') && ['GET', 'HEAD', 'POST'].includes(ex.method)) throw notFound()
  return withId(ex, name, path.slice(1))
}

/** The paths of the viewer and the control room, within the database. */
const PAGE = /^_design\/[^/]+\/_rewrite(\/(index|admin)\.html|\/admin)?$/

/** Answers with the sign-in page. Programs get an error instead. */
function askToSignIn (ex) {
  const { name } = ex.userCtx
  const { body, headers } = signInPage(name, ex.headers['accept-language'])
  ex.send(name === null ? 401 : 403, body, headers)
}

async function inDesignDocument (ex, [, name, special, ...rest]) {
  if (name === undefined) throw notFound()
  if (special === '_rewrite') return rewrite(ex, name)
  if (Object.hasOwn(inDesign, special ?? '')) return inDesign[special](ex, name)
  if (special?.startsWith('_')) throw notFound()
  return withId(ex, `_design/${name}`, special === undefined ? [] : [special, ...rest])
}

const withId = (ex, id, attachment) =>
  attachment.length ? attachmentRoute(ex, id, attachment.join('/')) : documentRoute(ex, id)
