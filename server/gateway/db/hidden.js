// Hides the administrative documents of a store, which are only for its operators. Lists of ids may still contain them:
// a feed without these rows would have to read every document. Replicators that request them get none, and continue.
import { ADMINISTRATIVE_IDS, ADMINISTRATIVE_KINDS, isAdministrative } from '../../../core/index.js'
import { filterFeed, questionsIn } from './request.js'

const SHOWN = { $not: { _id: { $regex: ADMINISTRATIVE_IDS } } }
const NONE = '1-00000000000000000000000000000000' // a revision that no document has
const OF_LAYERS = /^(by_|rest_by_area$|styles$|expiring$|stored$)/ // views

/**
 * Changes a request so that its answer has no administrative documents.
 * @param {import('./request.js').DbRequest} request
 * @param {any} body of a POST, parsed
 * @returns {{body: any, change?: (answer: any) => any}} change: filters the answer
 */
export function hideAdministrative (request, body) {
  const { endpoint, names } = request
  const questions = questionsIn(request, body)
  switch (endpoint) {
    case 'document':
      if (isAdministrative(names[0])) askForNone(request)
      return { body }
    case '_bulk_get': // PouchDB would stop at a row with an error
      return { body: { ...body, docs: body.docs.filter(({ id }) => !isAdministrative(id)) } }
    case '_changes':
      return { body: questions[0].include_docs ? hideChanges(request, questions[0], body) : body }
    case '_all_docs': case '_view': case 'queries': {
      const isFilterNeeded = questions.some(question => question.include_docs && mayShow(names, question))
      return { body, ...(isFilterNeeded && { change: hideRows }) }
    }
    default:
      return { body }
  }
}

function askForNone (request) {
  const { query } = request
  query.delete('rev')
  if (query.has('open_revs')) query.set('open_revs', JSON.stringify([NONE]))
  else query.set('rev', NONE)
  request.search = `?${query}`
}

/** @param {import('./request.js').DbRequest} request @param {Record<string, any>} question @param {any} body */
function hideChanges (request, { doc_ids: ids }, body) {
  if (ids) return { ...body, doc_ids: ids.filter(id => !isAdministrative(id)) }
  return filterFeed(request, body, SHOWN)
}

/** Whether an answer may have such a document. @param {string[]} names @param {Record<string, any>} question */
function mayShow ([first, design, , view], question) {
  if (first === '_design') return design !== 'versions' || !OF_LAYERS.test(view)
  const { key, keys = key === undefined ? undefined : [key] } = question
  if (keys) return keys.some(isAdministrative)
  const { startkey, endkey } = question
  const [low, high] = question.descending ? [endkey, startkey] : [startkey, endkey]
  const isBefore = (id, kind) => typeof id === 'string' && id < `${kind}:`
  const isAfter = (id, kind) => typeof id === 'string' && id >= `${kind};`
  return ADMINISTRATIVE_KINDS.some(kind => !isAfter(low, kind) && !isBefore(high, kind))
}

function hideRows (answer) {
  const isShown = ({ id, doc }) => !isAdministrative(String(id)) && !isAdministrative(String(doc?._id))
  const withoutHidden = ({ rows, ...fields }) => ({ ...fields, ...(rows && { rows: rows.filter(isShown) }) })
  return answer.results ? { ...answer, results: answer.results.map(withoutHidden) } : withoutHidden(answer)
}
