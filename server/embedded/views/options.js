// Query parameters of views and _all_docs, from the URL, a POST body or one of many queries, checked as CouchDB does.
import { HttpError, badRequest } from '../errors.js'
import { isObject } from '../exchange.js'
import { parseJson } from '../json.js'

const json = new Set(['key', 'startkey', 'start_key', 'endkey', 'end_key', 'keys'])
const booleans = new Set(['descending', 'reduce', 'group', 'include_docs', 'inclusive_end', 'attachments', 'att_encoding_info', 'conflicts', 'stable', 'sorted', 'update_seq', 'local_seq'])
const integers = new Set(['limit', 'skip', 'group_level'])
const names = { start_key: 'startkey', end_key: 'endkey', start_key_doc_id: 'startkey_docid', end_key_doc_id: 'endkey_docid' }

const parseError = reason => new HttpError(400, 'query_parse_error', reason)

function fromText (name, text) {
  if (json.has(name)) return parseJson(text)
  if (integers.has(name) && /^-?\d+$/.test(text)) return Number(text)
  if (booleans.has(name) && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function check (name, value) {
  if (booleans.has(name) && typeof value !== 'boolean') throw parseError(`Invalid boolean parameter: ${JSON.stringify(value)}`)
  if (integers.has(name)) {
    if (!Number.isInteger(value)) throw parseError(`Invalid value for integer: ${JSON.stringify(value)}`)
    if (value < 0) throw parseError(`Invalid value for positive integer: ${JSON.stringify(String(value))}`)
  }
  if (name === 'keys' && !Array.isArray(value)) throw badRequest('`keys` member must be an array.')
}

/**
 * @param {Record<string, string>} query of the URL
 * @param {any} [body] of a POST; the URL wins
 * @returns {any}
 */
export function viewOptions (query, body = {}) {
  if (!isObject(body)) throw badRequest('Request body must be a JSON object')
  const options = { inclusive_end: true }
  const take = (name, value) => {
    check(name, value)
    options[names[name] ?? name] = value
  }
  for (const [name, value] of Object.entries(body)) take(name, typeof value === 'string' && !json.has(name) ? fromText(name, value) : value)
  for (const [name, text] of Object.entries(query)) take(name, fromText(name, text))
  return options
}

/** The queries of POST …/queries, the URL's parameters being defaults. */
export function manyOptions (query, body) {
  if (body.queries === undefined) throw badRequest('POST body must include `queries` parameter.')
  if (!Array.isArray(body.queries)) throw badRequest('`queries` parameter must be an array.')
  const defaults = viewOptions(query)
  return body.queries.map(one => ({ ...defaults, ...viewOptions({}, one) }))
}
