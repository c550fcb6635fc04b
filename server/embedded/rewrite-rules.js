// Rewrite rules as an array of {from, to, method, query, formats}, matched in order as CouchDB matches them.
import { badRequest, notFound } from './errors.js'
import { isObject } from './exchange.js'
import { parseJson } from './json.js'
import { normalizePath } from './routes/rewrite.js'

const jsonParameters = new Set(['key', 'startkey', 'start_key', 'endkey', 'end_key', 'keys'])

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
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, bindings, rest, formats)]))
  if (value === '*') return rest.length ? rest.join('/') : value
  if (typeof value !== 'string' || !value.startsWith(':')) return value
  const name = value.slice(1)
  return Object.hasOwn(bindings, name) ? formatted(bindings[name], formats[name]) : value
}

function decodedQuery (query) {
  return Object.fromEntries(Object.entries(query).map(([name, text]) => [name, jsonParameters.has(name) ? parseJson(text) : text]))
}

const encoded = (name, value) => `${encodeURIComponent(name)}=${encodeURIComponent(jsonParameters.has(name) ? JSON.stringify(value) : typeof value === 'string' ? value : JSON.stringify(value))}`

function match (rule, ex, parts) {
  const { from = '*', to, method = '*', query = {}, formats = {} } = isObject(rule) ? rule : {}
  if (typeof from !== 'string' || typeof to !== 'string' || !isObject(query) || !isObject(formats)) return null
  if (method !== '*' && method !== ex.method) return null
  const bound = bind(split(from), parts)
  return bound && { ...bound, to, query, formats }
}

/**
 * The encoded target of the first rule that matches.
 * @param {any[]} rules @param {import('./exchange.js').Exchange} ex @param {string} prefix path of the design document
 */
export function applyRules (rules, ex, prefix) {
  const parts = ex.segments.slice(4)
  for (const rule of rules) {
    const found = match(rule, ex, parts)
    if (!found) continue
    const { to, query, formats, rest } = found
    const bindings = { ...found.bindings, ...decodedQuery(ex.query) }
    const filled = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, fill(value, bindings, rest, formats)]))
    const path = split(to).flatMap(part => part === '*' ? rest : [part.startsWith(':') ? String(filled[part.slice(1)] ?? bindings[part.slice(1)] ?? part) : part])
    const target = normalizePath(`${prefix}/${path.map(part => part === '..' || part === '.' ? part : encodeURIComponent(part)).join('/')}`)
    const search = Object.entries({ ...bindings, ...filled }).map(([name, value]) => encoded(name, value)).join('&')
    return target + (search && `?${search}`)
  }
  throw notFound()
}
