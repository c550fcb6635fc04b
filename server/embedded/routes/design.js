// _show, _list and _rewrite. The answer of a design function is sent at once, with its length: Content-Length and
// chunked encoding together would be two answers to clients that keep connections.
import { functionOf, renderError } from '../design/runtime.js'
import { findDocument } from '../documents.js'
import { SAFE_HEADERS } from '../../http/answers.js'
import { badRequest, HttpError, notFound } from '../../http/errors.js'
import { isObject } from '../../../core/values.js'
import { viewOptions } from '../views/query.js'
import { viewRows } from './rows.js'

const HTML = 'text/html; charset=utf-8'
const FIELDS = ['code', 'headers', 'body']
const MOST_REWRITES = 100 // of one request, as in CouchDB

/** Sends the answer of a show, list or rewrite function. */
function sendDesignAnswer (ex, answer, defaultType, extra = {}) {
  const unknownField = Object.keys(answer).find(name => !FIELDS.includes(name))
  if (unknownField !== undefined) {
    throw new HttpError(500, 'external_response_error', `Invalid data from external server: ${unknownField}`)
  }
  const { code = 200, headers = {}, body = '' } = answer
  if (!Number.isInteger(code) || code < 200 || code > 599) {
    throw new HttpError(500, 'render_error', `bad status code ${JSON.stringify(code)}`)
  }
  const type = defaultType && { 'Content-Type': defaultType }
  ex.send(code, String(body), { ...SAFE_HEADERS, ...extra, ...type, ...cleanHeaders(headers) })
}

/** Headers that no design function sets: those that frame the answer, its sandbox, and sessions. */
const OWN_HEADERS = new Set([
  'content-length', 'transfer-encoding', 'connection', 'content-security-policy', 'x-content-type-options', 'set-cookie'
])

/** Returns the headers of a design function, without those that Node would refuse. */
function cleanHeaders (headers) {
  /** @type {Record<string, string>} */
  const clean = {}
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (OWN_HEADERS.has(name.toLowerCase())) continue
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name)) continue
    const headerName = name.toLowerCase() === 'content-type' ? 'Content-Type' : name
    const printable = [...String(value)].filter(c => c >= ' ' && c !== '\x7f').join('')
    clean[headerName] = printable.replace(/[^\x20-\xff]/g, c => encodeURIComponent(c))
  }
  return clean
}

export async function showRoute (ex, ddocName) {
  const [name, ...idParts] = ex.segments.slice(4)
  if (name === undefined) throw notFound()
  const runtime = await ex.db.designs.get(ddocName)
  const source = functionOf(runtime.ddoc, 'shows', name)
  const id = idParts.length ? idParts.join('/') : null
  const doc = id === null ? null : await findDocument(ex.db, id, { revs: true })
  const answer = await runtime.call('show', { source, doc, req: requestFor(ex) })
  sendDesignAnswer(ex, answer, HTML, { Vary: 'Accept' })
}

export async function listRoute (ex, ddocName) {
  const [name, ...viewParts] = ex.segments.slice(4)
  if (viewParts.length < 1 || viewParts.length > 2) throw notFound()
  const [viewDdoc, viewName] = viewParts.length === 2 ? viewParts : [ddocName, viewParts[0]]
  const runtime = await ex.db.designs.get(ddocName)
  const source = functionOf(runtime.ddoc, 'lists', name)
  const hasBody = ex.method === 'POST' && /json/i.test(ex.headers['content-type'] ?? '')
  const options = viewOptions(ex.query, hasBody ? await ex.question() : {})
  const { head, rows } = await viewRows(ex.db, viewDdoc, viewName, options)
  const allRows = []
  for await (const row of rows) allRows.push(row)
  const answer = await runtime.call('list', { source, head, rows: allRows, req: requestFor(ex) })
  sendDesignAnswer(ex, answer, 'application/json')
}

// Rewriting: a function returns a new target below the design document, which is answered instead. Paths stay encoded,
// so that ids are decoded once and not twice.

const rewriteError = (status, reason) => new HttpError(status, 'rewrite_error', reason)

/** @returns {Promise<import('../exchange.js').Exchange | void>} the new exchange; none: the answer was sent */
export async function rewrite (ex, ddocName) {
  if (ex.rewrites >= MOST_REWRITES) throw badRequest('Exceeded rewrite recursion limit')
  const runtime = await ex.db.designs.get(ddocName)
  const { rewrites: source } = runtime.ddoc
  if (typeof source !== 'string') throw rewriteError(404, 'Invalid path.')
  const toError = error => renderError(error, 'rewrite_error')
  const { value = null } = await runtime.call('rewrite', { source, req: requestFor(ex) }, toError)
  if (value === null) throw rewriteError(404, 'Invalid path.')
  if (!isObject(value)) throw rewriteError(500, 'bad rewrite')
  const { code, body, path, query = null, headers = {} } = value
  if (code !== undefined) return sendDesignAnswer(ex, { code, headers, body: body ?? '' })
  if (typeof path !== 'string' || !isObject(query ?? {}) || !isObject(headers)) throw rewriteError(500, 'bad rewrite')
  const search = query === null ? ex.search : queryText(query)
  const [, plainPath, pathSearch] = /^([^?]*)(.*)$/s.exec(path) ?? []
  const ddocPath = `/${encodeURIComponent(ex.db.name)}/_design/${encodeURIComponent(ddocName)}`
  const target = normalizePath(`${ddocPath}/${plainPath}`) + pathSearch
  const changedHeaders = Object.entries(headers).map(([name, header]) => [name.toLowerCase(), String(header)])
  return ex.rewritten({
    target: target + (search && `?${search}`),
    headers: { ...ex.headers, ...Object.fromEntries(changedHeaders) }
  })
}

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

// The request as CouchDB shows it to design functions

const titled = name => name.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase())

const withoutSecrets = headers => Object.fromEntries(Object.entries(headers)
  .filter(([name, value]) => value !== undefined && name !== 'authorization' && name !== 'cookie')
  .map(([name, value]) => [titled(name), String(value)]))

/** Returns the request that design functions see. @param {import('../exchange.js').Exchange} ex */
const requestFor = ({ method, target, segments, query, headers }) => (
  { method, path: segments, raw_path: target, query, headers: withoutSecrets(headers) }
)
