// _rewrite: rules in an array, or a function. Both give a new target below the design document, which is then answered
// instead. Paths stay encoded until then, so that ids are decoded once and not twice.
import { renderError } from '../design/runtime.js'
import { badRequest, HttpError, notFound } from '../errors.js'
import { isObject, mapValues, parseJson } from '../exchange.js'
import { jsonParameters } from '../views/query.js'
import { rewriteRequest, sendDesignAnswer } from './design.js'

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
  if (typeof value === 'string') {
    return ex.rewritten({ target: normalizePath(`${prefix}/${value}`) + (ex.search && `?${ex.search}`) })
  }
  if (!isObject(value)) throw rewriteError(500, 'bad rewrite')
  if (value.code !== undefined) {
    sendDesignAnswer(ex, { code: value.code, headers: value.headers, body: value.body ?? '' })
    return null
  }
  const { path, query, method, headers, body } = value
  const isText = field => field === undefined || typeof field === 'string'
  if (path === undefined || ![path, method].every(isText) || (query !== undefined && !isObject(query))) {
    throw rewriteError(500, 'bad rewrite')
  }
  const search = query === undefined ? ex.search : queryText(query)
  const [, plain, own] = /^([^?]*)(.*)$/s.exec(path) ?? []
  const target = normalizePath(`${prefix}/${plain}`) + own
  return ex.rewritten({
    method: method?.toUpperCase(),
    target: target + (search && `?${search}`),
    headers: checkedHeaders(ex, headers),
    ...(body !== undefined && { body: Promise.resolve(Buffer.from(String(body))) })
  })
}

/** @returns {Promise<import('../exchange.js').Exchange | null>} the new exchange; null: answered */
export async function rewrite (ex, ddocName) {
  if (ex.rewrites >= LIMIT) throw badRequest('Exceeded rewrite recursion limit')
  const runtime = await ex.db.designs.get(ddocName)
  const { rewrites } = runtime.ddoc
  const prefix = `/${encodeURIComponent(ex.db.name)}/_design/${encodeURIComponent(ddocName)}`
  if (Array.isArray(rewrites)) return ex.rewritten({ target: applyRules(rewrites, ex, prefix) })
  if (typeof rewrites !== 'string') throw rewriteError(404, 'Invalid path.')
  const call = { source: rewrites, req: await rewriteRequest(ex) }
  const { value } = await runtime.call('rewrite', call, error => renderError(error, 'rewrite_error'))
  return fromFunction(ex, prefix, value)
}

// Rules: an array of {from, to, method, query, formats}, matched in order as CouchDB does

const split = path => path.split('/').filter(part => part !== '')

/** Values bound by a pattern, or null. A last * takes the rest, in rest. */
function bind (pattern, parts) {
  const bindings = {}
  for (let i = 0; i < pattern.length; i++) {
    if (pattern[i] === '*') return { bindings, rest: parts.slice(i) }
    if (i >= parts.length) return null
    if (pattern[i].startsWith(':')) bindings[pattern[i].slice(1)] = parts[i]
    else if (pattern[i] !== parts[i]) return null
  }
  return parts.length === pattern.length ? { bindings, rest: [] } : null
}

function formatted (value, format) {
  if (format === 'int') {
    if (!/^-?\d+$/.test(value)) throw badRequest(`not an integer: ${value}`)
    return Number(value)
  }
  if (format === 'bool') return value === 'true' ? true : value === 'false' ? false : value
  return value
}

/** A value of a rule's query with its :names and * filled in. */
function fill (value, bindings, rest, formats) {
  if (Array.isArray(value)) return value.map(item => fill(item, bindings, rest, formats))
  if (isObject(value)) return mapValues(value, item => fill(item, bindings, rest, formats))
  if (value === '*') return rest.length ? rest.join('/') : value
  if (typeof value !== 'string' || !value.startsWith(':')) return value
  const name = value.slice(1)
  return Object.hasOwn(bindings, name) ? formatted(bindings[name], formats[name]) : value
}

const decodedQuery = query => mapValues(query, (text, name) => jsonParameters.has(name) ? parseJson(text) : text)

function encoded (name, value) {
  const isPlain = typeof value === 'string' && !jsonParameters.has(name)
  return `${encodeURIComponent(name)}=${encodeURIComponent(isPlain ? value : JSON.stringify(value))}`
}

function match (rule, ex, parts) {
  const { from = '*', to, method = '*', query = {}, formats = {} } = isObject(rule) ? rule : {}
  if (typeof from !== 'string' || typeof to !== 'string' || !isObject(query) || !isObject(formats)) return null
  if (method !== '*' && method !== ex.method) return null
  const bound = bind(split(from), parts)
  return bound && { ...bound, to, query, formats }
}

/**
 * The encoded target of the first rule that matches.
 * @param {import('../exchange.js').Exchange} ex @param {string} prefix path of the design document
 */
function applyRules (rules, ex, prefix) {
  const parts = ex.segments.slice(4)
  for (const rule of rules) {
    const found = match(rule, ex, parts)
    if (!found) continue
    const { to, query, formats, rest } = found
    const bindings = { ...found.bindings, ...decodedQuery(ex.query) }
    const filled = mapValues(query, value => fill(value, bindings, rest, formats))
    const bound = name => String(filled[name] ?? bindings[name] ?? `:${name}`)
    const path = split(to).flatMap(part =>
      part === '*' ? rest : [part.startsWith(':') ? bound(part.slice(1)) : part])
    const encodedPath = path.map(part => part === '..' || part === '.' ? part : encodeURIComponent(part))
    const target = normalizePath(`${prefix}/${encodedPath.join('/')}`)
    const search = Object.entries({ ...bindings, ...filled }).map(([name, value]) => encoded(name, value)).join('&')
    return target + (search && `?${search}`)
  }
  throw notFound()
}
