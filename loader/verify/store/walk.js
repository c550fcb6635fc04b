// Every document of a layer's tiles, or of a part of it, in the order of their ids, page by page: the primary index is
// never behind, and needs no view.
import { MAX_ZOOM, checkLayer, layerRange } from '../../../core/index.js'

export const walkDefaults = {
  page: 500, // documents a request
  probes: 100, // ranges looked into with one request
  columns: 2000 // columns of one zoom that are asked for one by one; an area of more is picked out of the whole zoom
}

/** @typedef {{area?: import('../../../core/area.js').Area, zooms?: import('../../../core/grid.js').Zooms}} Part */

/**
 * @param {import('../../store/couch.js').Couch} couch
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
