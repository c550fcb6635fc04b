// What each question may say, in its address and in its body. The gateway writes both anew out of these fields, so that the limits
// are held against what the store is asked, and nothing that is not here reaches it. Values are checked as CouchDB takes them: it
// answers some that it does not take with 500.
import { badRequest } from './refusal.js'

/** @typedef {{read: (text: string) => any, fits: (value: any) => boolean}} Kind read: a value out of an address, nothing where it is none; fits: whether a value is one */

export const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = value => typeof value === 'string'
const isNamed = text => /^[^/]+\/[^/]+$/.test(text)
export const listOf = test => value => Array.isArray(value) && value.every(test)

function parsed (text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const json = (fits = value => value !== undefined) => ({ read: parsed, fits })
const words = { read: said => said, fits: isText }
const named = { read: said => isNamed(said) ? said : undefined, fits: value => isText(value) && isNamed(value) } // a view of a design document
const count = { read: said => /^\d{1,15}$/.test(said) ? Number(said) : undefined, fits: value => Number.isSafeInteger(value) && value >= 0 }
const flag = { read: said => said === 'true' ? true : said === 'false' ? false : undefined, fits: value => typeof value === 'boolean' }
const oneOf = (...choice) => ({ read: said => choice.includes(said) ? said : undefined, fits: value => choice.includes(value) })
const any = (...kinds) => ({
  read: said => kinds.map(kind => kind.read(said)).find(value => value !== undefined),
  fits: value => kinds.some(kind => kind.fits(value))
})

const each = (kind, ...names) => Object.fromEntries(names.map(name => [name, kind]))

const docs = each(flag, 'attachments', 'att_encoding_info', 'conflicts')
const rows = {
  ...docs,
  ...each(flag, 'include_docs', 'descending', 'inclusive_end', 'update_seq'),
  ...each(count, 'limit', 'skip'),
  ...each(json(), 'key', 'startkey', 'start_key', 'endkey', 'end_key'),
  ...each(words, 'startkey_docid', 'start_key_doc_id', 'endkey_docid', 'end_key_doc_id')
}
const allDocs = { ...rows, keys: json(listOf(isText)) }
const view = {
  ...rows,
  keys: json(Array.isArray),
  ...each(flag, 'reduce', 'group', 'stable', 'sorted'),
  group_level: count,
  stale: oneOf('ok', 'update_after', 'false'),
  update: any(flag, oneOf('lazy'))
}
const changes = {
  ...docs,
  ...each(flag, 'include_docs', 'descending'),
  ...each(count, 'limit', 'seq_interval', 'timeout'),
  ...each(words, 'since', 'filter'),
  view: named,
  doc_ids: json(listOf(isText)),
  heartbeat: any(count, flag),
  feed: oneOf('normal', 'longpoll', 'continuous', 'live'),
  style: oneOf('main_only', 'all_docs')
}
const revisions = json(value => listOf(isText)(value) && new Set(value).size === value.length) // one that is named again is sent again
const document = {
  ...docs,
  ...each(flag, 'deleted_conflicts', 'latest', 'local_seq', 'meta', 'revs', 'revs_info'),
  rev: words,
  open_revs: any(oneOf('all'), revisions),
  atts_since: revisions
}
const find = {
  selector: json(isObject),
  ...each(count, 'limit', 'skip'),
  sort: json(Array.isArray),
  fields: json(listOf(isText)),
  use_index: json(value => isText(value) || listOf(isText)(value)),
  bookmark: words,
  ...each(flag, 'conflicts', 'execution_stats', 'stable', 'allow_fallback'),
  update: any(flag, oneOf('lazy'))
}
const reference = { id: words, rev: words, atts_since: revisions }

/** In the address. @type {Record<string, Record<string, Kind>>} */
const inAddress = {
  _all_docs: allDocs,
  _view: view,
  'queries of _all_docs': allDocs,
  'queries of _view': view,
  _changes: changes,
  _bulk_get: each(flag, 'revs', 'attachments', 'att_encoding_info', 'latest'),
  document,
  attachment: { rev: words }
}

/** In the body. @type {Record<string, Record<string, Kind>>} */
const inBody = {
  _all_docs: allDocs,
  _view: view,
  'queries of _all_docs': { queries: json(listOf(isObject)) },
  'queries of _view': { queries: json(listOf(isObject)) },
  _changes: { doc_ids: changes.doc_ids, selector: json(isObject), fields: json(listOf(isText)) },
  _bulk_get: { docs: json(listOf(isObject)) },
  _find: find
}

/** What a body must have. */
const NEEDED = { 'queries of _all_docs': 'queries', 'queries of _view': 'queries', _bulk_get: 'docs', _find: 'selector' }

// of a filter's own parameters: of how, and not of what, answers as scripts, what only writing takes, and what lets visitors in
const UNPASSED = ['r', 'w', 'batch', 'new_edits', 'callback', 'token']

/**
 * @param {string} search as it came, without the question mark
 * @param {string} question
 * @returns {{query: URLSearchParams, args: Record<string, any>}} as the store is asked, and the values in it
 */
export function fieldsOfAddress (search, question) {
  const given = new URLSearchParams(search)
  // of two, CouchDB takes the last and others the first: then what was looked at here would not be what is done there
  if (new Set(given.keys()).size < given.size) throw badRequest('a parameter is given twice')
  const kinds = inAddress[question] ?? {}
  const ownFilter = question === '_changes' && given.get('filter')?.includes('/')
  const query = new URLSearchParams()
  /** @type {[string, any][]} */
  const args = []
  for (const [name, said] of given) {
    if (!Object.hasOwn(kinds, name)) {
      if (ownFilter && !UNPASSED.includes(name)) query.append(name, said) // a filter of a design document has parameters of its own
      continue
    }
    const value = kinds[name].read(said)
    if (!kinds[name].fits(value)) throw badRequest(`invalid value for ${name}`)
    query.append(name, said)
    args.push([name, value])
  }
  return { query, args: Object.fromEntries(args) }
}

/**
 * The fields of an object that its question has, each checked.
 * @param {Record<string, Kind>} kinds @param {Record<string, any>} given
 */
function known (kinds, given) {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => {
    if (!Object.hasOwn(kinds, name)) return false
    if (!kinds[name].fits(value)) throw badRequest(`\`${name}\` is missing or not what it has to be`)
    return true
  }))
}

/**
 * @param {string} question @param {Record<string, any>} given
 * @param {Record<string, any>} [args] of the address: queries take them for what they do not say themselves
 * @returns {Record<string, any>} the body that the store is asked with
 */
export function fieldsOfBody (question, given, args = {}) {
  if (question === '_revs_diff') return revisionsOf(given)
  const body = known(inBody[question] ?? {}, given)
  const needed = NEEDED[question]
  if (needed && body[needed] === undefined) throw badRequest(`\`${needed}\` is missing or not what it has to be`)
  if (body.docs) body.docs = body.docs.map(referenceOf)
  if (body.queries) body.queries = body.queries.map(one => ({ ...args, ...known(inAddress[question], one) }))
  // which of two counts is not for us to guess
  else for (const name of Object.keys(body)) if (Object.hasOwn(args, name)) throw badRequest(`\`${name}\` is given twice`)
  return body
}

function revisionsOf (given) {
  if (!Object.values(given).every(listOf(isText))) throw badRequest('revisions must be lists of revision ids by document id')
  return given
}

function referenceOf (given) {
  const one = known(reference, given)
  if (one.id === undefined) throw badRequest('`docs` is missing or not what it has to be')
  return one
}
