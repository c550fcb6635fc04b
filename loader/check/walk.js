// Every document of a layer's tiles, or of a part of it, in the order of their ids, page by page: the primary index is
// never behind, and needs no view.
import { MAX_ZOOM, checkLayer, layerRange, STORE_ID, isLayer, parseDocumentId } from '../../core/index.js'

export const walkDefaults = {
  page: 500, // documents a request
  probes: 100, // ranges looked into with one request
  columns: 2000 // columns of one zoom that are asked for one by one; an area of more is picked out of the whole zoom
}

/** @typedef {{area?: import('../../core/area.js').Area, zooms?: import('../../core/grid.js').Zooms}} Part */

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {Part & {signal?: AbortSignal}} [options]
 * @returns {AsyncGenerator<any[]>} documents, with _conflicts where there are any
 */
export async function * walkDocuments (couch, layer, { area, zooms, signal } = {}) {
  checkLayer(layer)
  for await (const range of rangesOf(couch, layer, area, zooms, signal)) yield * walkRange(couch, range, signal)
}

/** Ranges of ids that hold every tile of the part, and something at all. */
async function * rangesOf (couch, layer, area, zooms = { min: 0, max: MAX_ZOOM }, signal) {
  if (!area && zooms.min === 0 && zooms.max === MAX_ZOOM) {
    yield layerRange(layer) // and what is no tile's id in it
    return
  }
  const levels = Array.from({ length: zooms.max - zooms.min + 1 }, (_, index) => zooms.min + index)
  for await (const { z, ...range } of filled(couch, levels.map(level => ({ z: level, ...below(`${layer}:${level}:`) })), signal)) {
    const columns = area && columnsOf(area, z)
    if (!columns) yield range
    else yield * filled(couch, columns.map(x => below(`${layer}:${z}:${x}:`)), signal)
  }
}

const below = prefix => ({ startkey: prefix, endkey: `${prefix.slice(0, -1)};` })

/** Those of many ranges in which there is anything: an area has far more columns than a layer. */
async function * filled (couch, ranges, signal) {
  for (let at = 0; at < ranges.length; at += walkDefaults.probes) {
    const probed = ranges.slice(at, at + walkDefaults.probes)
    const found = await couch.ranges(probed.map(({ startkey, endkey }) => ({ startkey, endkey, limit: 1 })), signal)
    yield * probed.filter((_, index) => found[index].length)
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
  for await (const rows of couch.pages({ ...range, include_docs: true, conflicts: true }, { page: walkDefaults.page, ahead: true, signal })) {
    const docs = rows.map(row => row.doc).filter(Boolean)
    if (docs.length) yield docs
  }
}

// What a database is made of, in the order of its ids: ranges of layers, which are looked at by themselves, and what lies
// between them. A layer is skipped over in one request, however many tiles it has.

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
