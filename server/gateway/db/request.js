// Parses requests to /db. Only CouchDB's requests that read this one database are accepted, within limits. The request
// to the store is built again from known fields (fields.js), so that no unchecked text of the client reaches the store.
import { TILE_ATTACHMENT, isTileId } from '../../../core/index.js'
import { HttpError, badRequest, forbidden, notFound, notAllowed } from '../../http/errors.js'
import { parseJson, readBody, requireJson } from '../../http/body.js'
import { checkTogether, fieldsOfAddress, fieldsOfBody } from './fields.js'
import { attempt, isObject } from '../../../core/values.js'
import { SUSPICIOUS } from '../router.js'

const LEAST_HEARTBEAT = 1000 // milliseconds between two heartbeats of a feed

const GET = ['GET', 'HEAD']
const POST = ['POST']
const BOTH = [...GET, ...POST]

const OPEN_FEEDS = ['longpoll', 'continuous'] // these stay open for later changes

/**
 * @typedef {object} DbRequest
 * @property {string} method
 * @property {string} path below the database
 * @property {string[]} names its segments, decoded
 * @property {URLSearchParams} query for the store
 * @property {Record<string, any>} args the values in it; for `queries`, the defaults of each query
 * @property {string} search the query with a question mark, or empty
 * @property {string} endpoint of CouchDB: `document`, `attachment`, `_all_docs`, `_view`, `queries`, …
 * @property {string} form its name in fields.js
 * @property {boolean} isFeed a feed that stays open
 * @property {boolean} [isLarge] its answer has images in JSON
 * @property {string} [imageOf] id of the tile whose image it is
 * @property {boolean} isPinned an attachment of one revision, which never changes
 */

/**
 * @param {string} path undecoded, below /db
 * @param {string} search undecoded, without the question mark
 * @returns {DbRequest}
 */
export function parseDbRequest (method, path, search) {
  const segments = path.split('/').slice(1)
  if (segments.at(-1) === '' && segments.length === 1) segments.pop() // /db/ is /db
  const names = segments.map(decode)
  const row = ENDPOINTS.find(([pattern]) => pattern.test(names.join('/')))
  if (!row) throw forbidden('this is not shown here')
  const [, endpoint, methods, form = endpoint] = row
  if (!methods.includes(method)) throw notAllowed(methods)
  const { query: addressQuery, args } = fieldsOfAddress(search, form)
  const query = endpoint === 'queries' ? new URLSearchParams() : addressQuery // args go into each of the queries
  const isFeed = endpoint === '_changes' && checkFeed(query)
  const queryText = query.toString()
  return {
    method,
    names,
    query,
    args,
    form,
    path: names.map(name => `/${encodeURIComponent(name)}`).join(''),
    search: queryText && `?${queryText}`,
    endpoint,
    isFeed,
    imageOf: endpoint === 'attachment' && isImage(names) ? names[0] : undefined,
    isPinned: endpoint === 'attachment' && query.has('rev')
  }
}

/** Decodes a segment of the path. Slashes are refused: no id has one, and proxies disagree about encoded slashes. */
function decode (segment) {
  const name = attempt(() => decodeURIComponent(segment))
  if (name === undefined) throw badRequest('the path is not encoded as UTF-8')
  const isName = !['', '.', '..'].includes(name) && !name.includes('/') && !SUSPICIOUS.test(name)
  if (!isName) throw notFound('no document has such a name')
  return name
}

/**
 * The endpoints by their paths, whose segments are decoded and have no slash. All other paths are refused.
 * @type {[path: RegExp, endpoint: string, methods: string[], form?: string][]}
 */
const ENDPOINTS = [
  [/^$/, 'info', GET],
  [/^_all_docs$/, '_all_docs', BOTH],
  [/^_all_docs\/queries$/, 'queries', POST, 'queries of _all_docs'],
  [/^_changes$/, '_changes', BOTH],
  [/^_bulk_get$/, '_bulk_get', POST],
  [/^_local\/[^/]+$/, 'document', GET],
  [/^_design\/[^/]+$/, 'document', GET],
  [/^_design\/[^/]+\/[^_]/, 'attachment', GET],
  [/^_design\/[^/]+\/_view\/[^/]+$/, '_view', BOTH],
  [/^_design\/[^/]+\/_view\/[^/]+\/queries$/, 'queries', POST, 'queries of _view'],
  [/^[^_][^/]*$/, 'document', GET],
  [/^[^_][^/]*\/[^_]/, 'attachment', GET]
]

/** @returns {boolean} whether it stays open */
function checkFeed (query) {
  const beat = query.get('heartbeat')
  if (beat !== null && /^\d+$/.test(beat) && +beat < LEAST_HEARTBEAT) query.set('heartbeat', `${LEAST_HEARTBEAT}`)
  return OPEN_FEEDS.includes(query.get('feed') ?? 'normal')
}

/** Whether an attachment is the image of a tile. @param {string[]} names */
const isImage = ([id, name, ...rest]) => name === TILE_ATTACHMENT && rest.length === 0 && isTileId(id)

// Bodies

const MAX_BODY = 1024 * 1024 // bytes: 10,000 ids are 0.5 MB, and so are 1,000 ranges of a view
const SHAPE = { levels: 33, values: 50000 } // levels: 32 inside of the object itself
const MAX_KEYS = 10000 // documents, revisions or rows that a request may name
const MAX_DOCS = 2000 // of them if the answer has complete documents: mirrors request 500 at once
const MAX_QUERIES = 1000 // ranges: a view of the map has some hundred columns

/**
 * The body of a POST: read, bounded, parsed and reduced to known fields.
 * @param {any} req @param {DbRequest} request @returns {Promise<Record<string, any>>}
 */
export async function readQuestion (req, { endpoint, form, args }) {
  const bytes = await readBody(req, MAX_BODY)
  if (!bytes.length && endpoint === '_changes') return {}
  requireJson(req)
  const body = parseJson(bytes, SHAPE)
  if (!isObject(body)) throw badRequest('Request body must be a JSON object')
  return fieldsOfBody(form, body, args)
}

/**
 * The fields of each question in a request.
 * @param {Pick<DbRequest, 'endpoint' | 'args'>} request @param {Record<string, any>} [body]
 * @returns {Record<string, any>[]}
 */
export const questionsIn = ({ endpoint, args }, body = {}) =>
  endpoint === 'queries' ? body.queries : [{ ...args, ...body }]

/**
 * Adds a selector to a request for changes: every document has to match it too.
 * @param {DbRequest} request is changed @param {any} body @param {Record<string, any>} selector
 * @returns {Record<string, any>} the body to send
 */
export function filterFeed (request, body, selector) {
  const { query } = request
  query.set('filter', '_selector')
  Object.assign(request, { method: 'POST', search: `?${query}` })
  return { ...body, selector: body?.selector ? { $and: [body.selector, selector] } : selector }
}

/**
 * Checks the limits of a request to the store.
 * @param {DbRequest} request @param {Record<string, any>} [body]
 * @returns {boolean} whether the answer has images, and so is large
 */
export function checkLimits (request, body) {
  const { endpoint, form } = request
  const questions = questionsIn(request, body)
  questions.forEach(checkTogether)
  const namedItems = questions.reduce((sum, { keys, docs, doc_ids: ids, open_revs: revs }) =>
    sum + lengthOf(keys) + lengthOf(docs) + lengthOf(ids) + lengthOf(revs), 0)
  const isOfDocuments = ['document', '_bulk_get'].includes(endpoint)
  const isWhole = isOfDocuments || questions.some(question => question.include_docs || question.attachments)
  checkNumber(namedItems, isWhole ? MAX_DOCS : MAX_KEYS)
  checkNumber(questions.length, MAX_QUERIES)
  const withImages = questions.filter(question => question.attachments || question.atts_since)
  if (!withImages.length) return false
  // the store does not stream rows with images
  if (!isOfDocuments && withImages.reduce((sum, question) => sum + mostRows(form, question), 0) > MAX_DOCS) {
    throw badRequest(`with attachments=true a request needs a limit of ${MAX_DOCS} at most, of all its ranges together`)
  }
  return true
}

/** Refuses a large number of documents: the embedded store has all of an answer in memory. */
function checkNumber (count, most) {
  if (count > most) throw new HttpError(413, 'too_large', `a request may name ${most} documents, rows or ranges`)
}

const lengthOf = value => Array.isArray(value) ? value.length : 0

/**
 * The largest number of rows of an answer. A key of a view can have any number of rows.
 * @param {string} form @param {Record<string, any>} question
 */
function mostRows (form, { key, keys, limit = Infinity, doc_ids: ids }) {
  if (form === '_changes') return ids?.length ?? limit
  return /_view/.test(form) ? limit : Math.min(limit, keys?.length ?? (key === undefined ? Infinity : 1))
}
