// Walks over documents in the order of their ids, page by page: those of a layer or a part of it, and those of a whole
// database. Uses the primary index, which is never behind and needs no view.
import { chunks } from '../../core/lists.js'
import {
  MAX_ZOOM, STORE_ID, checkLayer, isAdministrative, isLayer, layerRange, parseDocumentId
} from '../../core/index.js'

export const walkDefaults = {
  page: 500, // documents a request
  probes: 100, // ranges looked into with one request
  columns: 2000 // columns of one zoom that are read one by one; for a larger area the whole zoom is read
}

/**
 * Reads the documents of a layer's tiles, with _conflicts.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {object} [options]
 * @param {import('../../core/area.js').Area} [options.area]
 * @param {import('../../core/grid.js').Zooms} [options.zooms]
 * @param {AbortSignal} [options.signal]
 * @returns {AsyncGenerator<any[]>}
 */
export async function * walkDocuments (couch, layer, { area, zooms, signal } = {}) {
  checkLayer(layer)
  for await (const range of rangesOf(couch, layer, area, zooms, signal)) yield * walkRange(couch, range, signal)
}

/** Yields the ranges of ids with all tiles of the part. Skips empty ranges. */
async function * rangesOf (couch, layer, area, zooms = { min: 0, max: MAX_ZOOM }, signal) {
  // a whole layer: also ids that are not those of tiles
  if (!area && zooms.min === 0 && zooms.max === MAX_ZOOM) return yield layerRange(layer)
  const levels = Array.from({ length: zooms.max - zooms.min + 1 }, (_, index) => zooms.min + index)
  const ranges = levels.map(level => ({ z: level, ...rangeBelow(`${layer}:${level}:`) }))
  for await (const { z, ...range } of nonEmptyRanges(couch, ranges, signal)) {
    const columns = area && columnsOf(area, z)
    if (!columns) yield range
    else yield * nonEmptyRanges(couch, columns.map(x => rangeBelow(`${layer}:${z}:${x}:`)), signal)
  }
}

const rangeBelow = prefix => ({ startkey: prefix, endkey: `${prefix.slice(0, -1)};` })

/** Yields the ranges that are not empty: an area has far more columns than a layer. */
async function * nonEmptyRanges (couch, ranges, signal) {
  for (const chunk of chunks(ranges, walkDefaults.probes)) {
    const answers = await couch.ranges(chunk.map(({ startkey, endkey }) => ({ startkey, endkey, limit: 1 })), signal)
    yield * chunk.filter((_, index) => answers[index].length)
  }
}

function columnsOf (area, z) {
  const columns = new Set()
  for (const { x } of area.columns(z)) {
    columns.add(x)
    if (columns.size > walkDefaults.columns) return undefined
  }
  return [...columns]
}

async function * walkRange (couch, range, signal) {
  const query = { ...range, include_docs: true, conflicts: true }
  for await (const rows of couch.pages(query, { page: walkDefaults.page, ahead: true, signal })) {
    const docs = rows.map(row => row.doc).filter(doc => doc && !isAdministrative(doc._id))
    if (docs.length) yield docs
  }
}

/**
 * @typedef {object} Between documents that are no tiles, by their kind
 * @property {string[]} layers names of layer documents
 * @property {{id: string, layer: string}[]} editions
 * @property {string[]} designs ids
 * @property {string[]} foreign ids
 */

/**
 * Yields the parts of a database in the order of ids: layers that have tiles, and pages of the documents between them.
 * Skips a layer in one request, however many tiles it has.
 * @param {import('../store/couch.js').Couch} couch
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<{layer: string} | Between>}
 */
export async function * sections (couch, signal) {
  const { page } = walkDefaults
  for (let startkey = ''; ;) {
    const rows = await couch.page({ startkey, limit: page }, signal)
    const layerIndex = rows.findIndex(({ id }) => layerOf(id) !== undefined)
    const rowsBefore = layerIndex < 0 ? rows : rows.slice(0, layerIndex)
    if (rowsBefore.length) yield groupByKind(rowsBefore.map(({ id }) => id))
    if (layerIndex < 0 && rows.length < page) return
    if (layerIndex < 0) startkey = rows[rows.length - 1].id + '\u0000'
    else {
      const layer = /** @type {string} */ (layerOf(rows[layerIndex].id))
      yield { layer }
      startkey = layerRange(layer).endkey
    }
  }
}

/** The layer in whose range of ids a document lies. @param {string} id */
function layerOf (id) {
  if (parseDocumentId(id) || isAdministrative(id)) return undefined
  const name = id.slice(0, Math.max(0, id.indexOf(':')))
  return isLayer(name) ? name : undefined
}

/** @param {string[]} ids @returns {Between} */
function groupByKind (ids) {
  /** @type {Between} */
  const idsByKind = { layers: [], editions: [], designs: [], foreign: [] }
  for (const id of ids) {
    const { kind, layer = '' } = parseDocumentId(id) ?? {}
    if (id === STORE_ID || isAdministrative(id)) continue
    if (id.startsWith('_design/')) idsByKind.designs.push(id)
    else if (kind === 'layer') idsByKind.layers.push(layer)
    else if (kind === 'edition') idsByKind.editions.push({ id, layer })
    else if (!kind) idsByKind.foreign.push(id)
  }
  return idsByKind
}
