// The fields that each request to /db may have, in its address and in its body. The gateway writes both anew out of
// these fields, so that the limits apply to exactly what the store gets. Values are
// checked as CouchDB takes them: it answers some that it does not take with 500.
import { badRequest } from '../../http/errors.js'
import { isObject, jsonOf, sameFor } from '../../../core/values.js'

const MAX_CONDITIONS = 8 // of a selector
const MAX_PATTERN = 2048 // characters of a $regex: the client library names its layers in it
const MAX_REPEATS = 2 // of * + {} in it
const MAX_OPTIONAL = 4 // of ? in it: each doubles the ways

/**
 * @typedef {object} Kind
 * @property {(text: string) => any} read from an address; undefined if it is none
 * @property {(value: any) => boolean} fits whether a value is one
 * @property {boolean} [isNeeded]
 */
const isText = value => typeof value === 'string'
const listOf = test => value => Array.isArray(value) && value.every(test)
const needed = kind => ({ ...kind, isNeeded: true })

const json = (fits = value => value !== undefined) => ({ read: jsonOf, fits })
const words = { read: text => text, fits: isText }
const count = {
  read: text => /^\d{1,15}$/.test(text) ? Number(text) : undefined,
  fits: value => Number.isSafeInteger(value) && value >= 0
}
const flag = {
  read: text => ['true', 'false'].includes(text) ? text === 'true' : undefined,
  fits: value => typeof value === 'boolean'
}
const oneOf = (...choice) => ({
  read: text => choice.includes(text) ? text : undefined,
  fits: value => choice.includes(value)
})
const any = (...kinds) => ({
  read: text => kinds.map(kind => kind.read(text)).find(value => value !== undefined),
  fits: value => kinds.some(kind => kind.fits(value))
})

// Only what the client library, PouchDB and mirrors send; all else is refused, so that nobody takes an answer for
// another one. Each field has one spelling: of several, CouchDB takes the last.
const docs = sameFor(flag, 'attachments', 'conflicts', 'update_seq')
const rows = {
  ...docs,
  ...sameFor(flag, 'include_docs', 'descending', 'inclusive_end'),
  ...sameFor(count, 'limit', 'skip'),
  ...sameFor(json(), 'key', 'startkey', 'endkey')
}
const allDocs = { ...rows, keys: json(listOf(isText)) }
const view = {
  ...rows,
  startkey_docid: words,
  keys: json(Array.isArray),
  ...sameFor(flag, 'reduce', 'group', 'update'),
  group_level: count,
  stale: oneOf('ok', 'update_after')
}
const changes = {
  ...docs,
  ...sameFor(flag, 'include_docs', 'descending'),
  ...sameFor(count, 'limit', 'seq_interval', 'timeout'),
  since: words,
  filter: oneOf('_doc_ids', '_selector'),
  heartbeat: any(count, flag),
  feed: oneOf('normal', 'longpoll', 'continuous'),
  style: oneOf('main_only', 'all_docs')
}
// one that is named again is sent again
const revisions = json(value => listOf(isText)(value) && new Set(value).size === value.length)
const document = {
  ...docs,
  ...sameFor(flag, 'latest', 'revs', 'revs_info'),
  rev: words,
  open_revs: any(oneOf('all'), revisions),
  atts_since: revisions
}
const reference = { id: needed(words), rev: words, atts_since: revisions }
const queries = { queries: needed(json(listOf(isObject))) }

/** `{layer: 'osm', _id: {$regex: PATTERN}}`: other conditions may take long, for every document and each request. */
function isSelector (value) {
  if (!isObject(value)) return false
  const conditions = Object.entries(value)
  return conditions.length <= MAX_CONDITIONS && conditions.every(isCondition)
}

/** @param {[string, any]} condition the name of a field, and what it has to be */
function isCondition ([name, value]) {
  if (name !== '_id' || !isObject(value)) {
    return /^[^$]{1,100}$/.test(name) && ['string', 'number', 'boolean'].includes(typeof value)
  }
  return Object.keys(value).join() === '$regex' && isText(value.$regex) && isHarmlessPattern(value.$regex)
}

/** In the address. @type {Record<string, Record<string, Kind>>} */
const inAddress = {
  _all_docs: allDocs,
  _view: view,
  'queries of _all_docs': allDocs,
  'queries of _view': view,
  _changes: changes,
  _bulk_get: sameFor(flag, 'revs', 'attachments', 'att_encoding_info', 'latest'),
  document,
  attachment: { rev: words }
}

/** In the body. @type {Record<string, Record<string, Kind>>} */
const inBody = {
  _all_docs: allDocs,
  _view: view,
  'queries of _all_docs': queries,
  'queries of _view': queries,
  _changes: { doc_ids: json(listOf(isText)), selector: json(isSelector) },
  _bulk_get: { docs: needed(json(listOf(isObject))) }
}

/** Fields that exclude each other: which of them counts is another one in each store. */
const EXCLUSIVE = [
  ['key', 'keys'], ['key', 'startkey'], ['key', 'endkey'], ['keys', 'startkey'], ['keys', 'endkey'],
  ['rev', 'open_revs']
]

/** What each filter needs, and what needs it. */
const FILTERED = { _doc_ids: 'doc_ids', _selector: 'selector' }

/** Of addresses, but not for the store: a token for private layers, and what PouchDB adds for browsers with a cache. */
const UNPASSED = ['token', '_nonce']

/**
 * @param {string} search as it came, without the question mark
 * @returns {{query: URLSearchParams, args: Record<string, any>}} as the store is asked, and the values in it
 */
export function fieldsOfAddress (search, form) {
  const parameters = new URLSearchParams(search)
  // of two, CouchDB takes the last and others the first: what was checked here would not be what is done there
  if (new Set(parameters.keys()).size < parameters.size) throw badRequest('a parameter is given twice')
  for (const name of UNPASSED) parameters.delete(name)
  const kinds = inAddress[form] ?? {}
  const valueOf = (name, text) => Object.hasOwn(kinds, name) ? kinds[name].read(text) : text
  const values = Array.from(parameters, ([name, text]) => /** @type {[string, any]} */ ([name, valueOf(name, text)]))
  return { query: parameters, args: checkedFields(kinds, values) }
}

/**
 * Fields with their values, each checked.
 * @param {Record<string, Kind>} kinds @param {[string, any][]} fields
 * @returns {Record<string, any>}
 */
function checkedFields (kinds, fields) {
  for (const [name, value] of fields) {
    if (!Object.hasOwn(kinds, name)) throw badRequest(`\`${name}\` is not taken here`)
    if (!kinds[name].fits(value)) throw badRequest(`\`${name}\` is missing or invalid`)
  }
  const values = Object.fromEntries(fields)
  const missing = Object.keys(kinds).find(name => kinds[name].isNeeded && !Object.hasOwn(values, name))
  if (missing) throw badRequest(`\`${missing}\` is missing or invalid`)
  return values
}

/**
 * @param {Record<string, any>} question @param {Record<string, any>} [args] of the address: defaults of queries
 * @returns {Record<string, any>} the body that the store is asked with
 */
export function fieldsOfBody (form, question, args = {}) {
  const body = checkedFields(inBody[form] ?? {}, Object.entries(question))
  if (body.docs) body.docs = body.docs.map(doc => checkedFields(reference, Object.entries(doc)))
  const queryOf = query => ({ ...args, ...checkedFields(inAddress[form], Object.entries(query)) })
  if (body.queries) return { queries: body.queries.map(queryOf) }
  const twice = Object.keys(body).find(name => Object.hasOwn(args, name))
  if (twice) throw badRequest(`\`${twice}\` is given twice`)
  return body
}

/** Refuses fields that exclude each other. @param {Record<string, any>} fields of the address and the body */
export function checkTogether (fields) {
  const has = name => fields[name] !== undefined
  const both = EXCLUSIVE.find(names => names.every(has))
  if (both) throw badRequest(`\`${both.join('` and `')}\` exclude each other`)
  for (const [filter, name] of Object.entries(FILTERED)) {
    if ((fields.filter === filter) === has(name)) continue
    throw badRequest(`\`filter=${filter}\` and \`${name}\` need each other`)
  }
}

/**
 * Whether a pattern ends in reasonable time on any text. CouchDB gives up on a document after some 0.2 s, and there are
 * many. It does end when no group is repeated, nothing refers back, and little is repeated at all.
 */
export function isHarmlessPattern (pattern) {
  const numberOf = signs => pattern.match(signs)?.length ?? 0
  return pattern.length <= MAX_PATTERN && numberOf(/[*+{]/g) <= MAX_REPEATS && numberOf(/\?/g) <= MAX_OPTIONAL &&
    !/\)[*+{]|\\[1-9gk]|\(\?/.test(pattern)
}
