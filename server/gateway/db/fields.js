// The fields that each request to /db may have, in its address and in its body. The gateway builds both again from
// these fields, so that the limits apply to exactly the request that the store gets. Values are checked, because
// CouchDB answers some invalid ones with 500.
import { badRequest } from '../../http/errors.js'
import { isObject, jsonOf, sameFor } from '../../../core/values.js'

const MAX_CONDITIONS = 8 // of a selector
const MAX_PATTERN = 2048 // characters of a $regex: the client library names its layers in it
const MAX_REPEATS = 2 // of * + {} in it
const MAX_OPTIONAL = 4 // of ? in it: each doubles the possible matches

/**
 * @typedef {object} Kind
 * @property {(text: string) => any} read from an address; undefined if it is not of this kind
 * @property {(value: any) => boolean} isValid
 * @property {boolean} [isNeeded]
 */
const isText = value => typeof value === 'string'
const listOf = test => value => Array.isArray(value) && value.every(test)
const needed = kind => ({ ...kind, isNeeded: true })

const json = (isValid = value => value !== undefined) => ({ read: jsonOf, isValid })
const words = { read: text => text, isValid: isText }
const count = {
  read: text => /^\d{1,15}$/.test(text) ? Number(text) : undefined,
  isValid: value => Number.isSafeInteger(value) && value >= 0
}
const flag = {
  read: text => ['true', 'false'].includes(text) ? text === 'true' : undefined,
  isValid: value => typeof value === 'boolean'
}
const oneOf = (...choices) => ({
  read: text => choices.includes(text) ? text : undefined,
  isValid: value => choices.includes(value)
})
const any = (...kinds) => ({
  read: text => kinds.map(kind => kind.read(text)).find(value => value !== undefined),
  isValid: value => kinds.some(kind => kind.isValid(value))
})

// Only the fields that the client library, PouchDB and mirrors send. Other fields are refused, so that no client
// misreads an answer. Each field has one spelling: of several, CouchDB takes the last.
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
// without duplicates: CouchDB sends a revision as often as it is named
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

/** Only `{layer: 'osm', _id: {$regex: PATTERN}}`: other conditions may take long, for each document. */
function isSelector (value) {
  if (!isObject(value)) return false
  const conditions = Object.entries(value)
  return conditions.length <= MAX_CONDITIONS && conditions.every(isCondition)
}

/** @param {[string, any]} condition the name of a field, and its required value */
function isCondition ([name, value]) {
  if (name !== '_id' || !isObject(value)) {
    return /^[^$]{1,100}$/.test(name) && ['string', 'number', 'boolean'].includes(typeof value)
  }
  return Object.keys(value).join() === '$regex' && isText(value.$regex) && isHarmlessPattern(value.$regex)
}

/** Fields in the address. @type {Record<string, Record<string, Kind>>} */
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

/** Fields in the body. @type {Record<string, Record<string, Kind>>} */
const inBody = {
  _all_docs: allDocs,
  _view: view,
  'queries of _all_docs': queries,
  'queries of _view': queries,
  _changes: { doc_ids: json(listOf(isText)), selector: json(isSelector) },
  _bulk_get: { docs: needed(json(listOf(isObject))) }
}

/** Fields that exclude each other: stores disagree about which one counts. */
const EXCLUSIVE = [
  ['key', 'keys'], ['key', 'startkey'], ['key', 'endkey'], ['keys', 'startkey'], ['keys', 'endkey'],
  ['rev', 'open_revs']
]

/** Filters with the field that they need, and that needs them. */
const FILTERED = { _doc_ids: 'doc_ids', _selector: 'selector' }

/** Not passed to the store: a token for private layers, and the _nonce that PouchDB adds for browsers with a cache. */
const UNPASSED = ['token', '_nonce']

/**
 * @param {string} search undecoded, without the question mark
 * @returns {{query: URLSearchParams, args: Record<string, any>}} query: for the store; args: the values in it
 */
export function fieldsOfAddress (search, form) {
  const parameters = new URLSearchParams(search)
  // of duplicates, CouchDB takes the last and others the first: the store might use a value that was not checked
  if (new Set(parameters.keys()).size < parameters.size) throw badRequest('a parameter is given twice')
  for (const name of UNPASSED) parameters.delete(name)
  const kinds = inAddress[form] ?? {}
  const valueOf = (name, text) => Object.hasOwn(kinds, name) ? kinds[name].read(text) : text
  const values = Array.from(parameters, ([name, text]) => /** @type {[string, any]} */ ([name, valueOf(name, text)]))
  return { query: parameters, args: checkedFields(kinds, values) }
}

/**
 * Checks fields, and returns them with their values.
 * @param {Record<string, Kind>} kinds @param {[string, any][]} fields
 * @returns {Record<string, any>}
 */
function checkedFields (kinds, fields) {
  for (const [name, value] of fields) {
    if (!Object.hasOwn(kinds, name)) throw badRequest(`\`${name}\` is not taken here`)
    if (!kinds[name].isValid(value)) throw badRequest(`\`${name}\` is missing or invalid`)
  }
  const values = Object.fromEntries(fields)
  const missing = Object.keys(kinds).find(name => kinds[name].isNeeded && !Object.hasOwn(values, name))
  if (missing) throw badRequest(`\`${missing}\` is missing or invalid`)
  return values
}

/**
 * @param {Record<string, any>} question @param {Record<string, any>} [args] of the address: defaults of queries
 * @returns {Record<string, any>} the body for the store
 */
export function fieldsOfBody (form, question, args = {}) {
  const body = checkedFields(inBody[form] ?? {}, Object.entries(question))
  if (body.docs) body.docs = body.docs.map(doc => checkedFields(reference, Object.entries(doc)))
  const queryOf = query => ({ ...args, ...checkedFields(inAddress[form], Object.entries(query)) })
  if (body.queries) return { queries: body.queries.map(queryOf) }
  const duplicate = Object.keys(body).find(name => Object.hasOwn(args, name))
  if (duplicate) throw badRequest(`\`${duplicate}\` is given twice`)
  return body
}

/** Refuses fields that exclude each other. @param {Record<string, any>} fields of the address and the body */
export function checkTogether (fields) {
  const has = name => fields[name] !== undefined
  const conflict = EXCLUSIVE.find(names => names.every(has))
  if (conflict) throw badRequest(`\`${conflict.join('` and `')}\` exclude each other`)
  for (const [filter, name] of Object.entries(FILTERED)) {
    if ((fields.filter === filter) === has(name)) continue
    throw badRequest(`\`filter=${filter}\` and \`${name}\` need each other`)
  }
}

/**
 * Whether a pattern takes reasonable time on any text. CouchDB stops at a document after some 0.2 s, and there are many
 * documents. A pattern is fast without repeated groups and back references, and with few repetitions.
 */
export function isHarmlessPattern (pattern) {
  const numberOf = signs => pattern.match(signs)?.length ?? 0
  return pattern.length <= MAX_PATTERN && numberOf(/[*+{]/g) <= MAX_REPEATS && numberOf(/\?/g) <= MAX_OPTIONAL &&
    !/\)[*+{]|\\[1-9gk]|\(\?/.test(pattern)
}
