// Mango. PouchDB's own plugin keeps the indexes (_index) and chooses among them (_explain); which documents fit is
// decided by selector.js. The plugin gets parts of a selector only: it joins conditions in a time that grows with a
// power of their number, runs patterns that never end, counts rows equal to an excluded start towards the limit, and
// has no bookmarks.
import { createRequire } from 'node:module'
import { requireDatabaseAdmin } from '../access.js'
import { findDocument } from '../documents.js'
import { HttpError, badRequest, notFound } from '../errors.js'
import { isObject } from '../exchange.js'
import { idsInRange, batches, batchSize, withDocs } from './rows.js'
import { compileSelector, pickFitting } from '../selector.js'

const require = createRequire(import.meta.url)
require('pouchdb-node').plugin(require('pouchdb-find'))

const DEFAULT_LIMIT = 25 // documents, as in CouchDB
const ALL = 2 ** 31 - 1 // documents, for the plugin, whose default is 25
const MOST_COMPARED = 32 // fields that an index is chosen by, or sorted by: the plugin compares each with each
const MOST_FIELDS = 1000 // of a document in an answer

/** @type {Record<string, Record<string, (ex: import('../exchange.js').Exchange) => Promise<void>>>} */
const routes = {
  _find: { POST: find },
  _explain: { POST: explain },
  _index: { GET: listIndexes, POST: ex => write(ex, createIndex), DELETE: ex => write(ex, deleteIndex) }
}

/** @param {import('../exchange.js').Exchange} ex */
export async function mangoRoute (ex) {
  await ex.dispatch(routes[ex.segments[1]])
}

/** An error of the plugin is one of the query: 400. */
const ask = promise => promise.catch(error => { throw badRequest(String(error?.message ?? error)) })

// queries
const isCount = value => value === undefined || (Number.isSafeInteger(value) && value >= 0)
const isText = value => typeof value === 'string'
const isField = value => isText(value) && value !== '__proto__'

function checkFind ({ selector, limit, skip, fields, sort, bookmark }) {
  if (selector === undefined) throw new HttpError(400, 'missing_required_key', 'Missing required key: selector')
  if (!isObject(selector)) throw new HttpError(400, 'invalid_selector_json', 'Selector must be a JSON object')
  if (!isCount(limit)) throw new HttpError(400, 'invalid_key', 'Invalid key limit')
  if (!isCount(skip)) throw new HttpError(400, 'invalid_key', 'Invalid key skip')
  if (fields !== undefined && !(Array.isArray(fields) && fields.length <= MOST_FIELDS && fields.every(isText))) {
    throw new HttpError(400, 'invalid_fields_json', 'Fields must be an array of strings')
  }
  if (sort !== undefined && !isSort(sort)) {
    throw new HttpError(400, 'invalid_sort_json', 'Sort must be an array of fields')
  }
  if (bookmark !== undefined && !isText(bookmark)) {
    throw new HttpError(400, 'invalid_bookmark', 'Invalid bookmark value')
  }
}

function isSort (sort) {
  const isOrder = one => isObject(one) && Object.keys(one).length === 1 &&
    Object.entries(one).every(([name, order]) => isField(name) && ['asc', 'desc'].includes(order))
  return Array.isArray(sort) && sort.length <= MOST_COMPARED && sort.every(one => isField(one) || isOrder(one))
}

const COMPARING = ['$eq', '$gt', '$gte', '$lt', '$lte']

/**
 * The part of a selector that an index can answer: plain comparisons of fields that must all hold. The rest is tested
 * afterwards.
 */
function comparisonsOf (selector) {
  const found = new Map()
  for (const part of [selector, ...(Array.isArray(selector.$and) ? selector.$and : [])]) {
    for (const [field, wanted] of Object.entries(part)) {
      if (field.startsWith('$') || !isField(field) || found.has(field)) continue
      if (!isObject(wanted)) found.set(field, { $eq: wanted })
      else if (isText(wanted.$regex)) found.set(field, { $gt: null })
      else {
        const plain = Object.entries(wanted).filter(([name]) => COMPARING.includes(name))
        if (plain.length) found.set(field, Object.fromEntries(plain))
      }
    }
  }
  return found.size ? Object.fromEntries([...found].slice(0, MOST_COMPARED)) : { _id: { $gt: null } }
}

function requestOf ({ selector, sort, use_index: useIndex }) {
  const choice = { ...(sort?.length && { sort }), ...(useIndex && { use_index: useIndex }) }
  return { selector: comparisonsOf(selector), limit: ALL, ...choice }
}

function positionOf (bookmark) {
  if (bookmark === undefined || bookmark === '' || bookmark === 'nil') return 0
  const [, position] = /^at-(\d{1,15})$/.exec(bookmark) ?? []
  if (position === undefined) {
    throw new HttpError(400, 'invalid_bookmark', `Invalid bookmark value: ${JSON.stringify(bookmark)}`)
  }
  return Number(position)
}

async function question (ex) {
  const body = await ex.question()
  checkFind(body)
  const fits = compileSelector(body.selector)
  const plan = await ask(ex.db.pouch.explain(requestOf(body)))
  return { body, fits, plan }
}

async function find (ex) {
  const { body, fits, plan } = await question(ex)
  const { fields, limit = DEFAULT_LIMIT, skip = 0, bookmark } = body
  const from = positionOf(bookmark) || skip
  const show = fields?.length ? doc => only(doc, fields) : doc => doc
  let seen = 0
  let shown = 0
  for await (const batch of plan.index.type === 'special' ? scanned(ex, body) : indexed(ex, body)) {
    ex.signal.throwIfAborted()
    const found = await pickFitting(batch, fits)
    for (const doc of found.slice(Math.max(0, from - seen), Math.max(0, from + limit - seen))) {
      if (!shown) await begin(ex)
      await ex.write(`${shown++ ? ',\n' : ''}${JSON.stringify(show(doc))}`)
    }
    seen += found.length
    if (seen >= from + limit) break
  }
  if (!shown) await begin(ex)
  const isUnindexed = plan.index.defaultUsed
  const warning = isUnindexed ? 'No matching index found, create an index to optimize query time.' : undefined
  ex.res.end(`\n],${JSON.stringify({ bookmark: shown ? `at-${from + shown}` : 'nil', warning }).slice(1)}\n`)
}

/** Called with the first document: before it, an error still has an answer of its own. */
async function begin (ex) {
  ex.startStream()
  await ex.write('{"docs":[\n')
}

/** All documents but design documents, page by page. */
async function * scanned ({ db }, { selector, sort }) {
  const { $eq, $gte, $gt, $lte, $lt } = comparisonsOf(selector)._id ?? {}
  const descending = sort?.[0]?._id === 'desc'
  const bounds = [$eq ?? $gte ?? $gt, $eq ?? $lte ?? $lt].map(bound => isText(bound) ? bound : undefined)
  const [startkey, endkey] = descending ? bounds.reverse() : bounds
  const rows = idsInRange(db, '_all_docs', { startkey, endkey, descending, inclusive_end: true })
  for await (const batch of batches(withDocs(db, rows, {}), batchSize())) {
    yield batch.filter(({ id, doc }) => doc && !id.startsWith('_design/')).map(({ doc }) => doc)
  }
}

/** All documents of an index at once: the plugin loses some between pages. */
async function * indexed ({ db }, body) {
  yield (await ask(db.pouch.find(requestOf(body)))).docs
}

/** Some fields of a document, dotted names included. */
function only (doc, fields) {
  const shown = Object.create(null)
  for (const field of fields) {
    const steps = field.split('.')
    const last = steps.pop()
    let [from, to] = [doc, shown]
    for (const step of steps) {
      from = isObject(from) && Object.hasOwn(from, step) ? from[step] : undefined
      if (!isObject(from)) break
      to = to[step] = isObject(to[step]) ? to[step] : Object.create(null)
    }
    if (isObject(from) && Object.hasOwn(from, last)) to[last] = from[last]
  }
  return shown
}

async function explain (ex) {
  const { body: { selector, fields, limit = DEFAULT_LIMIT, skip = 0 }, plan } = await question(ex)
  const opts = { ...plan.opts, limit, skip, fields }
  ex.sendJson(200, { ...plan, dbname: ex.db.name, selector, opts, limit, skip, fields })
}

// indexes

async function listIndexes (ex) {
  ex.sendJson(200, await ask(ex.db.pouch.getIndexes()))
}

async function write (ex, change) {
  requireDatabaseAdmin(ex.userCtx, ex.db.security)
  await ex.db.writable()
  ex.sendJson(200, await change(ex))
  ex.db.designs.invalidate()
  ex.db.changed()
}

async function createIndex (ex) {
  const { index, type = 'json', name, ddoc } = await ex.question()
  if (type !== 'json') {
    throw new HttpError(400, 'invalid_index', `this store has no indexes of the type ${JSON.stringify(type)}`)
  }
  if (!isObject(index) || !isSort(index.fields) || !index.fields.length) {
    throw new HttpError(400, 'invalid_index', 'An index needs `fields`, a list of names')
  }
  if (index.partial_filter_selector !== undefined) {
    throw new HttpError(400, 'invalid_index', 'this store has no partial indexes: leave out partial_filter_selector')
  }
  for (const given of [name, ddoc]) {
    if (given !== undefined && !isName(given)) throw new HttpError(400, 'invalid_index', 'Invalid name of an index')
  }
  const design = ddoc?.replace(/^_design\//, '')
  if (design !== undefined) await designOfIndexes(ex.db, design)
  const names = { ...(name && { name }), ...(design && { ddoc: design }) }
  return ask(ex.db.pouch.createIndex({ index: { fields: index.fields }, ...names }))
}

const isName = name => isText(name) && /^(_design\/)?[^_/][^/]{0,199}$/.test(name)

async function deleteIndex (ex) {
  const [, , ...path] = ex.segments
  const [design, type, name, ...rest] = path.join('/').replace(/^_design\//, '').split('/')
  if (!design || type !== 'json' || !name || rest.length) throw notFound('missing')
  const doc = await designOfIndexes(ex.db, design)
  if (!Object.hasOwn(doc?.views ?? {}, name)) throw notFound('missing')
  return ask(ex.db.pouch.deleteIndex({ ddoc: `_design/${design}`, type, name }))
}

/** The design document of indexes; undefined before the first. The plugin would write into any other. */
async function designOfIndexes (database, name) {
  const doc = await findDocument(database, `_design/${name}`)
  if (doc && doc.language !== 'query') {
    throw new HttpError(400, 'invalid_index', `_design/${name} holds other things than indexes`)
  }
  return doc
}
