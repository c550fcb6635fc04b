// Reads answers to requests for many documents. "Not found" is an answer. Another error or no row is not an answer,
// because a part of the server may be down for a moment. The client asks again for such a document. It is never treated
// as missing.
import { TilecouchError } from '../errors.js'
import { parseBulkGet, parseJson } from './multipart.js'
import { pause } from '../promises.js'
import { compareIds } from '../ids.js'

export const bulkAnswerDefaults = {
  tries: 6, // requests for one document
  firstDelay: 100, // milliseconds before the second request, doubled each time
  longestDelay: 2000 // milliseconds between two requests at most
}

/** The error of an id without a row in the answer. */
export const UNSAID = { error: 'no_answer', reason: 'the answer does not name it' }

const NOT_FOUND = new Set(['not_found'])

/** Errors of _bulk_docs that a repetition would return again: the document may not be written. */
export const REFUSALS = ['forbidden', 'unauthorized', 'doc_validation']

/** @param {string | undefined} error of _bulk_docs @returns {error is string} */
export const isRefusal = error => error !== undefined && REFUSALS.includes(error)

/**
 * @typedef {{id: string, error?: string, reason?: string, [field: string]: any}} Row
 * @typedef {object} Asking
 * @property {AbortSignal} [signal]
 * @property {Set<string>} [final] errors that count as an answer
 * @property {Partial<typeof bulkAnswerDefaults>} [limits]
 */

/**
 * Asks until each id has an answer, or until the limit of tries.
 * @template {Row} R
 * @param {string[]} ids
 * @param {(left: string[]) => Promise<Iterable<R>>} ask returns rows, in any order; an id may have several
 * @param {Asking} [options]
 * @returns {Promise<{rows: Map<string, R[]>, failed: Map<string, {error: string, reason: string}>}>} each id is in one
 */
export async function askEach (ids, ask, { signal, final = NOT_FOUND, limits } = {}) {
  const { tries, firstDelay, longestDelay } = { ...bulkAnswerDefaults, ...limits }
  const rows = new Map()
  let pendingIds = [...new Set(ids)]
  for (let attempt = 1; pendingIds.length; attempt++) {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    const answers = new Map(pendingIds.map(id => [id, /** @type {R[]} */ ([])]))
    for (const row of await ask(pendingIds)) answers.get(row.id)?.push(row)
    const failed = new Map()
    for (const [id, idRows] of answers) {
      const fault = idRows.length ? idRows.find(({ error }) => error && !final.has(error)) : UNSAID
      if (fault) failed.set(id, { error: fault.error, reason: fault.reason ?? fault.error })
      else rows.set(id, idRows)
    }
    if (!failed.size || attempt >= tries) return { rows, failed }
    pendingIds = [...failed.keys()]
    await pause(Math.min(firstDelay * 2 ** (attempt - 1), longestDelay), signal)
  }
  return { rows, failed: new Map() }
}

/**
 * Like askEach, but rejects with the ids that have no answer.
 * @template {Row} R
 * @param {string} url for the error
 * @param {string[]} ids
 * @param {(left: string[]) => Promise<Iterable<R>>} ask
 * @param {Asking} [options]
 * @returns {Promise<Map<string, R[]>>}
 */
export async function askAll (url, ids, ask, options) {
  const { rows, failed } = await askEach(ids, ask, options)
  if (failed.size) throw noAnswer(url, [...failed.keys()], [...failed.values()][0])
  return rows
}

export const noAnswer = (url, ids, failure) => new TilecouchError('NO_ANSWER', { url, ids, reason: failure?.reason })

/**
 * Reads the rows of an answer to _bulk_get, in JSON or multipart: one for each revision of a document, and one for each
 * error.
 * @param {Uint8Array | {results: any[]}} answer bytes, or parsed JSON
 * @returns {{id: string, rev?: string, doc?: any, error?: string, reason?: string}[]}
 */
export function bulkGetRows (answer) {
  if (answer instanceof Uint8Array) {
    if (answer[0] === OPENING_BRACE) return bulkGetRows(parseJson(answer))
    const errors = /** @type {any[]} */ ([])
    const docs = parseBulkGet(answer, error => errors.push(error))
    return [...docs.map(doc => ({ id: doc._id, doc })), ...errors]
  }
  if (!Array.isArray(answer.results)) {
    throw new TilecouchError('BAD_ANSWER', { url: '_bulk_get', why: 'no list of results' })
  }
  return answer.results.flatMap(({ id, docs = [] }) => docs.map(({ ok: foundDoc, error }) => (
    foundDoc ? { id: foundDoc._id, doc: foundDoc } : { ...error, id, error: error?.error ?? UNSAID.error }
  )))
}

/** @param {Map<string, any[]>} rows by id */
export const leavesIn = rows => new Map([...rows].map(([id, idRows]) => [id, idRows.flatMap(({ doc }) => doc ?? [])]))

const OPENING_BRACE = 0x7b

/** The winning leaf, as in CouchDB: not deleted, longest history, greatest revision. @param {any[]} [leaves] */
export const winnerOf = (leaves = []) =>
  leaves.reduce((best, leaf) => !best || isBefore(leaf, best) ? leaf : best, undefined)

const isBefore = (a, b) =>
  (Number(Boolean(a._deleted)) - Number(Boolean(b._deleted)) || compareRevs(b._rev, a._rev)) < 0

// The order of revisions.

export const generation = rev => Number.parseInt(rev, 10)

/** CouchDB's order of leaves that are not deleted: the last one wins. @param {string} a @param {string} b */
export const compareRevs = (a, b) => generation(a) - generation(b) || compareIds(a, b)

export const winnerFirst = (a, b) => compareRevs(b._rev, a._rev)

/** @param {string} rev @returns {(ancestor: string) => boolean} */
export const isParentOf = rev => ancestor => generation(ancestor) === generation(rev) - 1

export const parentOf = ({ _revisions: { start, ids } = { start: 0, ids: [] } }) => `${start - 1}-${ids[1]}`

export const hasStubs = ({ _attachments: attachments = {} }) => Object.values(attachments).some(({ stub }) => stub)

/**
 * Returns the requested revisions that are not among the documents. A descendant counts as well, because a source may
 * send the latest revision instead.
 */
export function missingIn (requestedRevisions, docs) {
  const received = new Set()
  for (const { _id: id, _rev: rev, _revisions: revisions } of docs) {
    received.add(`${id} ${rev}`)
    revisions?.ids.forEach((hash, index) => received.add(`${id} ${revisions.start - index}-${hash}`))
  }
  return requestedRevisions.filter(({ id, rev }) => !received.has(`${id} ${rev}`))
}
