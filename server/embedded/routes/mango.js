// Mango. _index and _explain are answered by express-pouchdb, which gets only these, with the body read and
// checked, and a PouchDB whose databases are the ones this server has open: on its own it lists the databases on
// disk for every request and opens each a second time. _find asks the same plugin (pouchdb-find) directly, because
// limit, skip and bookmark have to be done here: the plugin counts rows equal to an excluded start towards the
// limit, so {v: {$gt: 2}} with limit 2 can answer one document of many, and it knows no bookmarks and no default.
import { createRequire } from 'node:module'
import { requireDatabaseAdmin } from '../auth.js'
import { HttpError, badRequest, notAllowed } from '../errors.js'
import { isObject } from '../exchange.js'

const require = createRequire(import.meta.url)

const DEFAULT_LIMIT = 25 // documents, as in CouchDB

const replaced = ['compression', 'routes/all-dbs', 'routes/all-docs', 'routes/attachments', 'routes/bulk-docs', 'routes/bulk-get', 'routes/changes', 'routes/compact', 'routes/documents', 'routes/revs-diff', 'routes/root', 'routes/session-stub', 'routes/temp-views', 'routes/view-cleanup', 'routes/views']

/** @param {import('../databases.js').Databases} databases */
export async function createMango (databases) {
  const expressPouchDB = require('express-pouchdb')
  const PouchDB = require('pouchdb-node')
  const app = expressPouchDB({ mode: 'minimumForPouchDB', overrideMode: { include: ['routes/find'], exclude: replaced } })
  app.disable('x-powered-by')
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
  const writes = name === '_index' && ex.method !== 'GET'
  if (writes) {
    requireDatabaseAdmin(ex.userCtx, ex.db.security)
    await ex.db.writable()
  }
  const body = ex.method === 'POST' ? await ex.jsonObject() : undefined
  if (body && name !== '_index') checkFind(body)
  const app = await mango()
  if (name === '_find') return find(ex, body)
  await handOver(ex, app, body)
  if (writes) {
    ex.db.designs.invalidate()
    ex.db.changed()
  }
}

const isCount = value => value === undefined || (Number.isInteger(value) && value >= 0)

function checkFind ({ selector, limit, skip, fields, sort, bookmark }) {
  if (selector === undefined) throw new HttpError(400, 'missing_required_key', 'Missing required key: selector')
  if (!isObject(selector)) throw new HttpError(400, 'invalid_selector_json', 'Selector must be a JSON object')
  if (!isCount(limit)) throw new HttpError(400, 'invalid_key', 'Invalid key limit')
  if (!isCount(skip)) throw new HttpError(400, 'invalid_key', 'Invalid key skip')
  if (fields !== undefined && !(Array.isArray(fields) && fields.every(field => typeof field === 'string'))) throw new HttpError(400, 'invalid_fields_json', 'Fields must be an array of strings')
  if (sort !== undefined && !Array.isArray(sort)) throw new HttpError(400, 'invalid_sort_json', 'Sort must be an array')
  if (bookmark !== undefined && typeof bookmark !== 'string') throw new HttpError(400, 'invalid_bookmark', 'Invalid bookmark value')
}

function positionOf (bookmark) {
  if (bookmark === undefined || bookmark === '' || bookmark === 'nil') return 0
  const [, position] = /^at-(\d{1,15})$/.exec(bookmark) ?? []
  if (position === undefined) throw new HttpError(400, 'invalid_bookmark', `Invalid bookmark value: ${JSON.stringify(bookmark)}`)
  return Number(position)
}

async function find (ex, { selector, sort, fields, use_index: useIndex, limit = DEFAULT_LIMIT, skip = 0, bookmark }) {
  const from = positionOf(bookmark) || skip
  const request = { selector, ...(sort?.length && { sort }), ...(fields?.length && { fields }), ...(useIndex && { use_index: useIndex }) }
  const { docs, warning } = await ex.db.pouch.find(request).catch(error => { throw badRequest(String(error?.message ?? error)) })
  const found = docs.slice(from, from + limit)
  ex.sendJson(200, { docs: found, bookmark: found.length ? `at-${from + found.length}` : 'nil', ...(warning && { warning }) })
}

/** Runs the express app on this exchange and resolves when the answer is out. */
function handOver (ex, app, body) {
  return new Promise((resolve, reject) => {
    const { req, res } = ex
    Object.assign(req, { url: ex.target, method: ex.method, body: body ?? {} })
    req.headers.accept = 'application/json' // or the answer is text/plain
    req._body = true // tells body-parser that the body has been read
    res.once('close', resolve)
    app(req, res, error => reject(error ?? new Error('express-pouchdb has no answer')))
  })
}
