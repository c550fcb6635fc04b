// Reads the request for an area into plain values that can be stored, and checks that the layer permits offline use.
import { TilecouchError, checkLayer, parseArea, parseBbox, parseZooms, startOf } from '../../core/index.js'
import { gridOf } from '../../core/grids/index.js'
import { forbiddingHost } from '../../core/layer-document.js'
import { Selection } from '../../core/mirror/index.js'

/**
 * @typedef {object} AreaSpec
 * @property {string} layer
 * @property {import('../../core/grid.js').Bbox} [bbox]
 * @property {object} [polygon] GeoJSON
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {string | object} [grid] of the layer, unless it is Web Mercator
 * @property {boolean | {since: string}} history false: heads only; true: with the whole past
 */

const MAX_NAME = 200 // characters

/**
 * @param {any} request the argument of areas.add()
 * @param {{grid?: string | object}} [doc] of the layer
 * @returns {AreaSpec}
 */
export function readSpec ({ layer, bounds, bbox, polygon, zooms, history = false }, { grid } = {}) {
  checkLayer(layer)
  if (bounds !== undefined && bbox !== undefined) {
    throw new TilecouchError('BAD_AREA', { why: 'bounds and bbox are two ways to say the same' })
  }
  const box = bounds === undefined ? bbox : bboxOf(bounds)
  const area = parseArea({ bbox: box, polygon, grid: gridOf({ grid }) })
  return {
    layer,
    ...(grid !== undefined && { grid }),
    ...(polygon === undefined ? { bbox: area.bbox } : { polygon, ...(box !== undefined && { bbox: parseBbox(box) }) }),
    ...(zooms !== undefined && {
      zooms: parseZooms(Array.isArray(zooms) && zooms.length === 2 ? { min: zooms[0], max: zooms[1] } : zooms)
    }),
    history: readHistory(history)
  }
}

function readHistory (history) {
  if (typeof history === 'boolean') return history
  if (history?.since !== undefined) return { since: startOf(history.since) }
  throw new TilecouchError('BAD_OPTION', { option: 'history', value: history, why: 'false, true or {since: time}' })
}

/** @param {AreaSpec} spec */
export const selectionOf = ({ layer, bbox, polygon, grid, zooms, history }) => new Selection({
  layers: [layer],
  area: parseArea({ bbox, polygon, grid: gridOf({ grid }) }),
  zooms,
  current: !history,
  since: typeof history === 'object' ? history.since : undefined
})

export function readName (name) {
  const text = typeof name === 'string' ? name.trim() : ''
  if (text && text.length <= MAX_NAME) return text
  throw new TilecouchError('BAD_OPTION', { option: 'name', value: name, why: `1 to ${MAX_NAME} characters` })
}

/** @param {any} bounds Leaflet bounds, or two corners */
function bboxOf (bounds) {
  const [[south, west], [north, east]] = typeof bounds?.getWest === 'function'
    ? [[bounds.getSouth(), bounds.getWest()], [bounds.getNorth(), bounds.getEast()]]
    : cornersOf(bounds)
  const clamp = latitude => Math.max(-90, Math.min(90, latitude)) // a map view may extend beyond the poles
  const wrap = longitude => Math.abs(longitude) <= 180 ? longitude : ((longitude + 180) % 360 + 360) % 360 - 180
  const isWorld = east - west >= 360
  return [isWorld ? -180 : wrap(west), clamp(south), isWorld ? 180 : wrap(east), clamp(north)]
}

function cornersOf (bounds) {
  const corners =
    Array.isArray(bounds) ? bounds.map(corner => Array.isArray(corner) ? corner : [corner?.lat, corner?.lng]) : []
  if (corners.length !== 2 || !corners.flat().every(Number.isFinite)) {
    throw new TilecouchError('BAD_BBOX', { value: bounds, why: 'bounds are south-west and north-east, latitude first' })
  }
  const [[a, west], [b, east]] = corners
  return [[Math.min(a, b), west], [Math.max(a, b), east]]
}

/** @param {Record<string, any>} doc of a layer @param {boolean} [permission] the user has the provider's permission */
export function checkOffline (doc, permission = false) {
  if (permission) return
  const { layer } = doc
  if (doc.offline === false) throw new TilecouchError('OFFLINE_FORBIDDEN', { layer })
  const host = forbiddingHost(doc)
  if (host) throw new TilecouchError('OFFLINE_FORBIDDEN', { layer, host })
}
