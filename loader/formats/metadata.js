// The metadata of MBTiles: names and texts that describe the tiles. Other formats have the same in a metadata.json, as
// mbutil writes and reads it. Reading leaves out what is not valid: it describes the tiles, it is not the tiles.
import { PLAIN_NAME, isExactTime, layerFields, nameAt, parseBbox, plainNameOf } from '../../core/index.js'
import { extensionOf } from './names.js'

/** The file beside the tiles of a folder, zip or tar. */
export const METADATA = 'metadata.json'

/** What some programs write instead. */
export const TILEJSON = 'tilejson.json'

/** What gdal2tiles and other writers of TMS leave there. */
export const TILEMAP = 'tilemapresource.xml'

/** Where an export of ours says when the map looked like this. */
export const TIME_KEY = 'tilecouch:time'

// the names MBTiles has for formats; it wants media types for others
const names = { png: 'png', jpg: 'jpg', webp: 'webp', pbf: 'pbf', avif: 'image/avif' }

const MIDDLE = 2 // zooms beyond the one at which the bounds fill one tile: where a map of them may begin

/** @param {string | Buffer} text JSON of others @returns {Record<string, any>} empty when it is no object */
export function parseObject (text) {
  return Object(attempt(() => JSON.parse(String(text))))
}

/** @param {Record<string, any>} metadata @returns {Record<string, any>} */
export function layerFieldsOf (metadata) {
  const { description, attribution, legend, version, format, encoding } = metadata
  const { minzoom, maxzoom, bounds, center } = metadata
  const candidates = {
    name: plainNameOf(metadata),
    description,
    attribution,
    legend,
    version: version === undefined ? undefined : String(version),
    encoding,
    format: extensionOf(format) ?? format,
    minzoom: number(minzoom),
    maxzoom: number(maxzoom),
    bounds: attempt(() => parseBbox(bounds)),
    center: typeof center === 'string' ? center.split(',').map(Number) : center,
    tileSize: number(metadata.tileSize), // only our own exports have it
    vector_layers: metadata.vector_layers ?? attempt(() => JSON.parse(metadata.json).vector_layers)
  }
  const isValid = ([field, value]) => value !== undefined && value !== null && layerFields[field](value)
  return Object.fromEntries(Object.entries(candidates).filter(isValid))
}

/**
 * What a tilemapresource.xml says of the tiles beside it.
 * @param {string} xml
 * @returns {{bounds?: import('../../core/grid.js').Bbox, profile?: string}} profile: where it is not Web Mercator
 */
export function readTileMap (xml) {
  const [box = ''] = /<BoundingBox\b[^<>]*>/.exec(xml) ?? []
  const side = name => Number(new RegExp(`\\b${name}="([^"]*)"`).exec(box)?.[1] ?? NaN)
  const [, profile = ''] = /<TileSets\b[^<>]*\bprofile="([^"]*)"/.exec(xml) ?? []
  return {
    bounds: attempt(() => parseBbox(['minx', 'miny', 'maxx', 'maxy'].map(side))),
    ...(/geodetic$|^raster$/.test(profile) && { profile })
  }
}

/** The time in metadata, if it is valid. @param {Record<string, any>} metadata @returns {string | undefined} exact */
export const timeOf = ({ [TIME_KEY]: time }) => isExactTime(time) ? time : undefined

const number = value => value === undefined || value === '' ? undefined : Number(value)

function attempt (read) {
  try {
    return read()
  } catch {
    return undefined
  }
}

/**
 * @param {Record<string, any>} doc the layer document
 * @param {import('../export/target.js').Facts} facts
 * @param {Partial<import('../export/target.js').TargetOptions> & {layer: string}} options
 * @returns {Record<string, string | null>}
 */
export function metadataOf (doc, facts, { layer, time, named, area, scheme, metadata }) {
  // the document's bounds are of the whole layer, and more exact than tiles when an operator gave them
  const bounds = area ? facts.bounds : doc.bounds ?? facts.bounds
  // of tiles that were there from a run before the type is not known
  const format = (facts.areTypesKnown ? facts.format : doc.format) ?? doc.format ?? facts.format
  const values = {
    name: nameAt(doc.name ?? layer, named),
    [PLAIN_NAME]: named && (doc.name ?? layer),
    format: format && names[format],
    bounds: bounds?.join(','),
    center: bounds && centerOf(doc.center, bounds, facts).join(','),
    minzoom: facts.minzoom,
    maxzoom: facts.maxzoom,
    type: 'baselayer',
    attribution: doc.attribution,
    description: doc.description,
    version: doc.version,
    legend: doc.legend,
    encoding: doc.encoding,
    json: format === 'pbf' ? JSON.stringify({ vector_layers: doc.vector_layers ?? [] }) : undefined,
    tileSize: doc.tileSize,
    [TIME_KEY]: time ?? facts.last,
    scheme: scheme === 'tms' ? scheme : undefined, // rows from the north are the rule
    ...metadata
  }
  const text = value => value === null ? null : String(value)
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, text(value)]))
}

/**
 * The same as a metadata.json. Zooms are numbers there: the Python package of PMTiles compares them.
 * @param {Parameters<typeof metadataOf>} about
 */
export function metadataJson (...about) {
  const { minzoom, maxzoom, ...texts } = metadataOf(...about)
  return JSON.stringify({ ...texts, ...(minzoom && { minzoom: +minzoom }), ...(maxzoom && { maxzoom: +maxzoom }) }, null, 2) + '\n'
}

function centerOf (center, [west, south, east, north], { minzoom = 0, maxzoom = 0 }) {
  const [lon, lat, zoom] = center ?? []
  const isInside = lon >= west && lon <= east && lat >= south && lat <= north && zoom >= minzoom && zoom <= maxzoom
  if (isInside) return center
  const fits = Math.floor(Math.log2(360 / Math.max(east - west, 1e-6)))
  return [(west + east) / 2, (south + north) / 2, Math.min(Math.max(fits + MIDDLE, minzoom), maxzoom)]
}
