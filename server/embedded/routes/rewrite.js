// _rewrite: a function gives a new target below the design document, which is then answered instead. Paths stay encoded
// until then, so that ids are decoded once and not twice.
import { renderError } from '../design/runtime.js'
import { badRequest, HttpError } from '../../http/errors.js'
import { isObject } from '../../../core/values.js'
import { requestFor, sendDesignAnswer } from './design.js'

const LIMIT = 100 // rewrites of one request, as in CouchDB

const rewriteError = (status, reason) => new HttpError(status, 'rewrite_error', reason)

/** /db/_design/d/../../x -> /db/x, on encoded paths. */
function normalizePath (path) {
  const parts = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return `/${parts.join('/')}`
}

function queryText (query) {
  return Object.entries(query).map(([name, value]) => {
    if (typeof value !== 'string') {
      throw rewriteError(500, `object key/value must be strings ${JSON.stringify(name)}=${JSON.stringify(value)}`)
    }
    return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  }).join('&')
}

function checkedHeaders (ex, headers) {
  if (headers === undefined) return ex.headers
  if (!isObject(headers)) throw rewriteError(500, 'bad rewrite')
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
  return { ...ex.headers, ...lower }
}

/** The exchange a rewrite function asks for, or null when it gave the answer itself. */
function fromFunction (ex, prefix, value) {
  if (value === undefined || value === null) throw rewriteError(404, 'Invalid path.')
  if (!isObject(value)) throw rewriteError(500, 'bad rewrite')
  if (value.code !== undefined) {
    sendDesignAnswer(ex, { code: value.code, headers: value.headers, body: value.body ?? '' })
    return null
  }
  const { path, query, headers } = value
  if (typeof path !== 'string' || (query !== undefined && !isObject(query))) {
    throw rewriteError(500, 'bad rewrite')
  }
  const search = query === undefined ? ex.search : queryText(query)
  const [, plain, own] = /^([^?]*)(.*)$/s.exec(path) ?? []
  const target = normalizePath(`${prefix}/${plain}`) + own
  return ex.rewritten({
    target: target + (search && `?${search}`),
    headers: checkedHeaders(ex, headers)
  })
}

/** @returns {Promise<import('../exchange.js').Exchange | null>} the new exchange; null: answered */
export async function rewrite (ex, ddocName) {
  if (ex.rewrites >= LIMIT) throw badRequest('Exceeded rewrite recursion limit')
  const runtime = await ex.db.designs.get(ddocName)
  const { rewrites } = runtime.ddoc
  const prefix = `/${encodeURIComponent(ex.db.name)}/_design/${encodeURIComponent(ddocName)}`
  if (typeof rewrites !== 'string') throw rewriteError(404, 'Invalid path.')
  const call = { source: rewrites, req: requestFor(ex) }
  const { value } = await runtime.call('rewrite', call, error => renderError(error, 'rewrite_error'))
  return fromFunction(ex, prefix, value)
}
