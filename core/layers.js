// Reads layer documents: TileJSON 3.0 fields and the fields of the store. layer-document.js has more checks for
// writers.
import { isInWebMercator } from './grid.js'
import { formatReference } from './ids.js'
import { isValue, layerRules } from './rules.js'

/** The encodings of tiles, by their names in map styles. Tiles in mlt cannot be stored. */
export const encodings = ['terrarium', 'mapbox', 'mvt']

/** Whether a layer document may have this value in a field. @param {string} field @param {any} value */
export const isLayerField = (field, value) => Object.hasOwn(layerRules, field) && isValue(value, layerRules[field])

/** The field of TileJSON and metadata with the name of a layer as it was before nameAt() added a time. */
export const PLAIN_NAME = 'tilecouch:name'

/**
 * The name of a layer at a time: `Town, 2023`, so that two of its times do not have the same name.
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
  return {
    tilejson: '3.0.0',
    name: layer,
    ...fields,
    ...(time && { name: nameAt(doc.name ?? layer, time), [PLAIN_NAME]: doc.name ?? layer }),
    scheme: 'xyz',
    // programs that read TileJSON take every address for one in Web Mercator
    ...(isInWebMercator(doc) && { tiles: [`${base}${formatReference(layer, time)}/{z}/{x}/{y}.${format}`] }),
    format,
    ...(time && { time })
  }
}
