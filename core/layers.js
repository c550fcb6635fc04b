// Layer documents: TileJSON 3.0 fields, and what the store adds to them. layer-document.js checks more for writers.
import { formatReference } from './ids.js'
import { isValue, layerRules } from './rules.js'

/** As the sources of map styles call them. mlt is not among them: such tiles cannot be stored. */
export const encodings = ['terrarium', 'mapbox', 'mvt']

/** Whether a layer document may have this value in a field. @param {string} field @param {any} value */
export const isLayerField = (field, value) => Object.hasOwn(layerRules, field) && isValue(value, layerRules[field])

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
