// The fields that each request to /db may have, in its address and in its body. The gateway writes both anew out of
// these fields, so that the limits apply to exactly what the store gets. Values are
// checked as CouchDB takes them: it answers some that it does not take with 500.
import { badRequest } from './errors.js'

/**
 * @typedef {{read: (text: string) => any, fits: (value: any) => boolean}} Kind read: from an address, undefined if it
 *   is none; fits: is one
 */

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
const words = { read: text => text, fits: isText }
/** A view of a design document. */
const named = { read: text => isNamed(text) ? text : undefined, fits: value => isText(value) && isNamed(value) }
const count = {
  read: text => /^\d{1,15}$/.test(text) ? Number(text) : undefined,
  fits: value => Number.isSafeInteger(value) && value >= 0
}
const flag = {
  read: text => text === 'true' ? true : text === 'false' ? false : undefined,
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
// one that is named again is sent again
const revisions = json(value => listOf(isText)(value) && new Set(value).size === value.length)
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
const NEEDED = {
  'queries of _all_docs': 'queries',
  'queries of _view': 'queries',
  _bulk_get: 'docs',
  _find: 'selector'
}

/** Parameters that are not passed to filters: of quorums and writing, of answers as scripts, and tokens. */
const UNPASSED = ['r', 'w', 'batch', 'new_edits', 'callback', 'token']

/**
 * @param {string} search as it came, without the question mark
 * @returns {{query: URLSearchParams, args: Record<string, any>}} as the store is asked, and the values in it
 */
export function fieldsOfAddress (search, form) {
  const given = new URLSearchParams(search)
  // of two, CouchDB takes the last and others the first: what was checked here would not be what is done there
  if (new Set(given.keys()).size < given.size) throw badRequest('a parameter is given twice')
  const kinds = inAddress[form] ?? {}
  const ownFilter = form === '_changes' && given.get('filter')?.includes('/')
  const query = new URLSearchParams()
  /** @type {[string, any][]} */
  const args = []
  for (const [name, text] of given) {
    if (!Object.hasOwn(kinds, name)) {
      // a design document's filter has its own parameters
      if (ownFilter && !UNPASSED.includes(name)) query.append(name, text)
      continue
    }
    const value = kinds[name].read(text)
    if (!kinds[name].fits(value)) throw badRequest(`invalid value for ${name}`)
    query.append(name, text)
    args.push([name, value])
  }
  return { query, args: Object.fromEntries(args) }
}

/**
 * The known fields of an object, each checked.
 * @param {Record<string, Kind>} kinds @param {Record<string, any>} given
 */
function known (kinds, given) {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => {
    if (!Object.hasOwn(kinds, name)) return false
    if (!kinds[name].fits(value)) throw badRequest(`\`${name}\` is missing or invalid`)
    return true
  }))
}

/**
 * @param {Record<string, any>} given @param {Record<string, any>} [args] of the address: defaults of queries
 * @returns {Record<string, any>} the body that the store is asked with
 */
export function fieldsOfBody (form, given, args = {}) {
  if (form === '_revs_diff') return revisionsOf(given)
  const body = known(inBody[form] ?? {}, given)
  const needed = NEEDED[form]
  if (needed && body[needed] === undefined) throw badRequest(`\`${needed}\` is missing or invalid`)
  if (body.docs) body.docs = body.docs.map(referenceOf)
  if (body.queries) body.queries = body.queries.map(one => ({ ...args, ...known(inAddress[form], one) }))
  else {
    const twice = Object.keys(body).find(name => Object.hasOwn(args, name))
    if (twice) throw badRequest(`\`${twice}\` is given twice`)
  }
  return body
}

function revisionsOf (given) {
  if (!Object.values(given).every(listOf(isText))) {
    throw badRequest('revisions must be lists of revision ids by document id')
  }
  return given
}

function referenceOf (given) {
  const one = known(reference, given)
  if (one.id === undefined) throw badRequest('`docs` is missing or invalid')
  return one
}
