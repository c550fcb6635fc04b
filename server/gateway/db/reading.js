// Which requests of CouchDB's API read, and read in this one database. What is not here is refused, and what is passed on is
// spelled anew, out of the fields that the question has: nothing of the client's own spelling of a path or a query reaches the store.
import { TILE_ATTACHMENT, parseTileId } from '../../../core/index.js'
import { fieldsOfAddress } from './fields.js'
import { badRequest, forbidden, notFound, readOnly } from './refusal.js'

const LEAST_HEARTBEAT = 1000 // milliseconds between two signs of life of a feed

const GET = ['GET', 'HEAD']
const POST = ['POST']
const BOTH = [...GET, ...POST]

const WAITING = ['longpoll', 'continuous', 'live'] // feeds that stay open for what is to come

/**
 * @typedef {object} Reading
 * @property {string} method
 * @property {string} path below the database
 * @property {string[]} names its segments, decoded
 * @property {URLSearchParams} query as the store is asked
 * @property {Record<string, any>} args the values in it; of `queries`, which name their own, what they do not say themselves
 * @property {string} search with its question mark, or nothing
 * @property {string} question which of CouchDB's: `document`, `attachment`, `_all_docs`, `_view`, `queries`, …
 * @property {string} form the fields that it has, as fields.js names them
 * @property {boolean} waits a feed that stays open
 * @property {boolean} [isLarge] its answer has images in JSON
 * @property {{id: string, layer: string, z: number, x: number, y: number, time?: string, rev?: string}} [tile] it is the image of a tile
 * @property {boolean} pinned an attachment of one revision, which never changes
 */

/**
 * @param {string} method
 * @param {string} path as it came, below /db
 * @param {string} search as it came, without the question mark
 * @returns {Reading}
 */
export function parseReading (method, path, search) {
  const segments = path.split('/').slice(1)
  if (segments.at(-1) === '' && segments.length === 1) segments.pop() // /db/ is /db
  const names = segments.map(decode)
  const { question, methods, form = question } = recognise(names)
  if (!methods.includes(method)) throw readOnly(methods.length ? methods : GET)
  const { query: given, args } = fieldsOfAddress(search, form)
  const query = question === 'queries' ? new URLSearchParams() : given // into each of them
  const waits = question === '_changes' && checkFeed(query)
  const text = query.toString()
  return {
    method,
    names,
    query,
    args,
    form,
    path: names.map(name => `/${encodeURIComponent(name)}`).join(''),
    search: text && `?${text}`,
    question,
    waits,
    ...(question === 'attachment' && imageOf(names, query)),
    pinned: question === 'attachment' && query.has('rev')
  }
}

/** A segment of the path as its text. Slashes inside one are nobody's: no id of ours has any, and proxies disagree about them. */
function decode (segment) {
  let name
  try {
    name = decodeURIComponent(segment)
  } catch {
    throw badRequest('the path is not encoded as UTF-8')
  }
  if (name === '' || name === '.' || name === '..' || hasStrangeCharacter(name)) throw notFound('no document has such a name')
  return name
}

const hasStrangeCharacter = name => /[/\\\p{Cc}]/u.test(name)

/** @param {string[]} names @returns {{question: string, methods: string[], form?: string}} */
function recognise (names) {
  const [first, second] = names
  const { length } = names
  if (length === 0) return { question: 'info', methods: GET }
  if (length === 1 && Object.hasOwn(ENDPOINTS, first)) return { question: first, methods: ENDPOINTS[first] }
  if (first === '_all_docs' && second === 'queries' && length === 2) return { question: 'queries', methods: POST, form: 'queries of _all_docs' }
  if (first === '_local' && length === 2) return { question: 'document', methods: GET }
  if (first === '_design' && length > 1) return inDesign(names.slice(2))
  if (first.startsWith('_') || second?.startsWith('_')) throw forbidden('this is not shown here')
  return { question: length === 1 ? 'document' : 'attachment', methods: GET }
}

const ENDPOINTS = { _all_docs: BOTH, _changes: BOTH, _bulk_get: POST, _revs_diff: POST, _find: POST }

/** @param {string[]} names below the design document */
function inDesign ([first, view, last, ...rest]) {
  if (first === undefined) return { question: 'document', methods: GET }
  if (!first.startsWith('_')) return { question: 'attachment', methods: GET }
  if (first !== '_view' || view === undefined || rest.length) throw forbidden('this is not shown here')
  if (last === undefined) return { question: '_view', methods: BOTH }
  if (last === 'queries') return { question: 'queries', methods: POST, form: 'queries of _view' }
  throw notFound()
}

/** @param {URLSearchParams} query @returns {boolean} whether it waits */
function checkFeed (query) {
  const beat = query.get('heartbeat')
  if (beat !== null && /^\d+$/.test(beat) && +beat < LEAST_HEARTBEAT) query.set('heartbeat', `${LEAST_HEARTBEAT}`)
  return WAITING.includes(query.get('feed') ?? 'normal')
}

/**
 * The tile whose image an attachment is.
 * @param {string[]} names @param {URLSearchParams} query
 */
function imageOf ([id, name, ...rest], query) {
  if (name !== TILE_ATTACHMENT || rest.length) return {}
  try {
    const rev = query.get('rev')
    return { tile: { id, ...parseTileId(id), ...(rev !== null && { rev }) } }
  } catch {
    return {} // another document that happens to have such an attachment
  }
}
