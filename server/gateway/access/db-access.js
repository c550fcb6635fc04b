// Restricts requests to /db of visitors who may not see all layers. A request about visible layers is passed on. A
// request that can be limited to visible layers is limited, and any other request is refused.
import {
  LAYER_KINDS, RESERVED, STORE_ID, idsOfLayers, isLayer, isTileId, parseDocumentId
} from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'
import { HttpError, notFound } from '../../http/errors.js'
import { filterFeed, questionsIn } from '../db/request.js'

const LONGEST_FEED = 3600 // seconds; then the client must request the feed again, and access is checked again

/**
 * @typedef {import('../db/request.js').DbRequest} DbRequest
 * @typedef {{body: any, change?: (answer: any) => any, seconds?: number}} Restricted body: of a POST, parsed; change:
 *   filters the answer; seconds: longest duration of a feed
 */

/**
 * @param {import('./visitor.js').Visitor} visitor @param {DbRequest} request is changed
 * @param {Restricted} filtered as for all visitors @param {() => Promise<{layer: string}[]>} list of all layers
 * @returns {Promise<Restricted>}
 */
export async function restrict (visitor, request, { body, change: hide = answer => answer }, res, list) {
  // _local documents are checkpoints of mirrors and notes of writers: PouchDB needs none
  if (request.names[0] === '_local' && !visitor.mayAll) throw notFound()
  const scope = scopeOf(request, body)
  if (scope?.layers) {
    for (const layer of scope.layers) visitor.requireAccess(res, layer)
    return { body }
  }
  visitor.requireSome(res)
  if (visitor.mayAll) return { body, seconds: request.isFeed ? secondsOf(visitor, [undefined]) : undefined }
  if (!scope) throw visitor.refusal(res)
  const { layerOfRow } = scope
  if (!layerOfRow) return restrictFeed(visitor, request, body, res, (await list()).map(({ layer }) => layer))
  const isVisible = row => {
    const layer = layerOfRow(row)
    return layer !== undefined && visitor.may(layer)
  }
  const change = answer => {
    const allRows = hide(answer).rows
    const rows = allRows.filter(isVisible)
    // an empty list would look like an empty store
    if (allRows.length && !rows.length && !visitor.isKnown) throw visitor.refusal(res)
    return { rows }
  }
  return { body, change }
}

/**
 * Seconds for which a visitor may see all of these layers.
 * @param {import('./visitor.js').Visitor} visitor @param {(string | undefined)[]} layers undefined: everything
 */
const secondsOf = (visitor, layers) =>
  Math.min(LONGEST_FEED, ...layers.map(layer => (visitor.until(layer) - Date.now()) / 1000))

/** @param {string[]} names of all layers @returns {Restricted} */
function restrictFeed (visitor, request, body, res, names) {
  const allowed = names.filter(name => visitor.may(name))
  const privateNames = allowed.filter(name => visitor.access.isPrivate(name))
  const seconds = privateNames.length ? secondsOf(visitor, privateNames) : undefined
  if (body?.doc_ids) {
    const scope = layersOfIds(body.doc_ids)
    if (!scope || [...scope.layers].some(layer => !visitor.may(layer))) throw visitor.refusal(res)
    return { body, seconds }
  }
  // by id and not by field: a deleted document has no fields left
  const store = { _id: STORE_ID } // everybody may read it
  const selector = allowed.length ? { $or: [store, { _id: { $regex: idsOfLayers(allowed) } }] } : store
  return { body: filterFeed(request, body, selector), seconds }
}

/** Converts an access error to the form of CouchDB; returns other errors unchanged. */
export function toHttpError (error) {
  if (!(error instanceof TilecouchError) || !/^(ACCESS_|TOKEN_)/.test(error.code)) return error
  const { code, status, message, advice } = error
  const name = { 401: 'unauthorized', 403: 'forbidden' }[status] ?? 'error'
  return new HttpError(status, name, message, {}, { code, ...(advice && { advice }) })
}

/** The answer to /_security, which tells a mirror that the store is not public. */
export const SECURITY = {
  admins: { names: [], roles: [] },
  members: { names: [], roles: ['tilecouch-private-layers'] }
}

// Finds the layers that a request is about, from the request alone. An unknown request counts as a request for
// everything: only visitors who may see everything can send it.

/** Views whose keys begin with the layer, and whose values name no other document. */
const VIEWS = new Set([
  'versions/by_tile', 'versions/by_time', 'versions/by_zoom', 'versions/by_area', 'versions/rest_by_area',
  'versions/conflicts', 'versions/styles'
])

/** The document of the store itself, and the couchapp, which is no secret. */
const PUBLIC_IDS = new Set([STORE_ID, ...['tiles', 'versions'].map(name => `_design/${name}`)])

/** Fields of a view (fields.js) that show more than its keys and values, or rows outside of the range. */
const REVEALING = ['include_docs', 'attachments', 'startkey_docid']

/**
 * - `layers`: the request is about these layers only, or about none
 * - `layerOfRow`: the rows of the answer have to be filtered
 * - neither: the feed needs a filter
 * - `null`: the request is about everything
 * @typedef {{layers?: Set<string>, layerOfRow?: (row: any) => string | undefined} | null} Scope
 */

/** @returns {Scope} */
function scopeOf (request, body) {
  const { names, endpoint } = request
  switch (endpoint) {
    case 'info': return { layers: new Set() }
    case 'document': case 'attachment': return layersOfIds([names[0] === '_design' ? `_design/${names[1]}` : names[0]])
    case '_all_docs': case '_view': case 'queries': return scopeOfRows(request, body)
    case '_bulk_get': return layersOfIds(body.docs.map(({ id }) => id))
    case '_changes': return {}
    default: return null
  }
}

/** The layer that a document id belongs to. */
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

/** @returns {{layers: Set<string>} | null} */
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
 * @property {(args: Record<string, any>) => Scope} all for requests without keys or a range
 */

/** Ids in the order of their bytes. @type {Index} */
const primaryIndex = {
  keys: layersOfIds,
  range (start, end) {
    if (typeof start !== 'string' || typeof end !== 'string') return null
    // all ids between two ids with the same beginning have this beginning
    const [low, high] = [start, end].map(text => START.exec(text))
    if (low && high && low[1] === high[1] && low[2] === high[2] && isLayer(low[2]) && !RESERVED.has(low[2])) {
      const hasTime = /^(edition|style|manifest)$/.test(low[1])
      // `block:3:` begins the ids of blocks of the layer 3, and of tiles of a layer that is called block
      const layers = /^\d+$/.test(low[2]) && low[1] ? [low[2], low[1]] : [low[2]]
      if ([low[3], high[3]].every(sign => (sign === '@') === hasTime)) return { layers: new Set(layers) }
    }
    // layer documents of all layers: these are few, and short
    return [start, end].every(text => /^layer[:;]/.test(text)) ? { layerOfRow: ({ id }) => layerOf(id) } : null
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
    return isByLayer ? { layerOfRow: ({ key }) => isKey(key) ? key[0] : undefined } : null
  }
}

const isKey = key => Array.isArray(key) && isLayer(key[0])

/** The layers that the rows are about: with several ranges, the layers of all ranges. @returns {Scope} */
function scopeOfRows (request, body) {
  const questions = questionsIn(request, body)
  const index = indexOf(request.names, questions)
  if (!index) return null
  if (request.endpoint !== 'queries') return scopeOfRange(index, questions[0])
  const layers = new Set()
  for (const question of questions) {
    const scope = scopeOfRange(index, question)
    if (!scope?.layers) return null
    for (const layer of scope.layers) layers.add(layer)
  }
  return { layers }
}

/** @returns {Index | undefined} */
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
