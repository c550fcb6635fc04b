// _show, _list and _update. The answer of a design function is sent whole, with one length: Content-Length
// together with chunked encoding would be two answers to clients that keep connections.
import { HttpError, notFound } from '../errors.js'
import { findDocument } from '../documents.js'
import { functionOf } from '../design/cache.js'
import { requestObject } from '../design/request.js'
import { viewOptions } from '../views/options.js'
import { writeDocument } from '../writer.js'
import { newId } from './server.js'
import { viewRows } from './views.js'

const allowed = new Set(['code', 'headers', 'body', 'base64', 'json', 'stop'])

/** Sends what a show, list, update or rewrite function returned. */
export function sendDesignAnswer (ex, answer, defaultType, extra = {}) {
  for (const [name, value] of Object.entries(answer)) {
    if (!allowed.has(name)) throw new HttpError(500, 'external_response_error', `Invalid data from external server: {<<${JSON.stringify(name)}>>,${JSON.stringify(value)}}`)
  }
  const { code = 200, headers = {}, body = '', base64, json } = answer
  if (!Number.isInteger(code) || code < 200 || code > 599) throw new HttpError(500, 'render_error', `bad status code ${JSON.stringify(code)}`)
  const bytes = base64 !== undefined ? Buffer.from(String(base64), 'base64') : json !== undefined ? JSON.stringify(json) : String(body)
  const type = json !== undefined ? 'application/json' : defaultType
  ex.send(code, bytes, { ...extra, ...(type && { 'Content-Type': type }), ...cleanHeaders(headers) })
}

/** Headers of a design function: never those that frame the answer, and nothing node would throw at. */
function cleanHeaders (headers) {
  /** @type {Record<string, string>} */
  const clean = {}
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (/^(content-length|transfer-encoding|connection)$/i.test(name)) continue
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name)) continue
    const known = name.toLowerCase() === 'content-type' ? 'Content-Type' : name
    clean[known] = [...String(value)].filter(c => c >= ' ' && c !== '\x7f').join('').replace(/[^\x20-\xff]/g, c => encodeURIComponent(c))
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
  const answer = await runtime.call('show', { source, doc, req: await requestObject(ex, id) })
  sendDesignAnswer(ex, answer, 'text/html; charset=utf-8', { Vary: 'Accept' })
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
  const answer = await runtime.call('list', { source, head, rows: all, req: await requestObject(ex, null) })
  sendDesignAnswer(ex, answer, 'application/json')
}

export async function updateRoute (ex, ddocName) {
  const [name, ...idParts] = ex.segments.slice(4)
  if (name === undefined) throw notFound()
  const runtime = await ex.db.designs.get(ddocName)
  const source = functionOf(runtime.ddoc, 'updates', name)
  const id = idParts.length ? idParts.join('/') : null
  const old = id === null ? null : await findDocument(ex.db, id)
  const { doc, response } = await runtime.call('update', { source, doc: old, req: await requestObject(ex, id) })
  if (doc === null || doc === undefined) return sendDesignAnswer(ex, response, 'text/html; charset=utf-8')
  const written = await writeDocument(ex.db, { ...doc, _id: doc._id ?? id ?? newId() }, { userCtx: ex.userCtx })
  sendDesignAnswer(ex, { code: 201, ...response }, 'text/html; charset=utf-8', { 'X-Couch-Id': encodeURIComponent(written.id), 'X-Couch-Update-NewRev': written.rev })
}
