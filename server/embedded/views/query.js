// Answers a view query from its index: its parameters, ranges, order, groups and reducers.
import { badRequest, HttpError, notFound } from '../../http/errors.js'
import { parseJson } from '../exchange.js'
import { isObject } from '../../../core/values.js'
import { encodeKey } from './collate.js'

const parseError = reason => new HttpError(400, 'query_parse_error', reason)
const AFTER = Buffer.from([0xff]) // sorts after every document id that may follow a key

function checkOptions (view, options) {
  const isReduced = view.reduce !== undefined && options.reduce !== false
  if (!view.reduce && options.reduce === true) throw parseError('Reduce is invalid for map-only views.')
  if (!isReduced && (options.group || options.group_level !== undefined)) {
    throw parseError('Invalid use of grouping on a map view.')
  }
  if (isReduced && options.include_docs) throw parseError('`include_docs` is invalid for reduce')
  if (isReduced && options.keys?.length > 1 && !options.group && !options.group_level) {
    throw parseError('Multi-key fetches for reduce views must use `group=true`')
  }
  return isReduced
}

/** Returns where the rows of a key begin or end in an index. */
function edgeOf (key, isEnd, id = '') {
  return key === undefined ? undefined : Buffer.concat([encodeKey(key), Buffer.from(id), ...(isEnd ? [AFTER] : [])])
}

/** The rows from startkey to endkey as a byte range. Descending ranges start at their upper end. */
function rangeOf (options) {
  const { key, startkey, endkey, descending = false, inclusive_end: inclusive } = options
  if (key !== undefined) return { from: edgeOf(key, false), to: edgeOf(key, true), reverse: descending }
  const hasBoth = startkey !== undefined && endkey !== undefined
  if (hasBoth && encodeKey(startkey).compare(encodeKey(endkey)) * (descending ? -1 : 1) > 0) {
    throw parseError('No rows can match your key range, reverse your start_key and end_key or set descending=true')
  }
  const start = edgeOf(startkey, descending, options.startkey_docid)
  const end = edgeOf(endkey, inclusive !== descending)
  return descending ? { from: end, to: start, reverse: true } : { from: start, to: end }
}

function groupKeyOf (options) {
  if (options.group && options.group_level === undefined) return key => key
  const level = options.group_level ?? 0
  if (level === 0) return () => null
  return key => Array.isArray(key) ? key.slice(0, level) : key
}

/** @yields {{key: any, value: any}} */
async function * groups (index, name, view, ranges, options) {
  const add = reducers[view.reduce]
  const groupKey = groupKeyOf(options)
  for (const range of ranges) {
    let group = null
    for await (const row of index.rows(name, range)) {
      const key = groupKey(row.k)
      const id = JSON.stringify(key)
      if (group && group.id !== id) {
        yield { key: group.key, value: group.value }
        group = null
      }
      group ??= { id, key, value: undefined }
      group.value = add(group.value, row.v)
    }
    if (group) yield { key: group.key, value: group.value }
  }
}

async function * mapped (index, name, ranges) {
  for (const range of ranges) for await (const { k, i, v } of index.rows(name, range)) yield { id: i, key: k, value: v }
}

/** @param {AsyncIterable<any>} rows @param {{skip?: number, limit?: number}} options */
export async function * slice (rows, { skip = 0, limit = Infinity }) {
  if (limit <= 0) return
  let rowCount = 0
  for await (const row of rows) {
    if (rowCount++ < skip) continue
    yield row
    if (rowCount >= skip + limit) return
  }
}

/** The fields before the rows. The offset of the first row is known only if the range has no lower bound. */
export function headOf (options, total) {
  const isBounded = ['key', 'keys', 'startkey'].some(name => options[name] !== undefined)
  return { total_rows: total, offset: isBounded ? null : Math.min(options.skip ?? 0, total) }
}

/**
 * @param {import('../databases.js').Database} database
 * @returns {Promise<{head: Record<string, any>, rows: AsyncIterable<any>}>}
 */
export async function queryView (database, ddocName, viewName, options) {
  const runtime = await database.designs.get(ddocName)
  const { views } = runtime.ddoc
  const view = Object.hasOwn(views ?? {}, viewName) ? views[viewName] : undefined
  if (typeof view?.map !== 'string') throw notFound('missing_named_view')
  const isReduced = checkOptions(view, options)
  const ranges = options.keys ? options.keys.map(key => rangeOf({ ...options, key })) : [rangeOf(options)]
  const index = await database.views.get(runtime)
  if (options.update === 'lazy') index.update().catch(() => {})
  else if (options.update !== 'false' && options.update !== false) await index.update()
  if (isReduced) return { head: {}, rows: slice(groups(index, viewName, view, ranges, options), options) }
  const head = headOf(options, index.meta.totals[viewName] ?? 0)
  return { head, rows: slice(mapped(index, viewName, ranges), options) }
}

// Parameters of views and _all_docs, from the URL, a POST body or one of many queries, checked as CouchDB does

const jsonParameters = new Set(['key', 'startkey', 'start_key', 'endkey', 'end_key', 'keys'])
const booleans = new Set([
  'descending', 'reduce', 'group', 'include_docs', 'inclusive_end', 'attachments', 'conflicts'
])
const integers = new Set(['limit', 'skip', 'group_level'])
const aliases = { start_key: 'startkey', end_key: 'endkey' }

function fromText (name, text) {
  if (jsonParameters.has(name)) return parseJson(text)
  if (integers.has(name) && /^-?\d+$/.test(text)) return Number(text)
  if (booleans.has(name) && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function check (name, value) {
  if (booleans.has(name) && typeof value !== 'boolean') {
    throw parseError(`Invalid boolean parameter: ${JSON.stringify(value)}`)
  }
  if (integers.has(name)) {
    if (!Number.isInteger(value)) throw parseError(`Invalid value for integer: ${JSON.stringify(value)}`)
    if (value < 0) throw parseError(`Invalid value for positive integer: ${JSON.stringify(String(value))}`)
  }
  if (name === 'keys' && !Array.isArray(value)) throw badRequest('`keys` member must be an array.')
  if (name === 'startkey_docid' && typeof value !== 'string') throw parseError('`startkey_docid` must be a string.')
}

/** @param {Record<string, string>} query of the URL @param {any} [body] of a POST; the URL wins */
export function viewOptions (query, body = {}) {
  if (!isObject(body)) throw badRequest('Request body must be a JSON object')
  const options = { inclusive_end: true }
  const setOption = (name, value) => {
    check(name, value)
    options[Object.hasOwn(aliases, name) ? aliases[name] : name] = value
  }
  for (const [name, value] of Object.entries(body)) {
    setOption(name, typeof value === 'string' && !jsonParameters.has(name) ? fromText(name, value) : value)
  }
  for (const [name, text] of Object.entries(query)) setOption(name, fromText(name, text))
  return options
}

/** The queries of POST …/queries; the parameters of the URL are defaults. */
export function manyOptions (query, body) {
  if (body.queries === undefined) throw badRequest('POST body must include `queries` parameter.')
  if (!Array.isArray(body.queries)) throw badRequest('`queries` parameter must be an array.')
  const defaults = viewOptions(query)
  return body.queries.map(item => ({ ...defaults, ...viewOptions({}, item) }))
}

// CouchDB's built-in reducers: each adds the value of a row to the total of the rows before it

const invalid = value => new HttpError(500, 'invalid_value', `non-numeric _stats input: ${JSON.stringify(value)}`)

const NO_STATS = { sum: 0, count: 0, min: Infinity, max: -Infinity, sumsqr: 0 }

function addNumber ({ sum, count, min, max, sumsqr } = NO_STATS, value) {
  if (typeof value !== 'number') throw invalid(value)
  return {
    sum: sum + value,
    count: count + 1,
    min: Math.min(min, value),
    max: Math.max(max, value),
    sumsqr: sumsqr + value * value
  }
}

/** Adds to statistics of numbers, or of each position of equally long lists. */
function addStats (total, value) {
  if (total && total.length !== value?.length) throw invalid(value)
  return Array.isArray(value) ? value.map((number, i) => addNumber(total?.[i], number)) : addNumber(total, value)
}

const reducers = {
  _count: (total = 0) => total + 1,
  _stats: addStats
}

export const isBuiltIn = reduce => Object.hasOwn(reducers, reduce)
