// The server outside its databases, and a database as a whole: create, describe, delete, security, maintenance.
import { randomUUID } from 'node:crypto'
import { sizeOfFolder } from '../../../loader/formats/system.js'
import { isOwnPage, requireDatabaseAdmin, requireServerAdmin } from '../access.js'
import { requireJson } from '../../http/body.js'
import { badRequest, forbidden } from '../../http/errors.js'
import { isObject } from '../../../core/values.js'
import { seqText } from '../documents.js'
import { writeDocument } from '../writer.js'

export const newId = () => randomUUID().replaceAll('-', '')

const MOST_LOGIN = 10000 // bytes of a name and password

async function signIn (ex, sessions) {
  const { name, password = '' } = await ex.jsonObject(MOST_LOGIN)
  if (name === undefined) throw badRequest('request body must contain a username')
  if (typeof name !== 'string' || typeof password !== 'string') throw badRequest('name and password must be strings')
  const { roles } = sessions.signIn(name, password, ex.req.socket.remoteAddress ?? '')
  ex.sendJson(200, { ok: true, name, roles }, { 'Set-Cookie': sessions.cookieOf(name) })
}

export function sessionRoute (ex, { sessions }) {
  ex.only('DELETE', 'GET', 'HEAD', 'POST')
  const { method, userCtx } = ex
  const isRead = method === 'GET' || method === 'HEAD'
  // browsers send forms of pages of any origin
  if (!isRead && !isOwnPage(ex.headers)) throw forbidden('Pages of other origins cannot sign in here.')
  if (method === 'POST') return signIn(ex, sessions)
  if (method === 'DELETE') return ex.sendJson(200, { ok: true }, { 'Set-Cookie': sessions.endedCookie })
  const handlers = { authentication_handlers: ['cookie', 'default'] }
  const handler = ex.hasSession ? 'cookie' : 'default'
  const info = userCtx.name === null ? handlers : { ...handlers, authenticated: handler }
  ex.sendJson(200, { ok: true, userCtx, info })
}

/** Routes of the server itself, for GET and HEAD. */
export const serverRoutes = {
  '' (ex, { uuid, prove }) {
    // a program that can read the folder sends a challenge before the password
    const { challenge } = ex.query
    const vendor = { name: 'tilecouch embedded (PouchDB)' }
    const welcome = { couchdb: 'Welcome', version: '3.3.0-tilecouch-embedded', uuid, features: [], vendor }
    ex.sendJson(200, { ...welcome, ...(challenge && { proof: prove(challenge) }) })
  },
  _up: ex => ex.sendJson(200, { status: 'ok', seeds: {} }),
  _all_dbs (ex, { databases }) {
    requireServerAdmin(ex.userCtx)
    ex.sendJson(200, [...databases.all.keys()].sort())
  },
  async _active_tasks (ex, { databases }) {
    requireServerAdmin(ex.userCtx)
    ex.sendJson(200, (await Promise.all([...databases.all.values()].map(database => database.tasks()))).flat())
  },
  _membership: ex => ex.sendJson(200, { all_nodes: ['nonode@nohost'], cluster_nodes: ['nonode@nohost'] })
}

export async function createDatabase (ex, { databases }, name) {
  requireServerAdmin(ex.userCtx)
  await databases.create(name)
  ex.sendJson(201, { ok: true }, { Location: `${ex.origin()}/${encodeURIComponent(name)}` })
}

export async function deleteDatabase (ex, { databases }, name) {
  requireServerAdmin(ex.userCtx)
  if (ex.query.rev !== undefined) throw badRequest('A database has no revision: did you mean to delete a document?')
  await databases.remove(name)
  ex.sendJson(200, { ok: true })
}

export async function databaseRoot (ex) {
  ex.only('DELETE', 'GET', 'HEAD', 'POST')
  if (ex.method === 'POST') { // a document, which may have no id
    const doc = await ex.jsonObject()
    const { id, rev } = await writeDocument(ex.db, { ...doc, _id: doc._id ?? newId() }, { userCtx: ex.userCtx })
    return ex.sendJson(201, { ok: true, id, rev })
  }
  const { doc_count: count, update_seq: seq } = await ex.db.pouch.info()
  const bytes = await sizeOfFolder(ex.db.dir) // indexes included: LevelDB does not say how much is in use
  ex.sendJson(200, {
    instance_start_time: ex.db.started,
    db_name: ex.db.name,
    purge_seq: '0',
    update_seq: seqText(seq),
    sizes: { file: bytes, external: bytes, active: bytes },
    doc_del_count: 0,
    doc_count: count,
    compact_running: ex.db.compacting !== null,
    cluster: { q: 1, n: 1, w: 1, r: 1 }
  })
}

const isTexts = value => Array.isArray(value) && value.every(item => typeof item === 'string')
const isGroup = group => group === undefined ||
  (isObject(group) && ['names', 'roles'].every(name => group[name] === undefined || isTexts(group[name])))

async function maintain (ex, task) {
  ex.only('POST')
  requireJson(ex)
  requireDatabaseAdmin(ex.userCtx, ex.db.security)
  await task()
  ex.sendJson(202, { ok: true })
}

export const databaseRoutes = {
  async _security (ex) {
    ex.only('GET', 'HEAD', 'PUT')
    if (ex.method !== 'PUT') return ex.sendJson(200, ex.db.security)
    requireDatabaseAdmin(ex.userCtx, ex.db.security)
    const security = await ex.json()
    if (!isObject(security) || !isGroup(security.admins) || !isGroup(security.members)) {
      throw badRequest('admins and members must be objects with lists of names and roles')
    }
    await ex.db.setSecurity(security)
    ex.sendJson(200, { ok: true })
  },
  // _compact/<ddoc>: view indexes here need no compaction
  _compact: ex => maintain(ex, () => { if (ex.segments.length === 2) ex.db.compact() }),
  _view_cleanup: ex => maintain(ex, () => ex.db.views.cleanup()),
  _ensure_full_commit (ex) {
    ex.only('POST')
    requireJson(ex)
    ex.sendJson(201, { ok: true, instance_start_time: ex.db.started })
  }
}
