// MBTiles metadata, in a table or in a metadata.json, as fields of a layer. What is not valid there is left out: it
// describes the tiles, it is not the tiles.
import { isExactTime, layerFields, parseBbox } from '../../core/index.js'

const extensions = { jpeg: 'jpg', mvt: 'pbf' }

/**
 * @param {Record<string, any>} metadata
 * @returns {Record<string, any>}
 */
export function layerFieldsOf (metadata) {
  const { name, description, attribution, legend, version, format, minzoom, maxzoom, bounds, center, json, tileSize } = metadata
  const candidates = {
    name,
    description,
    attribution,
    legend,
    version: version === undefined ? undefined : String(version),
    format: extensions[format] ?? format,
    minzoom: number(minzoom),
    maxzoom: number(maxzoom),
    bounds: attempt(() => parseBbox(bounds)),
    center: typeof center === 'string' ? center.split(',').map(Number) : center,
    tileSize: number(tileSize), // nobody else's, but our own exports say it
    vector_layers: metadata.vector_layers ?? attempt(() => JSON.parse(json).vector_layers)
  }
  return Object.fromEntries(Object.entries(candidates).filter(([field, value]) => value !== undefined && value !== null && layerFields[field](value)))
}

/** Where an export of ours says when the map looked like this. */
export const TIME_KEY = 'tilecouch:time'

/**
 * The time that metadata says, if it is one.
 * @param {Record<string, any>} metadata
 * @returns {string | undefined} exact
 */
export const timeOf = ({ [TIME_KEY]: time }) => isExactTime(time) ? time : undefined

const number = value => value === undefined || value === '' ? undefined : Number(value)

function attempt (read) {
  try {
    return read()
  } catch {
    return undefined
  }
}
