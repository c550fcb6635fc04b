// Layers and editions: small documents, written by merging, so that two loads never undo each other's fields.
import { isDeepStrictEqual } from 'node:util'
import { TilecouchError, editionId, layerDocument, layerId, checkLayer, checkNewLayer } from '../../core/index.js'

const bookkeeping = ['_id', '_rev', 'type', 'layer']

/** A document without what only the database cares for. */
const fieldsOf = doc => Object.fromEntries(Object.entries(doc).filter(([field]) => !bookkeeping.includes(field)))

/**
 * Makes a layer, or changes fields of one that is there.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {Record<string, any> | ((stored: Record<string, any>) => Record<string, any>)} [fields] null removes a field
 */
export async function defineLayer (couch, layer, fields = {}) {
  checkLayer(layer)
  const doc = await couch.update(layerId(layer), stored => {
    if (!stored) checkNewLayer(layer)
    const before = stored ? fieldsOf(stored) : {}
    const changed = layerDocument(layer, { ...before, ...(typeof fields === 'function' ? fields(before) : fields) })
    return stored && isDeepStrictEqual({ ...changed, _rev: stored._rev }, stored) ? undefined : changed
  })
  return describe(doc)
}

const describe = ({ _id, _rev, type, ...fields }) => fields

/** @param {import('./couch.js').Couch} couch */
export async function layers (couch) {
  const { rows } = await couch.request({ path: '_all_docs', qs: { startkey: 'layer:', endkey: 'layer;', include_docs: true } })
  return rows.map(row => describe(row.doc))
}

/** @param {import('./couch.js').Couch} couch @param {string} layer */
export async function getLayer (couch, layer) {
  const doc = await couch.get(layerId(checkLayer(layer)))
  if (!doc) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  return describe(doc)
}

// what only the next load of this very store cares for: see loader/load/others.js
const describeEdition = (/** @type {any} */ { baseline, from, ...doc }) => describe(doc)

/**
 * The editions of a layer, oldest first.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 */
export const editions = async (couch, layer) => (await editionDocuments(couch, layer)).map(describeEdition)

/** The same as they are stored. @param {import('./couch.js').Couch} couch @param {string} layer @returns {Promise<any[]>} */
export async function editionDocuments (couch, layer) {
  const start = editionId(checkLayer(layer), '')
  const { rows } = await couch.request({ path: '_all_docs', qs: { startkey: start, endkey: `${start}~`, include_docs: true } })
  return rows.map(({ doc }) => doc)
}

/** @param {import('./couch.js').Couch} couch */
export async function getEdition (couch, layer, time) {
  const doc = await couch.get(editionId(layer, time))
  return doc && describeEdition(doc)
}

/**
 * Writes or changes an edition.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {string} time exact
 * @param {Record<string, any> | ((stored: Record<string, any>) => Record<string, any>)} fields
 */
export async function putEdition (couch, layer, time, fields) {
  checkLayer(layer)
  const doc = await couch.update(editionId(layer, time), stored => (
    { ...stored, type: 'edition', layer, time, ...(typeof fields === 'function' ? fields(stored ?? {}) : fields) }
  ))
  return describeEdition(doc)
}
