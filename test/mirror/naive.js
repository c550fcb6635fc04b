// Computes which documents a mirror of a part must hold, from the fields of every document of the source. It is slow
// and simple. The tests of partial mirrors compare real mirrors with it.
import { compareIds } from '../../core/ids.js'
import { asOf, tileBounds } from '../../core/index.js'

/**
 * @param {any[]} docs all documents of a store, without deleted ones
 * @param {{layers?: string[], bbox?: number[], polygon?: import('../../core/area.js').Area, zooms?: {min: number, max:
 *   number}, current?: boolean, since?: string}} selection
 * @returns {Set<string>} ids
 */
export function belonging (docs, { layers, bbox, polygon, zooms, current, since }) {
  const tiles = tilesOf(docs)
  const touches = ({ z, x, y }) => (!bbox || overlap(bbox, tileBounds(z, x, y))) && (!polygon || polygon.has(z, x, y))
  const isOld = doc => {
    if (since === undefined || doc.current || doc.time >= since) return false
    const inForce = asOf(/** @type {any[]} */ (tiles.get(nameOf(doc))), since)
    return doc.time < inForce.time
  }
  const selects = doc => {
    if (doc.type === 'store') return true
    if (!['layer', 'edition', 'style', 'tile'].includes(doc.type) || (layers && !layers.includes(doc.layer))) {
      return false
    }
    if (doc.type !== 'tile') return true
    if (zooms && (doc.z < zooms.min || doc.z > zooms.max)) return false
    return touches(doc) && !(current && !doc.current) && !isOld(doc)
  }
  return new Set(docs.filter(selects).map(({ _id: id }) => id))
}

const nameOf = ({ layer, z, x, y }) => [layer, z, x, y].join()

const overlap = ([west, south, east, north], [w, s, e, n]) => west < e && w < east && south < n && s < north

/** The versions of each tile, sorted by time. */
export function tilesOf (docs) {
  const tiles = new Map()
  for (const doc of docs) {
    if (doc.type !== 'tile') continue
    const versions = tiles.get(nameOf(doc)) ?? []
    tiles.set(nameOf(doc), [...versions, doc].sort((a, b) => compareIds(a.time, b.time)))
  }
  return tiles
}

/** The digests that a tile shows at the given times, as text. */
export const shownAt =
  (versions, times) => times.map(time => asOf(versions, time)?._attachments?.tile.digest ?? 'nothing').join(' ')
