// Which layers a question to /db is about, read from the question alone. What cannot be told is about everything: a question
// that nobody thought of is then one for those who may see everything.
import { STORE_ID, isLayer, parseDocumentId } from '../../../core/index.js'

/** Views whose keys begin with the layer, and whose values name no other document. */
const VIEWS = new Set(['versions/by_tile', 'versions/by_time', 'sizes/by_zoom', 'sizes/by_area', 'sizes/rest_by_area', 'lifecycle/conflicts'])

/** The mark of the store, and the couchapp, which is no secret. */
const OPEN = new Set([STORE_ID, ...['tiles', 'versions', 'sizes', 'lifecycle'].map(name => `_design/${name}`)])

const RANGE = ['key', 'startkey', 'start_key', 'endkey', 'end_key', 'keys']
/** What a question about rows may say besides: none of it shows other rows. */
const REFINING = new Set([...RANGE, 'descending', 'inclusive_end', 'limit', 'skip', 'reduce', 'group', 'group_level', 'conflicts', 'update_seq', 'update', 'stable', 'stale', 'sorted'])
const WITH_DOCS = new Set([...REFINING, 'include_docs', 'attachments', 'att_encoding_info'])

/**
 * - `layers`: it is about these, or about nothing of any
 * - `layerOf`: the rows of its answer are to be looked at one by one
 * - `feed`: it is to be asked with a filter
 * - `null`: about everything
 * @typedef {{layers: Set<string>} | {layerOf: (row: any) => string | undefined} | {feed: true} | null} Scope
 */

/** About no layer. @type {Scope} */
const NONE = { layers: new Set() }

/**
 * @param {{names: string[], question: string}} reading names: segments of the path, decoded
 * @param {URLSearchParams} query
 * @param {any} body of a POST, parsed
 * @returns {Scope}
 */
export function scopeOf ({ names, question }, query, body) {
  switch (question) {
    case 'info': return NONE
    case 'document': case 'attachment': return about([names[0] === '_design' ? `_design/${names[1]}` : names[0]])
    case '_all_docs': return rows(documents, query, body)
    case '_view': return VIEWS.has(viewOf(names)) ? rows(view, query, body) : null
    case 'queries': return queries(names, query, body)
    case '_bulk_get': return about(body.docs.map(({ id }) => id))
    case '_revs_diff': return about(Object.keys(body))
    case '_changes': return { feed: true }
    default: return null
  }
}

/** @param {string[]} names */
const viewOf = ([, design, , name]) => `${design}/${name}`

/** The layer whose tile, edition or document this is. @param {unknown} id */
export function layerOf (id) {
  if (typeof id !== 'string') return undefined
  const document = parseDocumentId(id)
  if (document) return document.layer
  const [name] = id.split(':', 1)
  return name.length < id.length && isLayer(name) ? name : undefined
}

/** @param {unknown[]} ids @returns {Scope} */
export function about (ids) {
  const layers = new Set()
  for (const id of ids) {
    if (OPEN.has(/** @type {string} */ (id))) continue
    const layer = layerOf(id)
    if (layer === undefined) return null
    layers.add(layer)
  }
  return { layers }
}

/** @typedef {{may: Set<string>, keys: (keys: any[]) => Scope, range: (start: any, end: any) => Scope, whole: (args: Record<string, any>) => Scope}} Index */

/** The primary index: ids in the order of their bytes. @type {Index} */
const documents = {
  may: WITH_DOCS,
  keys: about,
  range (start, end) {
    if (typeof start !== 'string' || typeof end !== 'string') return null
    // everything between two texts that begin alike begins like them
    const [one, other] = [start, end].map(text => /^(?:(edition|manifest|block|removed):)?([^:;@]+)([:;@])/.exec(text))
    const isOne = one && other && one[1] === other[1] && one[2] === other[2] && isLayer(one[2]) && (/^(edition|manifest)$/.test(one[1]) ? one[3] === '@' && other[3] === '@' : one[3] !== '@' && other[3] !== '@')
    if (isOne) return { layers: new Set([one[2]]) }
    // of all layers: each has few of these, and they are short
    return [start, end].every(text => /^layer[:;]/.test(text)) ? { layerOf: ({ id }) => layerOf(id) } : null
  },
  whole: () => null
}

/** A view with the layer first in its keys. @type {Index} */
const view = {
  may: REFINING,
  keys: keys => keys.every(isKey) ? { layers: new Set(keys.map(([layer]) => layer)) } : null,
  range: (start, end) => isKey(start) && isKey(end) && start[0] === end[0] ? { layers: new Set([start[0]]) } : null,
  // sums by layer are few; the rows themselves are as many as tiles
  whole: ({ reduce, group, group_level: level }) => reduce !== false && (group === true || level >= 1) ? { layerOf: ({ key }) => isKey(key) ? key[0] : undefined } : null
}

const isKey = key => Array.isArray(key) && isLayer(key[0])

/** @param {Index} index @param {URLSearchParams} query @param {any} body @returns {Scope} */
function rows (index, query, body) {
  const asked = argumentsOf(query)
  const more = body ?? {}
  // which of two counts is not for us to guess
  if (!asked || Object.keys(more).some(name => Object.hasOwn(asked, name))) return null
  return oneOf(index, { ...asked, ...more })
}

/** @param {Index} index @param {Record<string, any>} args @returns {Scope} */
function oneOf (index, args) {
  if (Object.keys(args).some(name => !index.may.has(name))) return null
  if ((has(args, 'startkey') && has(args, 'start_key')) || (has(args, 'endkey') && has(args, 'end_key'))) return null
  const given = RANGE.filter(name => has(args, name))
  const { key, keys, startkey = args.start_key, endkey = args.end_key } = args
  if (given.length === 0) return index.whole(args)
  if (has(args, 'keys')) return given.length === 1 && Array.isArray(keys) ? index.keys(keys) : null
  if (has(args, 'key')) return given.length === 1 ? index.keys([key]) : null
  return given.length === 2 ? index.range(startkey, endkey) : null
}

const has = (args, name) => Object.hasOwn(args, name)

/** Several ranges at once: about whatever any of them is about. @returns {Scope} */
function queries (names, query, body) {
  const index = names[0] === '_all_docs' ? documents : VIEWS.has(viewOf(names)) ? view : null
  if (!index || query.size > 0 || Object.keys(body).join() !== 'queries') return null
  const layers = new Set()
  for (const args of body.queries) {
    const scope = oneOf(index, args)
    if (!scope || !('layers' in scope)) return null
    for (const layer of scope.layers) layers.add(layer)
  }
  return { layers }
}

/** Values of a query as a body would have them. @param {URLSearchParams} query @returns {Record<string, any> | null} */
function argumentsOf (query) {
  try {
    return Object.fromEntries([...query].map(([name, value]) => [name, JSON.parse(value)]))
  } catch {
    return query.has('stale') || query.has('update') ? argumentsOf(without(query, ['stale', 'update'])) : null
  }
}

function without (query, gone) {
  const rest = new URLSearchParams(query)
  for (const name of gone) rest.delete(name)
  return rest
}
