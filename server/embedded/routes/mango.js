// _find, _index and _explain are answered by express-pouchdb, whose Mango queries are sound. It gets only these
// three, with the body read and checked, and a PouchDB whose databases are the ones this server has open:
// on its own it lists the databases on disk for every request and opens each a second time.
import { createRequire } from 'node:module'
import { requireDatabaseAdmin } from '../auth.js'
import { badRequest, notAllowed } from '../errors.js'
import { isObject } from '../exchange.js'

const require = createRequire(import.meta.url)

const replaced = ['compression', 'routes/all-dbs', 'routes/all-docs', 'routes/attachments', 'routes/bulk-docs', 'routes/bulk-get', 'routes/changes', 'routes/compact', 'routes/documents', 'routes/revs-diff', 'routes/root', 'routes/session-stub', 'routes/temp-views', 'routes/view-cleanup', 'routes/views']

/** @param {import('../databases.js').Databases} databases */
export async function createMango (databases) {
  const expressPouchDB = require('express-pouchdb')
  const PouchDB = require('pouchdb-node')
  const app = expressPouchDB({ mode: 'minimumForPouchDB', overrideMode: { include: ['routes/find'], exclude: replaced } })
  await app.setPouchDB({
    allDbs: callback => Promise.resolve(databases.names()).then(names => callback ? callback(null, names) : names),
    plugin: plugin => PouchDB.plugin(plugin),
    __dbCacheMap: { get: name => databases.get(name).pouch }
  })
  return app
}

const methods = { _find: ['POST'], _explain: ['POST'], _index: ['GET', 'POST', 'DELETE'] }

export async function mangoRoute (ex, { mango }) {
  const name = ex.segments[1]
  if (!methods[name].includes(ex.method)) throw notAllowed(methods[name])
  if (name === '_index' && ex.method !== 'GET') {
    requireDatabaseAdmin(ex.userCtx, ex.db.security)
    await ex.db.writable()
  }
  const body = ex.method === 'POST' ? await ex.jsonObject() : undefined
  if (body && name !== '_index' && !isObject(body.selector)) throw badRequest(body.selector === undefined ? 'Missing required key: selector' : 'Selector must be an object')
  await handOver(ex, await mango(), body)
  if (name === '_index') ex.db.designs.invalidate()
}

/** Runs the express app on this exchange and resolves when the answer is out. */
function handOver (ex, app, body) {
  return new Promise((resolve, reject) => {
    const { req, res } = ex
    req.url = ex.target
    req.method = ex.method
    req.body = body ?? {}
    req._body = true // tells body-parser that the body has been read
    res.once('close', resolve)
    app(req, res, error => reject(error ?? new Error('express-pouchdb has no answer')))
  })
}
