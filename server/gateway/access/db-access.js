// Requests to /db of visitors who may not see everything. One that is about layers they may see is passed on, one that
// can be restricted to these is, and any other is refused.
import {
  LAYER_KINDS, RESERVED, STORE_ID, idsOfLayers, isLayer, isTileId, parseDocumentId
} from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'
import { HttpError, notFound } from '../../http/errors.js'
import { filterFeed, questionsIn } from '../db/request.js'

const LONGEST_FEED = 3600 // seconds: then a feed has to be asked for again, and access is checked again

/**
 * @typedef {import('../db/request.js').DbRequest} DbRequest
 * @typedef {object} Restricted
 * @property {DbRequest} request
 * @property {any} body
 * @property {(row: any) => boolean} [filter] of the rows of the answer
 * @property {number} [seconds] a feed may last
 */

/**
 * @param {import('./visitor.js').Visitor} visitor @param {DbRequest} request @param {any} body of a POST, parsed
 * @param {() => Promise<{layer: string}[]>} list of all layers
 * @returns {Promise<Restricted>}
 */
export async function restrict (visitor, request, body, res, list) {
  // checkpoints of mirrors, notes of writers: PouchDB needs none
  if (request.names[0] === '_local' && !visitor.mayAll) throw notFound()
  const scope = scopeOf(request, body)
  if (scope && 'layers' in scope) {
    for (const layer of scope.layers) visitor.requireAccess(res, layer)
    return { request, body }
  }
  visitor.requireSome(res)
  if (visitor.mayAll) return { request, body, ...(request.isFeed && { seconds: secondsOf(visitor, [undefined]) }) }
  if (scope && 'layerOf' in scope) {
    const filter = row => {
      const layer = scope.layerOf(row)
      return layer !== undefined && visitor.may(layer)
    }
    return { request, body, filter }
  }
  if (!scope) throw visitor.refusal(res)
  return restrictFeed(visitor, request, body, res, (await list()).map(({ layer }) => layer))
}

/**
 * For how long a visitor may see all of these.
 * @param {import('./visitor.js').Visitor} visitor @param {(string | undefined)[]} layers undefined: everything
 */
const secondsOf = (visitor, layers) =>
  Math.min(LONGEST_FEED, ...layers.map(layer => (visitor.until(layer) - Date.now()) / 1000))

/** @param {string[]} names of all layers @returns {Restricted} */
function restrictFeed (visitor, request, body, res, names) {
  const allowed = names.filter(name => visitor.may(name))
  const privateOnes = allowed.filter(name => visitor.access.isPrivate(name))
  const seconds = privateOnes.length ? secondsOf(visitor, privateOnes) : undefined
  if (body?.doc_ids) {
    const scope = layersOfIds(body.doc_ids)
    if (!scope || [...scope.layers].some(layer => !visitor.may(layer))) throw visitor.refusal(res)
    return { request, body, seconds }
  }
  // by id and not by field: a deleted document has no fields left
  const store = { _id: STORE_ID } // everybody may read it
  const ours = allowed.length ? { $or: [store, { _id: { $regex: idsOfLayers(allowed) } }] } : store
  return { request, body: filterFeed(request, body, ours), seconds }
}

/**
 * The rows that a visitor may see. If all are hidden from a visitor without credentials, that is an error: an empty
 * list would look like an empty store.
 * @param {import('./visitor.js').Visitor} visitor @param {(row: any) => boolean} filter
 */
export function filterRows (visitor, answer, filter, res) {
  const rows = answer.rows.filter(filter)
  if (answer.rows.length && !rows.length && !visitor.isKnown) throw visitor.refusal(res)
  return { rows }
}

/** An error of access as CouchDB would write it. @param {TilecouchError} error */
export function toHttpError ({ code, status, message, advice }) {
  const name = { 401: 'unauthorized', 403: 'forbidden' }[status] ?? 'error'
  return new HttpError(status, name, message, {}, { code, ...(advice && { advice }) })
}

/** What a mirror reads to find out whether everybody may read the store. */
export const SECURITY = {
  admins: { names: [], roles: [] },
  members: { names: [], roles: ['tilecouch-private-layers'] }
}

export const isAccessError = error =>
  error instanceof TilecouchError && /^(ACCESS_|TOKEN_)/.test(error.code)

// Which layers a request is about, from the request alone. An unknown request counts as one about everything: only
// visitors who may see everything can make it.

/** Views whose keys begin with the layer, and whose values name no other document. */
const VIEWS = new Set([
  'versions/by_tile', 'versions/by_time', 'versions/by_zoom', 'versions/by_area', 'versions/rest_by_area',
  'versions/conflicts', 'versions/styles'
])

/** The document of the store itself, and the couchapp, which is no secret. */
const PUBLIC_IDS = new Set([STORE_ID, ...['tiles', 'versions'].map(name => `_design/${name}`)])

/** Fields of a view, of those in fields.js, that show more than its keys and values, or rows outside of the range. */
const REVEALING = ['include_docs', 'attachments', 'startkey_docid']

/**
 * - `layers`: only these, or none
 * - `layerOf`: the rows of the answer have to be filtered
 * - `feed`: the feed needs a filter
 * - `null`: everything
 * @typedef {{layers: Set<string>}} Layers
 * @typedef {Layers | {layerOf: (row: any) => string | undefined} | {feed: true} | null} Scope
 */

/** @param {DbRequest} request @param {any} body of a POST, parsed @returns {Scope} */
function scopeOf (request, body) {
  const { names, endpoint } = request
  switch (endpoint) {
    case 'info': return { layers: new Set() }
    case 'document': case 'attachment': return layersOfIds([names[0] === '_design' ? `_design/${names[1]}` : names[0]])
    case '_all_docs': case '_view': case 'queries': return scopeOfRows(request, body)
    case '_bulk_get': return layersOfIds(body.docs.map(({ id }) => id))
    case '_changes': return { feed: true }
    default: return null
  }
}

/** The layer whose tile, edition or document this is. */
function layerOf (id) {
  if (typeof id !== 'string') return undefined
  const document = parseDocumentId(id)
  if (document) return document.layer
  const [name] = id.split(':', 1)
  // a reserved name may also begin the id of a document of another layer
  const isOfLayer = RESERVED.has(name) ? isTileId(id) : name.length < id.length
  return isOfLayer && isLayer(name) ? name : undefined
}

const START = new RegExp(`^(?:(${LAYER_KINDS.join('|')}):)?([^:;@]+)([:;@])`)

/** @param {unknown[]} ids @returns {Layers | null} */
function layersOfIds (ids) {
  const layers = new Set()
  for (const id of ids) {
    if (PUBLIC_IDS.has(/** @type {string} */ (id))) continue
    const layer = layerOf(id)
    if (layer === undefined) return null
    layers.add(layer)
  }
  return { layers }
}

/**
 * @typedef {object} Index
 * @property {(keys: any[]) => Scope} keys
 * @property {(start: any, end: any) => Scope} range
 * @property {(args: Record<string, any>) => Scope} all without keys or a range
 */

/** Ids in the order of their bytes. @type {Index} */
const primaryIndex = {
  keys: layersOfIds,
  range (start, end) {
    if (typeof start !== 'string' || typeof end !== 'string') return null
    // all ids between two that begin alike begin like them
    const [one, other] = [start, end].map(text => START.exec(text))
    if (one && other && one[1] === other[1] && one[2] === other[2] && isLayer(one[2]) && !RESERVED.has(one[2])) {
      const hasTime = /^(edition|style|manifest)$/.test(one[1])
      // `block:3:` begins the ids of blocks of the layer 3, and of tiles of a layer that is called block
      const layers = /^\d+$/.test(one[2]) && one[1] ? [one[2], one[1]] : [one[2]]
      if ([one[3], other[3]].every(sign => (sign === '@') === hasTime)) return { layers: new Set(layers) }
    }
    // layer documents of all layers: these are few, and short
    return [start, end].every(text => /^layer[:;]/.test(text)) ? { layerOf: ({ id }) => layerOf(id) } : null
  },
  all: () => null
}

/** A view with the layer first in its keys. @type {Index} */
const viewIndex = {
  keys: keys => keys.every(isKey) ? { layers: new Set(keys.map(([layer]) => layer)) } : null,
  range: (start, end) => isKey(start) && isKey(end) && start[0] === end[0] ? { layers: new Set([start[0]]) } : null,
  all ({ reduce, group, group_level: level }) {
    // sums by layer are few; the rows themselves are as many as tiles
    const isByLayer = reduce !== false && (group === true || level >= 1)
    return isByLayer ? { layerOf: ({ key }) => isKey(key) ? key[0] : undefined } : null
  }
}

const isKey = key => Array.isArray(key) && isLayer(key[0])

/**
 * Which layers rows are about: with several ranges, the layers of all of them.
 * @param {DbRequest} request @param {any} body @returns {Scope}
 */
function scopeOfRows (request, body) {
  const questions = questionsIn(request, body)
  const index = indexOf(request.names, questions)
  if (!index) return null
  if (request.endpoint !== 'queries') return scopeOfRange(index, questions[0])
  const layers = new Set()
  for (const question of questions) {
    const scope = scopeOfRange(index, question)
    if (!scope || !('layers' in scope)) return null
    for (const layer of scope.layers) layers.add(layer)
  }
  return { layers }
}

/** @param {string[]} names @param {Record<string, any>[]} questions @returns {Index | undefined} */
function indexOf ([first, design, , view], questions) {
  if (first === '_all_docs') return primaryIndex
  const isRevealing = questions.some(question => REVEALING.some(name => Object.hasOwn(question, name)))
  return VIEWS.has(`${design}/${view}`) && !isRevealing ? viewIndex : undefined
}

/** Fields that exclude each other were refused before (fields.js). @param {Index} index @returns {Scope} */
function scopeOfRange (index, question) {
  const { key, keys = key === undefined ? undefined : [key], startkey, endkey } = question
  if (keys) return index.keys(keys)
  return startkey === undefined && endkey === undefined ? index.all(question) : index.range(startkey, endkey)
}
