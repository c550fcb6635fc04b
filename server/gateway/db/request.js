// Requests to /db: which of CouchDB's requests read, in this one database, and within which limits. Everything else is
// refused, and what is passed on is written anew out of known fields (fields.js): nothing of the client's own spelling
// reaches the store.
import { TILE_ATTACHMENT, parseTileId } from '../../../core/index.js'
import { DbError, badRequest, forbidden, notFound, readOnly, tooLarge } from './errors.js'
import { fieldsOfAddress, fieldsOfBody, isObject } from './fields.js'

const LEAST_HEARTBEAT = 1000 // milliseconds between two heartbeats of a feed

const GET = ['GET', 'HEAD']
const POST = ['POST']
const BOTH = [...GET, ...POST]

const OPEN_FEEDS = ['longpoll', 'continuous', 'live'] // stay open for changes to come

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
 * @property {{id: string, layer: string, z: number, x: number, y: number, time?: string, rev?: string}} [tile] it is a
 *   tile's image
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
  if (!methods.includes(method)) throw readOnly(methods.length ? methods : GET)
  const { query: given, args } = fieldsOfAddress(search, form)
  const query = endpoint === 'queries' ? new URLSearchParams() : given // they go into each of the queries
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
    ...(endpoint === 'attachment' && tileOf(names, query)),
    isPinned: endpoint === 'attachment' && query.has('rev')
  }
}

/**
 * A segment of the path as text. No id of ours has a slash, and proxies disagree about encoded ones: they are refused.
 */
export function decode (segment) {
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

const ENDPOINTS = { _all_docs: BOTH, _changes: BOTH, _bulk_get: POST, _revs_diff: POST, _find: POST }

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

/** The tile whose image an attachment is. @param {string[]} names */
function tileOf ([id, name, ...rest], query) {
  if (name !== TILE_ATTACHMENT || rest.length) return {}
  try {
    const rev = query.get('rev')
    return { tile: { id, ...parseTileId(id), ...(rev !== null && { rev }) } }
  } catch {
    return {} // another document that happens to have such an attachment
  }
}

// Bodies

export const MAX_BODY = 2 * 1024 * 1024 // bytes: 10,000 revisions to compare are 0.7 MB
const MAX_DEPTH = 32 // of selectors and keys
const MAX_VALUES = 50000 // in a request
// characters of the names that lead to all of its values: CouchDB writes the path of each condition in full
const MAX_PATHS = 4e6
const MAX_KEYS = 10000 // documents, revisions or rows that are named in one
const MAX_DOCS = 2000 // of them when the documents themselves are wanted: mirrors ask for 500 at once
const MAX_QUERIES = 1000 // ranges: a view of the map has some hundred columns
const MAX_PATTERN = 256 // characters of a $regex
const MAX_REPEATS = 2 // of * + {} in it
const MAX_OPTIONAL = 4 // of ? in it: each doubles the ways

/**
 * The body of a POST: read, bounded, parsed and reduced to known fields.
 * @param {any} req @param {DbRequest} request @returns {Promise<Record<string, any>>}
 */
export async function readBody (req, { endpoint, form, args }) {
  const encoding = req.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw new DbError(415, 'bad_content_encoding', 'only identity is understood')
  const bytes = await readBytes(req)
  if (!bytes.length && endpoint === '_changes') return {}
  if (!/^application\/json\s*(;|$)/i.test(req.headers['content-type'] ?? '')) {
    throw new DbError(415, 'bad_content_type', 'Content-Type must be application/json')
  }
  let body
  try {
    body = JSON.parse(bytes.toString())
  } catch {
    throw badRequest('invalid UTF-8 JSON')
  }
  if (!isObject(body)) throw badRequest('Request body must be a JSON object')
  return checkBody(form, body, args)
}

/**
 * @param {Record<string, any>} given @param {Record<string, any>} [args]
 * @returns {Record<string, any>} its known fields
 */
export function checkBody (form, given, args) {
  checkValue(given, 0, { left: MAX_VALUES, characters: MAX_PATHS }, 0)
  return fieldsOfBody(form, given, args)
}

/** @param {number} [most] bytes @returns {Promise<Buffer>} */
export async function readBytes (req, most = MAX_BODY) {
  if (Number(req.headers['content-length'] ?? 0) > most) throw tooLarge(most)
  /** @type {Buffer[]} */
  const chunks = []
  let length = 0
  try {
    for await (const chunk of req) {
      length += chunk.length
      if (length > most) throw tooLarge(most)
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof DbError ? error : badRequest('the body was cut off')
  }
  return Buffer.concat(chunks)
}

/**
 * @param {{left: number, characters: number}} values values that may yet come, and characters of their paths
 * @param {number} path characters
 */
function checkValue (value, depth, values, path) {
  values.characters -= path
  if (values.left-- <= 0 || values.characters < 0) throw tooLarge(MAX_BODY)
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_DEPTH) throw badRequest('too many levels')
  for (const [name, inner] of Object.entries(value)) {
    if (name === '$regex' && !(typeof inner === 'string' && isHarmlessPattern(inner))) {
      throw badRequest('this $regex may take too long')
    }
    const isByZero = name === '$mod' && Array.isArray(inner) && inner[0] === 0 // CouchDB answers 500
    if (isByZero) throw badRequest('$mod by 0')
    checkValue(inner, depth + 1, values, path + name.length)
  }
}

/**
 * Whether a pattern ends in reasonable time on any text. CouchDB gives up on a document after some 0.2 s, and there are
 * many. It does end when no group is repeated, nothing refers back, and little is repeated at all.
 */
export function isHarmlessPattern (pattern) {
  const count = signs => pattern.match(signs)?.length ?? 0
  return pattern.length <= MAX_PATTERN && count(/[*+{]/g) <= MAX_REPEATS && count(/\?/g) <= MAX_OPTIONAL &&
    !/\)[*+{]|\\[1-9gk]|\(\?/.test(pattern)
}

/**
 * Checks the limits of what the store will be asked.
 * @param {DbRequest} request @param {Record<string, any>} [body]
 * @returns {boolean} whether images are wanted, and so a large answer
 */
export function checkLimits ({ endpoint, form, args }, body = {}) {
  const asked = endpoint === 'queries' ? body.queries : [{ ...args, ...body }]
  const named = asked.reduce((sum, { keys, docs, doc_ids: ids, open_revs: revs }) =>
    sum + lengthOf(keys) + lengthOf(docs) + lengthOf(ids) + lengthOf(revs), 0)
  const isWhole = ['document', '_bulk_get'].includes(endpoint) || asked.some(one => one.include_docs || one.attachments)
  checkNumber(named, isWhole ? MAX_DOCS : MAX_KEYS)
  checkNumber(asked.length, MAX_QUERIES)
  if (endpoint === '_revs_diff') checkNumber(Object.keys(body).length, MAX_KEYS)
  const withImages = asked.filter(one => one.attachments || one.atts_since)
  if (!withImages.length) return false
  // rows with images are not answered piece by piece
  const isPieceByPiece = ['document', '_bulk_get'].includes(endpoint)
  if (!isPieceByPiece && withImages.reduce((sum, one) => sum + mostRows(form, one), 0) > MAX_DOCS) {
    throw badRequest(`with attachments=true a request needs a limit of ${MAX_DOCS} at most, of all its ranges together`)
  }
  return true
}

/** Complete documents need memory on the way, in the embedded store all at once. */
function checkNumber (count, most) {
  if (count > most) throw new DbError(413, 'too_large', `a request may name ${most} documents, rows or ranges`)
}

const lengthOf = value => Array.isArray(value) ? value.length : 0

/** How many rows an answer can have. A key of a view can have any number. */
function mostRows (form, { key, keys, limit = Infinity, filter, doc_ids: ids }) {
  if (form === '_changes') return filter === '_doc_ids' ? lengthOf(ids) : limit
  return /_view/.test(form) ? limit : Math.min(limit, keys?.length ?? (key === undefined ? Infinity : 1))
}
