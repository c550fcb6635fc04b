// Layer documents: TileJSON 3.0 fields, and what the store adds to them. layer-document.js checks more for writers.
import { MAX_ZOOM } from './grid.js'
import { formats } from './formats.js'
import { formatReference, isLayer } from './ids.js'
import { isRun } from './runs.js'
import { isExactTime } from './times.js'
import { flag, listOf, object, text, whole } from './values.js'

const LONG = 100_000 // characters of a text, which may hold the image of a legend
const LONGEST = 1000 * 365 * 86400 // seconds a tile may live

const zoom = whole(0, MAX_ZOOM)
const numbers = (value, count) => Array.isArray(value) && value.length === count && value.every(Number.isFinite)
const isPlace = (lon, lat) => Math.abs(lon) <= 180 && Math.abs(lat) <= 90
const isBounds = value =>
  numbers(value, 4) && isPlace(value[0], value[1]) && isPlace(value[2], value[3]) && value[1] <= value[3]
const isCenter = value => numbers(value, 3) && isPlace(value[0], value[1]) && value[2] >= 0 && value[2] <= MAX_ZOOM

const SPANS = 2000 // of dropped times
const isSpan = value => Array.isArray(value) && value.length === 3 &&
  isExactTime(value[0]) && isExactTime(value[1]) && isRun(value[2])

const SAME = /^(features|pixels(:\d{1,2})?)$/ // N: in which the channels of a pixel may differ

/** As the sources of map styles call them. mlt is not among them: such tiles cannot be stored. */
export const encodings = ['terrarium', 'mapbox', 'mvt']

/** Field -> what its value must be, for who writes and for who reads: see faultIn in documents.js. */
export const layerFields = {
  // TileJSON 3.0
  name: text(1000),
  description: text(LONG),
  attribution: text(LONG),
  legend: text(LONG),
  version: text(1000),
  minzoom: zoom,
  maxzoom: zoom,
  fillzoom: zoom,
  bounds: isBounds, // west, south, east, north in degrees
  center: isCenter, // longitude, latitude, zoom
  vector_layers: value => listOf(object)(value) && value.length <= 1000,
  encoding: value => encodings.includes(value), // of heights in the pixels of terrain, or of features
  // the store's
  format: value => Object.values(formats).some(({ ext }) => ext === value), // extension of its tiles' type
  tileSize: whole(64, 4096), // pixels
  grid: value => (typeof value === 'string' && value.length <= 100) || object(value), // tile matrix set: see grids/
  ttl: whole(1, LONGEST), // seconds until a tile expires, counted from when it was stored
  upstream: object, // where missing tiles come from
  retina: isLayer, // the layer that has the same tiles with twice the pixels, for @2x
  group: text(200), // heading under which lists show it
  order: whole(0, 1_000_000), // place among the layers of its group: the smallest first, then those without one
  offline: flag, // false: its terms forbid taking areas of it along on a device
  retention: object, // which moments of its past are kept
  same: value => typeof value === 'string' && SAME.test(value), // which tiles of a load are no change, beside equal bytes
  // times that a prune dropped, each from its first to the next that is kept: see store/limits.js
  dropped: value => listOf(isSpan)(value) && value.length <= SPANS,
  pruned: isExactTime, // when versions were last taken out of its past, to the day
  renaming: isLayer // which layer it is taking over: the name of that one, until it is done
}

/** In TileJSON and metadata whose name ends in a time: the name without it. */
export const PLAIN_NAME = 'tilecouch:name'

/**
 * What a layer is called at a time: `Town, 2023`, so that two of its times do not have the same name.
 * @param {string} name @param {string} [time] as written; a midnight or the end of a day is the day
 */
export const nameAt = (name, time) => time ? `${name}, ${time.replace(/T(00:00:00|23:59:59)Z?$/, '')}` : name

/** The name without the time that nameAt added. @param {Record<string, any>} json TileJSON or metadata */
export function plainNameOf ({ name, [PLAIN_NAME]: plain }) {
  const isAdded = typeof plain === 'string' && typeof name === 'string' && name.startsWith(`${plain}, `)
  return isAdded ? plain : name
}

/**
 * TileJSON 3.0 of a layer. `tiles` is relative to the document unless a base is given, so that it holds behind any
 * proxy path. A layer in another grid than Web Mercator has none.
 * @param {Record<string, any>} doc a layer document
 * @param {{time?: string, base?: string}} [options]
 */
export function tileJson (doc, { time, base = '' } = {}) {
  const {
    _id, _rev, _revisions, type, layer, upstream, retention, same, dropped, pruned, renaming, retina, ttl, tilejson,
    format = 'png', ...fields
  } = doc
  // programs that read TileJSON take every address for one in Web Mercator
  const isWebMercator = [undefined, 'WebMercatorQuad'].includes(fields.grid)
  return {
    tilejson: '3.0.0',
    name: layer,
    ...fields,
    ...(time && { name: nameAt(doc.name ?? layer, time), [PLAIN_NAME]: doc.name ?? layer }),
    scheme: 'xyz',
    ...(isWebMercator && { tiles: [`${base}${formatReference(layer, time)}/{z}/{x}/{y}.${format}`] }),
    format,
    ...(time && { time })
  }
}
