// Requests to /db: which of CouchDB's requests read, in this one database, and within which limits. Everything else is
// refused, and what is passed on is written anew out of known fields (fields.js): nothing of the client's own spelling
// reaches the store.
import { TILE_ATTACHMENT, isTileId } from '../../../core/index.js'
import { HttpError, badRequest, forbidden, notFound, notAllowed } from '../../http/errors.js'
import { parseJson, readBody, requireJson } from '../../http/body.js'
import { checkTogether, fieldsOfAddress, fieldsOfBody } from './fields.js'
import { isObject } from '../../../core/values.js'

const LEAST_HEARTBEAT = 1000 // milliseconds between two heartbeats of a feed

const GET = ['GET', 'HEAD']
const POST = ['POST']
const BOTH = [...GET, ...POST]

const OPEN_FEEDS = ['longpoll', 'continuous'] // stay open for changes to come

/**
 * @typedef {object} DbRequest
 * @property {string} method
 * @property {string} path below the database
 * @property {string[]} names its segments, decoded
 * @property {URLSearchParams} query as the store is asked
 * @property {Record<string, any>} args the values in it; of `queries`, the defaults of each of them
 * @property {string} search with its question mark, or nothing
 * @property {string} endpoint of CouchDB: `document`, `attachment`, `_all_docs`, `_view`, `queries`, …
 * @property {string} form its name in fields.js
 * @property {boolean} isFeed a feed that stays open
 * @property {boolean} [isLarge] its answer has images in JSON
 * @property {string} [imageOf] id of the tile whose image it is
 * @property {boolean} isPinned an attachment of one revision, which never changes
 */

/**
 * @param {string} path as it came, below /db
 * @param {string} search as it came, without the question mark
 * @returns {DbRequest}
 */
export function parseDbRequest (method, path, search) {
  const segments = path.split('/').slice(1)
  if (segments.at(-1) === '' && segments.length === 1) segments.pop() // /db/ is /db
  const names = segments.map(decode)
  const { endpoint, methods, form = endpoint } = endpointOf(names)
  if (!methods.includes(method)) throw notAllowed(methods)
  const { query: addressQuery, args } = fieldsOfAddress(search, form)
  const query = endpoint === 'queries' ? new URLSearchParams() : addressQuery // they go into each of the queries
  const isFeed = endpoint === '_changes' && checkFeed(query)
  const text = query.toString()
  return {
    method,
    names,
    query,
    args,
    form,
    path: names.map(name => `/${encodeURIComponent(name)}`).join(''),
    search: text && `?${text}`,
    endpoint,
    isFeed,
    imageOf: endpoint === 'attachment' && isImage(names) ? names[0] : undefined,
    isPinned: endpoint === 'attachment' && query.has('rev')
  }
}

/**
 * A segment of the path as text. No id of ours has a slash, and proxies disagree about encoded ones: they are refused.
 */
function decode (segment) {
  let name
  try {
    name = decodeURIComponent(segment)
  } catch {
    throw badRequest('the path is not encoded as UTF-8')
  }
  if (name === '' || name === '.' || name === '..' || /[/\\\p{Cc}]/u.test(name)) {
    throw notFound('no document has such a name')
  }
  return name
}

/** @returns {{endpoint: string, methods: string[], form?: string}} */
function endpointOf (names) {
  const [first, second] = names
  const { length } = names
  if (length === 0) return { endpoint: 'info', methods: GET }
  if (length === 1 && Object.hasOwn(ENDPOINTS, first)) return { endpoint: first, methods: ENDPOINTS[first] }
  if (first === '_all_docs' && second === 'queries' && length === 2) {
    return { endpoint: 'queries', methods: POST, form: 'queries of _all_docs' }
  }
  if (first === '_local' && length === 2) return { endpoint: 'document', methods: GET }
  if (first === '_design' && length > 1) return inDesign(names.slice(2))
  if (first.startsWith('_') || second?.startsWith('_')) throw forbidden('this is not shown here')
  return { endpoint: length === 1 ? 'document' : 'attachment', methods: GET }
}

const ENDPOINTS = { _all_docs: BOTH, _changes: BOTH, _bulk_get: POST }

/** @param {string[]} names below the design document */
function inDesign ([first, view, last, ...rest]) {
  if (first === undefined) return { endpoint: 'document', methods: GET }
  if (!first.startsWith('_')) return { endpoint: 'attachment', methods: GET }
  if (first !== '_view' || view === undefined || rest.length) throw forbidden('this is not shown here')
  if (last === undefined) return { endpoint: '_view', methods: BOTH }
  if (last === 'queries') return { endpoint: 'queries', methods: POST, form: 'queries of _view' }
  throw notFound()
}

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
const MAX_KEYS = 10000 // documents, revisions or rows that are named in one
const MAX_DOCS = 2000 // of them when the documents themselves are wanted: mirrors ask for 500 at once
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
 * Makes a request for changes one with a selector: every document has to match this one too.
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
 * Checks the limits of what the store will be asked.
 * @param {DbRequest} request @param {Record<string, any>} [body]
 * @returns {boolean} whether images are wanted, and so a large answer
 */
export function checkLimits (request, body) {
  const { endpoint, form } = request
  const asked = questionsIn(request, body)
  asked.forEach(checkTogether)
  const namedItems = asked.reduce((sum, { keys, docs, doc_ids: ids, open_revs: revs }) =>
    sum + lengthOf(keys) + lengthOf(docs) + lengthOf(ids) + lengthOf(revs), 0)
  const isOfDocuments = ['document', '_bulk_get'].includes(endpoint)
  const isWhole = isOfDocuments || asked.some(one => one.include_docs || one.attachments)
  checkNumber(namedItems, isWhole ? MAX_DOCS : MAX_KEYS)
  checkNumber(asked.length, MAX_QUERIES)
  const withImages = asked.filter(one => one.attachments || one.atts_since)
  if (!withImages.length) return false
  // rows with images are not answered piece by piece
  if (!isOfDocuments && withImages.reduce((sum, one) => sum + mostRows(form, one), 0) > MAX_DOCS) {
    throw badRequest(`with attachments=true a request needs a limit of ${MAX_DOCS} at most, of all its ranges together`)
  }
  return true
}

/** Complete documents need memory on the way, in the embedded store all at once. */
function checkNumber (count, most) {
  if (count > most) throw new HttpError(413, 'too_large', `a request may name ${most} documents, rows or ranges`)
}

const lengthOf = value => Array.isArray(value) ? value.length : 0

/**
 * How many rows an answer can have. A key of a view can have any number.
 * @param {string} form @param {Record<string, any>} asked
 */
function mostRows (form, { key, keys, limit = Infinity, doc_ids: ids }) {
  if (form === '_changes') return ids?.length ?? limit
  return /_view/.test(form) ? limit : Math.min(limit, keys?.length ?? (key === undefined ? Infinity : 1))
}
