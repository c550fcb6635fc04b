// Every document of a layer's tiles, or of a part of it, in the order of their ids, page by page: the primary index is
// never behind, and needs no view.
import { checkLayer, layerRange } from '../../../core/index.js'

export const walkDefaults = {
  page: 500, // documents a request
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
  for (const range of rangesOf(layer, area, zooms)) yield * walkRange(couch, range, signal)
}

/** Ranges of ids that hold every tile of the part, ascending. */
function * rangesOf (layer, area, zooms) {
  if (!area && !zooms) {
    yield layerRange(layer)
    return
  }
  const { min, max } = zooms ?? { min: 0, max: 30 }
  const levels = Array.from({ length: max - min + 1 }, (_, index) => min + index)
  for (const z of levels) {
    const prefixes = area ? columnsOf(area, z)?.map(x => `${layer}:${z}:${x}:`) : undefined
    for (const prefix of prefixes ?? [`${layer}:${z}:`]) yield { startkey: prefix, endkey: `${prefix.slice(0, -1)};` }
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

async function * walkRange (couch, { startkey, endkey }, signal) {
  const ask = start => couch.request({
    path: '_all_docs', qs: { startkey: start, endkey, limit: walkDefaults.page, include_docs: true, conflicts: true }, signal
  })
  let asked = ask(startkey)
  try {
    for (;;) {
      const { rows } = await asked
      const isLast = rows.length < walkDefaults.page
      // the next page is on its way while this one is looked at
      asked = isLast ? Promise.resolve({ rows: [] }) : ask(rows.at(-1).id + '\u0000')
      asked.catch(() => {}) // met when it is waited for
      const docs = rows.map(row => row.doc).filter(Boolean)
      if (docs.length) yield docs
      if (isLast) return
    }
  } finally {
    await asked.catch(() => {})
  }
}
