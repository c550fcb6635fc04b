// _show and _list. The answer of a design function is sent at once, with its length: Content-Length and
// chunked encoding together would be two answers to clients that keep connections.
import { functionOf } from '../design/runtime.js'
import { findDocument } from '../documents.js'
import { SAFE_HEADERS } from '../../http/answers.js'
import { HttpError, notFound } from '../../http/errors.js'
import { mapValues } from '../../../core/values.js'
import { parseJson } from '../exchange.js'
import { viewOptions } from '../views/query.js'
import { viewRows } from './rows.js'

const HTML = 'text/html; charset=utf-8'
const allowed = new Set(['code', 'headers', 'body'])

/** Sends what a show, list or rewrite function returned. */
export function sendDesignAnswer (ex, answer, defaultType, extra = {}) {
  for (const [name, value] of Object.entries(answer)) {
    if (!allowed.has(name)) {
      const field = `{<<${JSON.stringify(name)}>>,${JSON.stringify(value)}}`
      throw new HttpError(500, 'external_response_error', `Invalid data from external server: ${field}`)
    }
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

/** Headers of a design function: without what Node would refuse. */
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
  const all = []
  for await (const row of rows) all.push(row)
  const answer = await runtime.call('list', { source, head, rows: all, req: requestFor(ex) })
  sendDesignAnswer(ex, answer, 'application/json')
}

// The request as CouchDB shows it to design functions

const titled = name => name.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase())

const withoutSecrets = headers => Object.fromEntries(Object.entries(headers)
  .filter(([name, value]) => value !== undefined && name !== 'authorization' && name !== 'cookie')
  .map(([name, value]) => [titled(name), String(value)]))

/** The parameters that CouchDB decodes as JSON for a design function. */
const jsonKeys = new Set(['startkey', 'endkey', 'start_key', 'end_key', 'key', 'descending'])

const queryOf = query => mapValues(query, (text, name) => jsonKeys.has(name) ? parseJson(text) : text)

/** What design functions see of a request. @param {import('../exchange.js').Exchange} ex */
export const requestFor = ({ method, target, segments, query, headers }) => (
  { method, path: segments, raw_path: target, query: queryOf(query), headers: withoutSecrets(headers) }
)
