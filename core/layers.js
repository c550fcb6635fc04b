// Layer documents: TileJSON 3.0 fields, and what the store adds to them.
import { TilecouchError } from './errors.js'
import { MAX_ZOOM } from './grid.js'
import { formats } from './images.js'
import { layerId, checkLayer, formatReference, isLayer } from './ids.js'
import { checkRetention } from './retention.js'
import { isExactTime } from './times.js'
import { checkUpstream, hostOf } from './upstream.js'

const text = value => typeof value === 'string'
const zoom = value => Number.isInteger(value) && value >= 0 && value <= MAX_ZOOM
const numbers = count => value => Array.isArray(value) && value.length === count && value.every(Number.isFinite)
const object = value => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Field -> what its value must be. Anything else is not a layer's. */
export const layerFields = {
  // TileJSON 3.0
  name: text,
  description: text,
  attribution: text,
  legend: text,
  version: text,
  minzoom: zoom,
  maxzoom: zoom,
  fillzoom: zoom,
  bounds: numbers(4), // west, south, east, north in degrees
  center: numbers(3), // longitude, latitude, zoom
  vector_layers: value => Array.isArray(value) && value.every(object),
  // the store's
  format: value => Object.values(formats).some(({ ext }) => ext === value), // extension of its tiles' type
  tileSize: value => Number.isInteger(value) && value >= 64 && value <= 4096, // pixels
  ttl: value => Number.isInteger(value) && value > 0, // seconds until a tile expires, counted from when it was stored
  upstream: value => object(value) && Boolean(checkUpstream(value)), // where missing tiles come from; says itself which field is wrong
  offline: value => typeof value === 'boolean', // false: its terms forbid taking areas of it along on a device
  retention: value => object(value) && Boolean(checkRetention(value)), // which moments of its past are kept; says itself which rule is wrong
  pruned: isExactTime, // when versions were last taken out of its past, to the day
  renaming: isLayer // which layer it is taking over: the name of that one, until it is done
}

/**
 * @param {string} layer
 * @param {Record<string, any>} [fields]
 */
export function layerDocument (layer, fields = {}) {
  checkLayer(layer)
  const doc = /** @type {Record<string, any>} */ ({ _id: layerId(layer), type: 'layer', layer })
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue
    if (!Object.hasOwn(layerFields, field) || !layerFields[field](value)) throw new TilecouchError('BAD_LAYER_FIELD', { field, value })
    doc[field] = value
  }
  return doc
}

/**
 * The host whose terms say that its tiles are for looking at, a view at a time: not for fetching ahead, archives or areas
 * on a device. Nothing where nobody says so.
 * @param {Record<string, any>} doc a layer document
 */
export function forbiddingHost ({ upstream }) {
  if (!upstream) return undefined
  const { seed, url } = checkUpstream(upstream)
  return seed ? undefined : hostOf(url)
}

/**
 * TileJSON 3.0 of a layer. `tiles` is relative to the document unless a base is given, so that it holds behind any proxy path.
 * @param {Record<string, any>} doc a layer document
 * @param {{time?: string, base?: string}} [options]
 */
export function tileJson (doc, { time, base = '' } = {}) {
  const { _id, _rev, _revisions, type, layer, upstream, retention, pruned, renaming, ttl, format = 'png', ...fields } = doc
  return {
    tilejson: '3.0.0',
    name: layer,
    ...fields,
    scheme: 'xyz',
    tiles: [`${base}${formatReference(layer, time)}/{z}/{x}/{y}.${format}`],
    format,
    ...(time && { time })
  }
}
