// The parameters of a question, each as CouchDB takes it: it answers some that it does not take with 500.
import { badRequest } from './refusal.js'

const isCount = text => /^\d{1,15}$/.test(text)
const isFlag = text => text === 'true' || text === 'false'
const oneOf = (...words) => text => words.includes(text)

function isJson (text) {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Others, such as those of a filter, are passed on as they are. @type {Record<string, (text: string) => boolean>} */
const parameters = {
  limit: isCount,
  skip: isCount,
  group_level: isCount,
  seq_interval: isCount,
  timeout: isCount,
  heartbeat: text => isCount(text) || isFlag(text),
  feed: oneOf('normal', 'longpoll', 'continuous', 'live'),
  style: oneOf('main_only', 'all_docs'),
  stale: oneOf('ok', 'update_after', 'false'),
  update: oneOf('true', 'false', 'lazy'),
  open_revs: text => text === 'all' || isJson(text),
  ...Object.fromEntries(['include_docs', 'attachments', 'att_encoding_info', 'conflicts', 'deleted_conflicts', 'descending', 'group', 'inclusive_end', 'latest', 'local_seq', 'meta', 'reduce', 'revs', 'revs_info', 'sorted', 'stable', 'update_seq'].map(name => [name, isFlag])),
  ...Object.fromEntries(['key', 'keys', 'startkey', 'start_key', 'endkey', 'end_key', 'atts_since', 'doc_ids'].map(name => [name, isJson]))
}

// of how, and not of what: quorums, on which CouchDB stumbles, answers as scripts, what only writing takes, and what lets visitors in
const UNPASSED = ['r', 'w', 'batch', 'new_edits', 'callback', 'token']

/**
 * @param {string} search as it came, without the question mark
 * @returns {URLSearchParams}
 */
export function parseParameters (search) {
  const query = new URLSearchParams(search)
  // of two, CouchDB takes the last and others the first: then what was looked at here would not be what is done there
  if (new Set(query.keys()).size < query.size) throw badRequest('a parameter is given twice')
  for (const name of UNPASSED) query.delete(name)
  for (const [name, value] of query) {
    if (Object.hasOwn(parameters, name) && !parameters[name](value)) throw badRequest(`invalid value for ${name}`)
  }
  return query
}
