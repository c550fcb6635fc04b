// Reads tiles and their past. One tile is read from the primary index, which is never behind; views of the map are read
// from the time index.
import {
  AFTER, checkLayer, checkTile, endOf, layerId, limitsId, parseArea, parseTileId, pastRange, tileId,
  timeline
} from '../../core/index.js'
import { Limits } from '../../core/store/limits.js'
import { TilecouchError } from '../errors.js'
import { checkedAt, timesLooked } from './coverage.js'
import { layerGrid } from './layers.js'
import { imageOf } from './tile.js'

export const BY_TILE = '_design/versions/_view/by_tile'
export const BY_TIME = '_design/versions/_view/by_time'

/**
 * @typedef {object} StoredVersion
 * @property {string} layer
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {string} time
 * @property {string} stored
 * @property {boolean} current
 * @property {boolean} gone
 * @property {string} [expires]
 * @property {Record<string, any>} [origin]
 * @property {string} [contested] the time it was loaded for, which another image has
 * @property {string} [checked] when it was last confirmed, after its own time: see readVersions
 * @property {string} [type] content type
 * @property {string} [digest]
 * @property {number} size bytes
 * @property {string} id
 * @property {string} rev
 * @property {Buffer} [bytes] if requested
 */

/** @returns {StoredVersion} */
export function storedVersionOf (doc) {
  const { _id, _rev, layer, z, x, y, time, stored, current, expires, origin, contested } = doc
  const attachment = imageOf(doc)
  return {
    id: _id,
    rev: _rev,
    layer,
    z,
    x,
    y,
    time,
    stored,
    current: Boolean(current),
    gone: !attachment,
    ...(expires && { expires }),
    ...(origin && { origin }),
    ...(contested && { contested }),
    ...(attachment && { type: attachment.content_type, digest: attachment.digest }),
    size: attachment?.length ?? 0
  }
}

export const withBytes = doc => {
  const bytes = imageOf(doc)?.data
  return { ...storedVersionOf(doc), ...(bytes && { bytes, size: bytes.length }) }
}

const checkedId = (layer, z, x, y) => {
  checkLayer(layer)
  checkTile(z, x, y)
  return tileId(layer, z, x, y)
}

/** The newest version of a tile, with its bytes. */
export async function readHead (couch, layer, z, x, y) {
  const id = checkedId(layer, z, x, y)
  const [row, limits] = await couch.docs([id, limitsId(layer)], { attachments: true })
  if (limits?.doc) await refuseUnkept(couch, limits.doc, layer, z, x, y)
  if (!row?.doc || row.doc.gone) throw new TilecouchError('TILE_NOT_FOUND', { id })
  return withBytes(row.doc)
}

/** Throws NOT_KEPT if it is not kept. @param {any} doc the limits of the layer @param {string} [time] exact */
async function refuseUnkept (couch, doc, layer, z, x, y, time) {
  const limits = new Limits(doc, await couch.get(layerId(layer)))
  if (!limits.isKept(z, x, y, time)) throw new TilecouchError('NOT_KEPT', { id: tileId(layer, z, x, y), time })
}

/** The version of a tile as of a time, with its bytes. A partial time is the end of its period. */
export async function readAt (couch, layer, z, x, y, time) {
  const id = checkedId(layer, z, x, y)
  const exactTime = endOf(time)
  const [[head, limits], [past]] = await couch.ranges([
    { keys: [id, limitsId(layer)], include_docs: true },
    { startkey: `${id}@${exactTime}`, endkey: `${id}@`, descending: true, limit: 1, include_docs: true }
  ], undefined, { isFrequent: true })
  const doc = head?.doc && head.doc.time <= exactTime ? head.doc : past?.doc
  // the head counts at any time from its own on, even if that time of the past is not kept
  const pastTime = doc && doc === head?.doc ? undefined : exactTime
  if (limits?.doc) await refuseUnkept(couch, limits.doc, layer, z, x, y, pastTime)
  if (!doc || doc.gone) throw new TilecouchError('TILE_NOT_FOUND', { id, time })
  const [row] = await couch.docs([doc._id], { attachments: true })
  // the head moved to the past between the two requests: read its copy there
  if (row?.doc?.time !== doc.time) return readAt(couch, layer, z, x, y, time)
  return withBytes(row.doc)
}

/**
 * Every version of one tile, oldest first, without bytes.
 * @param {import('../../core/store/statements.js').LayerStatements} statements of editions: they confirm versions that
 *   they found unchanged
 * @param {string} [time] later versions are left out; a partial time is the end of its period
 * @returns {Promise<StoredVersion[]>}
 */
export async function readVersions (couch, statements, layer, z, x, y, time) {
  const id = checkedId(layer, z, x, y)
  const until = time === undefined ? '~' : endOf(time)
  const [[heads, past], factsOf] = await Promise.all([
    couch.ranges([
      { keys: [id], include_docs: true },
      { ...pastRange(id), include_docs: true }
    ]),
    statements.readFacts([id], { isFresh: true })
  ])
  const docs = [...past, ...heads].filter(row => row.doc).map(row => row.doc)
  const versions = timeline(docs.map(storedVersionOf)).filter(version => version.time <= until)
  const checked = checkedAt(versions, docs, factsOf(id), until)
  const whenChecked = version => checked.has(version.time) && { checked: checked.get(version.time) }
  return versions.map(version => ({ ...version, ...whenChecked(version) }))
}

/**
 * The versions of every tile in a view of the map, in one request.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {{bbox: import('../../core/grid.js').Bbox, z: number, signal?: AbortSignal}} view
 * @returns {Promise<{z: number, x: number, y: number, time: string, current: boolean, rev: string, bytes: number,
 *   expires: string | null, gone: boolean}[]>}
 */
export async function readVersionsIn (couch, layer, { bbox, z, signal }) {
  checkLayer(layer)
  const area = parseArea({ bbox, grid: await layerGrid(couch, layer) })
  const queries = Array.from(area.columns(z), ({ x, y0, y1 }) => (
    { startkey: [layer, z, x, y0], endkey: [layer, z, x, y1, {}], reduce: false }
  ))
  const columns = await couch.queries(BY_TILE, queries, signal)
  return columns.flatMap(rows => rows.map(({ id, key, value }) => {
    return { z, x: key[2], y: key[3], time: key[4], current: parseTileId(id).time === undefined, ...value }
  }))
}

/**
 * The times at which any tile changed and, with 0 tiles, those of editions that found nothing new. Oldest first.
 * @param {import('./couch.js').Couch} couch
 * @param {import('../../core/store/statements.js').LayerStatements} statements
 * @param {{bbox?: import('../../core/grid.js').Bbox, z?: number}} [view] a box needs a zoom
 * @returns {Promise<{time: string, tiles: number, bytes: number}[]>}
 */
export async function readTimesLooked (couch, statements, view = {}) {
  const times = await readTimes(couch, statements.layer, view)
  const quietTimes = await timesLooked(statements, view, new Set(times.map(({ time }) => time)))
  return [...times, ...quietTimes.map(time => ({ time, tiles: 0, bytes: 0 }))].sort((a, b) => a.time < b.time ? -1 : 1)
}

/**
 * The number of versions of each time and zoom.
 * @param {string} [until] the last time
 * @returns {Promise<{time: string, z: number, versions: number}[]>}
 */
export async function readTimesByZoom (couch, layer, until = AFTER) {
  const rows = await couch.view(BY_TIME, { startkey: [layer], endkey: [layer, until, {}], group_level: 3 })
  return rows.map(({ key: [, time, z], value }) => ({ time, z, versions: value.count }))
}

/**
 * The times at which any tile changed, oldest first: in a view of the map, or in the whole layer.
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {{bbox?: import('../../core/grid.js').Bbox, z?: number}} [view] a box needs a zoom
 * @returns {Promise<{time: string, tiles: number, bytes: number}[]>}
 */
export async function readTimes (couch, layer, { bbox, z } = {}) {
  checkLayer(layer)
  if (bbox && z === undefined) throw new TilecouchError('BAD_OPTION', { option: 'z', value: z })
  if (!bbox) {
    const level = z === undefined ? 2 : 3
    const rows = await couch.view(BY_TIME, { startkey: [layer], endkey: [layer, AFTER], group_level: level })
    return rows.filter(({ key }) => z === undefined || key[2] === z)
      .map(({ key, value }) => ({ time: key[1], tiles: value.count, bytes: value.sum }))
  }
  const versions = await readVersionsIn(couch, layer, { bbox, z: /** @type {number} */ (z) })
  const times = new Map()
  for (const { time, bytes } of versions) {
    const entry = times.get(time) ?? { time, tiles: 0, bytes: 0 }
    entry.tiles++
    entry.bytes += bytes
    times.set(time, entry)
  }
  return [...times.values()].sort((a, b) => a.time < b.time ? -1 : 1)
}
