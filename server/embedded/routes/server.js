// What a server answers outside its databases.
import { randomUUID } from 'node:crypto'
import { requireServerAdmin } from '../auth.js'
import { badRequest, notAllowed } from '../errors.js'

const newId = () => randomUUID().replaceAll('-', '')

const only = (ex, ...methods) => {
  if (!methods.includes(ex.method)) throw notAllowed(methods)
}

export const serverRoutes = {
  '' (ex, { uuid, prove }) {
    only(ex, 'GET', 'HEAD')
    const { challenge } = ex.query // of a program that may read the folder, and is about to send a password
    ex.sendJson(200, { couchdb: 'Welcome', version: '3.3.0-tilecouch-embedded', uuid, features: [], vendor: { name: 'tilecouch embedded (PouchDB)' }, ...(challenge && { proof: prove(challenge) }) })
  },
  _up (ex) {
    only(ex, 'GET', 'HEAD')
    ex.sendJson(200, { status: 'ok', seeds: {} })
  },
  _all_dbs (ex, { databases }) {
    only(ex, 'GET', 'HEAD')
    requireServerAdmin(ex.userCtx)
    ex.sendJson(200, databases.names())
  },
  _session (ex) {
    only(ex, 'GET', 'HEAD')
    ex.sendJson(200, { ok: true, userCtx: ex.userCtx, info: { authentication_handlers: ['default'], ...(ex.userCtx.name !== null && { authenticated: 'default' }) } })
  },
  _uuids (ex) {
    only(ex, 'GET')
    const { count = '1' } = ex.query
    if (!/^\d+$/.test(count)) throw badRequest('count must be a positive integer')
    if (Number(count) > 1000) throw badRequest('count parameter too large')
    ex.sendJson(200, { uuids: Array.from({ length: Number(count) }, newId) }, { 'Cache-Control': 'no-cache' })
  },
  _active_tasks (ex) {
    only(ex, 'GET', 'HEAD')
    requireServerAdmin(ex.userCtx)
    ex.sendJson(200, [])
  },
  _membership (ex) {
    only(ex, 'GET', 'HEAD')
    ex.sendJson(200, { all_nodes: ['nonode@nohost'], cluster_nodes: ['nonode@nohost'] })
  }
}

export { newId, only }
