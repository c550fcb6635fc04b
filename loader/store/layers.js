// Reads and writes the documents of layers and editions. Writes merge fields, so two loads never undo each other's.
import { isDeepStrictEqual } from 'node:util'
import {
  checkLayer, checkNewLayer, checkSound, editionId, examine, faultIn, gridOf, isAdministrative, isSameGrid,
  layerDocument, layerId, layerRange, soundLayers, soundOf
} from '../../core/index.js'
import { layerRules } from '../../core/rules.js'
import { TilecouchError } from '../errors.js'
import { fieldsOf } from './revisions.js'

const FEW = 20 // documents a request, to look for a tile

/**
 * Creates a layer, or changes fields of an existing one.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {Record<string, any> | ((stored: Record<string, any>) => Record<string, any>)} [fields] null removes a field;
 *   a function gets the valid fields
 * @param {{isThere?: boolean}} [options] isThere: the layer is not created again if it was removed meanwhile
 */
export async function defineLayer (couch, layer, fields = {}, { isThere = false } = {}) {
  checkLayer(layer)
  const doc = await couch.update(layerId(layer), async stored => {
    if (!stored && isThere) throw new TilecouchError('LAYER_GONE', { layer })
    const changed = await changedLayer(couch, layer, stored, fields)
    return stored && isDeepStrictEqual({ ...changed, _rev: stored._rev }, stored) ? undefined : changed
  })
  return withoutType(doc)
}

/**
 * The document that defineLayer writes. It refuses the names, fields and grids that defineLayer refuses.
 * @param {import('./couch.js').Couch | undefined} couch undefined: there is no store yet
 * @param {string} layer
 * @param {Record<string, any> | null | undefined} stored the document before, if there is one
 * @param {Parameters<typeof defineLayer>[2]} fields
 */
export async function changedLayer (couch, layer, stored, fields) {
  if (!stored) checkNewLayer(layer)
  const { type, layer: _, ...before } = fieldsOf(stored ?? {})
  const valid = stored ? examine({ ...stored, type: 'layer', layer }).valid : {}
  const entries = Object.entries({ ...before, ...(typeof fields === 'function' ? fields(valid) : fields) })
  // fields of a later tilecouch stay as they are
  const isOfLater = ([field, value]) => !Object.hasOwn(layerRules, field) &&
    Object.hasOwn(before, field) && isDeepStrictEqual(value, before[field])
  const changedFields = Object.fromEntries(entries.filter(entry => !isOfLater(entry)))
  const changed = checkSound({
    ...Object.fromEntries(entries.filter(isOfLater)), ...layerDocument(layer, changedFields)
  })
  const mayHaveTiles = couch && !isSameGrid(valid, changed)
  if (mayHaveTiles && !await isEmptyLayer(couch, layer)) throw otherGrid(layer, valid, changed)
  return changed
}

/** Whether a layer has no tiles. @param {import('./couch.js').Couch} couch @param {string} layer */
export async function isEmptyLayer (couch, layer) {
  for await (const rows of couch.pages(layerRange(layer), { page: FEW })) {
    if (!rows.every(({ id }) => isAdministrative(id))) return false
  }
  return true
}

const otherGrid = (layer, stored, changed) => new TilecouchError('OTHER_GRID', {
  what: `the layer ${layer}`, grid: gridOf(stored).id, other: 'what is given', otherGrid: gridOf(changed).id
})

/**
 * The grid of a layer; Web Mercator if its document is missing or names no grid.
 * @returns {Promise<import('../../core/grids/grid.js').Grid>}
 */
export async function layerGrid (couch, layer) {
  const doc = await couch.get(layerId(checkLayer(layer)))
  return gridOf(doc)
}

/** @returns {any} */
const withoutType = ({ type, ...fields }) => fieldsOf(fields)

/** The layers whose documents are valid: see faultIn. */
export async function layers (couch) {
  const rows = await couch.page({ startkey: 'layer:', endkey: 'layer;', include_docs: true })
  return soundLayers(rows.map(({ doc }) => doc)).map(withoutType)
}

export async function getLayer (couch, layer) {
  const doc = await couch.get(layerId(checkLayer(layer)))
  if (!doc) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  return withoutType(checkSound(doc))
}

// without the fields that only the next load into this store needs: see loader/load/baseline.js
const describeEdition = (/** @type {any} */ { baseline, from, ...doc }) => withoutType(doc)

/** The editions of a layer, oldest first. */
export const editions = async (couch, layer) => (await editionDocuments(couch, layer)).map(describeEdition)

/** The valid editions of a layer, as they are stored. @returns {Promise<any[]>} */
export async function editionDocuments (couch, layer) {
  const start = editionId(checkLayer(layer), '')
  const rows = await couch.page({ startkey: start, endkey: `${start}~`, include_docs: true })
  return soundOf(rows.map(({ doc }) => doc), 'edition')
}

export async function getEdition (couch, layer, time) {
  const doc = await couch.get(editionId(layer, time))
  return doc && !faultIn(doc) ? describeEdition(doc) : undefined
}

/**
 * Writes or changes an edition.
 * @param {string} time exact
 * @param {Record<string, any>} fields
 */
export async function putEdition (couch, layer, time, fields) {
  checkLayer(layer)
  const doc = await couch.update(editionId(layer, time), stored => {
    const before = stored && !faultIn(stored) ? stored : {} // an edition that is not valid is written anew
    return { ...before, type: 'edition', layer, time, ...fields }
  })
  return describeEdition(doc)
}
