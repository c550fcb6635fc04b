// What a database is made of, in the order of its ids: ranges of layers, which are looked at by themselves, and what lies
// between them. A layer is skipped over in one request, however many tiles it has.
import { STORE_ID, isLayer, layerRange, parseDocumentId } from '../../core/index.js'

export const sectionDefaults = {
  page: 500 // ids a request
}

/**
 * @typedef {object} Between documents that are no tiles, by their kind
 * @property {string[]} layers names of layer documents
 * @property {{id: string, layer: string}[]} editions
 * @property {string[]} designs ids
 * @property {string[]} foreign ids
 */

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<{layer: string} | Between>} layers that have anything in their range, and pages of what lies between
 */
export async function * sections (couch, signal) {
  for (let startkey = ''; ;) {
    const rows = await couch.page({ startkey, limit: sectionDefaults.page }, signal)
    const at = rows.findIndex(({ id }) => layerOf(id) !== undefined)
    const between = at < 0 ? rows : rows.slice(0, at)
    if (between.length) yield sort(between.map(({ id }) => id))
    if (at < 0 && rows.length < sectionDefaults.page) return
    if (at < 0) startkey = rows[rows.length - 1].id + '\u0000'
    else {
      const layer = /** @type {string} */ (layerOf(rows[at].id))
      yield { layer }
      startkey = layerRange(layer).endkey
    }
  }
}

/** The layer in whose range of ids a document lies. @param {string} id */
function layerOf (id) {
  if (parseDocumentId(id)) return undefined
  const name = id.slice(0, Math.max(0, id.indexOf(':')))
  return isLayer(name) ? name : undefined
}

/** @param {string[]} ids @returns {Between} */
function sort (ids) {
  /** @type {Between} */
  const found = { layers: [], editions: [], designs: [], foreign: [] }
  for (const id of ids) {
    const { kind, layer = '' } = parseDocumentId(id) ?? {}
    if (id.startsWith('_design/')) found.designs.push(id)
    else if (id === STORE_ID) continue
    else if (kind === 'layer') found.layers.push(layer)
    else if (kind === 'edition') found.editions.push({ id, layer })
    else if (!kind) found.foreign.push(id)
  }
  return found
}
