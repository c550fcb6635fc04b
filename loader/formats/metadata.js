// The metadata of MBTiles: names and texts that describe the tiles. Other formats have the same in a metadata.json, as
// mbutil writes and reads it. Reading leaves out invalid values: the tiles do not depend on them.
import {
  PLAIN_NAME, eastOf, gridOf, isExactTime, isLayerField, nameAt, parseBbox, plainNameOf
} from '../../core/index.js'
import { attempt, jsonOf } from '../../core/values.js'
import { extensionOf } from './names.js'

/** The file beside the tiles of a folder. */
export const METADATA = 'metadata.json'

/** The file that some programs write instead. */
export const TILEJSON = 'tilejson.json'

/** The file that gdal2tiles and other writers of TMS leave there. */
export const TILEMAP = 'tilemapresource.xml'

/** The key under which our exports store the time of the map. */
const TIME_KEY = 'tilecouch:time'

// the names MBTiles has for formats; it wants media types for others
const formatNames = { png: 'png', jpg: 'jpg', webp: 'webp', pbf: 'pbf', avif: 'image/avif' }

const MIDDLE = 2 // zooms from the one at which the bounds fill one tile to the one at which a map may begin

/**
 * @param {string | Buffer} text JSON of another program @param {(why: string) => void} [onBad] called if it is invalid
 * @returns {Record<string, any>} empty when it is no object
 */
export function parseObject (text, onBad = () => {}) {
  try {
    const value = JSON.parse(String(text))
    if (Object(value) === value && !Array.isArray(value)) return value
    onBad('it is no JSON object')
  } catch (error) {
    onBad(error.message)
  }
  return {}
}

/**
 * @param {Record<string, any>} metadata
 * @param {(why: string) => void} [onBad] called for each value that is left out because it is not valid
 * @returns {Record<string, any>}
 */
export function layerFieldsOf (metadata, onBad = () => {}) {
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
    minzoom: numberOf(minzoom),
    maxzoom: numberOf(maxzoom),
    bounds: attempt(() => parseBbox(bounds)),
    center: typeof center === 'string' ? center.split(',').map(Number) : center,
    tileSize: numberOf(metadata.tileSize), // only our own exports have it
    grid: gridIn(metadata),
    vector_layers: metadata.vector_layers ?? attempt(() => JSON.parse(metadata.json).vector_layers)
  }
  const isMissing = value => value === undefined || value === null
  const isValid = field => !isMissing(candidates[field]) && isLayerField(field, candidates[field])
  const isStated = field => !isMissing(metadata[field]) && metadata[field] !== ''
  const invalidFields = Object.keys(candidates).filter(field => isStated(field) && !isValid(field))
  for (const field of invalidFields) onBad(`${field} ${JSON.stringify(metadata[field])}`)
  return Object.fromEntries(Object.entries(candidates).filter(([field]) => isValid(field)))
}

// names for degrees that programs write; their zooms begin with one tile, as ours do
const DEGREES = /^(?:(?:global-)?geodetic|(?:EPSG:|.*[:/])(?:4326|4258)|(?:OGC:|.*[:/])CRS84)$/i
const MERCATOR = /^(?:(?:global-)?mercator|.*[:/]?(?:3857|900913|3785|102100))$/i

/** The grid in metadata: our exports write `grid`, other programs the coordinate system or a profile. */
function gridIn (/** @type {Record<string, any>} */ { grid, crs, srs, profile }) {
  const statedGrid = typeof grid === 'string' && grid.startsWith('{') ? jsonOf(grid) : grid
  if (statedGrid !== undefined && statedGrid !== null) return attempt(() => gridOf({ grid: statedGrid }) && statedGrid)
  return DEGREES.test(String(crs ?? srs ?? profile ?? '')) ? 'WorldCRS84Quad' : undefined
}

/**
 * The name in metadata of a grid that is neither Web Mercator nor known.
 * @param {Record<string, any>} metadata @returns {string | undefined}
 */
export function otherGridOf (metadata) {
  const name = metadata.crs ?? metadata.srs ?? metadata.profile
  if (gridIn(metadata) !== undefined || typeof name !== 'string' || !name || MERCATOR.test(name)) return undefined
  return name.slice(0, 100)
}

/**
 * Reads the bounds and the grid of tiles from the tilemapresource.xml beside them.
 * @param {string} xml
 * @returns {{bounds?: import('../../core/grid.js').Bbox, profile?: string, grid?: string}} profile: where the grid is
 *   not known
 */
export function readTileMap (xml) {
  const [boxTag = ''] = /<BoundingBox\b[^<>]*>/.exec(xml) ?? []
  const side = name => Number(new RegExp(`\\b${name}="([^"]*)"`).exec(boxTag)?.[1] ?? NaN)
  const [, profile = ''] = /<TileSets\b[^<>]*\bprofile="([^"]*)"/.exec(xml) ?? []
  return {
    bounds: attempt(() => parseBbox(['minx', 'miny', 'maxx', 'maxy'].map(side))),
    ...(/geodetic$/.test(profile) && { grid: 'WorldCRS84Quad' }),
    ...(profile === 'raster' && { profile })
  }
}

/** The time in metadata, if it is valid. @param {Record<string, any>} metadata @returns {string | undefined} exact */
export const timeOf = ({ [TIME_KEY]: time }) => isExactTime(time) ? time : undefined

const numberOf = value => value === undefined || value === '' ? undefined : Number(value)

/**
 * @param {Record<string, any>} doc the layer document
 * @param {import('../export/target.js').Facts} facts
 * @param {Partial<import('../export/target.js').TargetOptions> & {layer: string}} options
 * @returns {Record<string, string>}
 */
export function metadataOf (doc, facts, { layer, time, typedTime, area, scheme }) {
  // the document's bounds are of the whole layer, and more exact than tiles when an operator gave them
  const bounds = area ? facts.bounds : doc.bounds ?? facts.bounds
  // the types of tiles from an earlier run are not known
  const format = (facts.areTypesKnown ? facts.format : doc.format) ?? doc.format ?? facts.format
  const values = {
    name: nameAt(doc.name ?? layer, typedTime),
    [PLAIN_NAME]: typedTime && (doc.name ?? layer),
    format: format && formatNames[format],
    bounds: bounds?.join(','),
    center: bounds && centerOf(doc, bounds, facts).join(','),
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
    ...gridTexts(doc),
    [TIME_KEY]: time ?? facts.last,
    scheme: scheme === 'tms' ? scheme : undefined // rows from the north are the default
  }
  const statedValues = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(statedValues.map(([name, value]) => [name, String(value)]))
}

/** The metadata of a grid that is not Web Mercator. Reading them gives the same grid. */
function gridTexts (doc) {
  const grid = gridOf(doc)
  if (grid.isWebMercator) return {}
  return { grid: typeof grid.field === 'string' ? grid.field : JSON.stringify(grid.field), crs: grid.crs }
}

/**
 * The same as a metadata.json. Zooms are numbers there: the Python package of PMTiles compares them.
 * @param {Parameters<typeof metadataOf>} about
 */
export function metadataJson (...about) {
  const { minzoom, maxzoom, ...texts } = metadataOf(...about)
  return JSON.stringify({
    ...texts, ...(minzoom && { minzoom: +minzoom }), ...(maxzoom && { maxzoom: +maxzoom })
  }, null, 2) + '\n'
}

function centerOf (doc, bounds, { minzoom = 0, maxzoom = 0 }) {
  const [west, south, , north] = bounds
  const east = eastOf(bounds)
  const [lon, lat, zoom] = doc.center ?? []
  const isBetween = (lon < west ? lon + 360 : lon) <= east
  const isInside = isBetween && lat >= south && lat <= north && zoom >= minzoom && zoom <= maxzoom
  if (isInside) return doc.center
  const middle = (west + east) / 2
  const centerZoom = Math.min(Math.max(viewZoom(gridOf(doc), bounds), minzoom), maxzoom)
  return [middle > 180 ? middle - 360 : middle, (south + north) / 2, centerZoom]
}

/** The zoom at which a map of some bounds may begin. @param {import('../../core/grids/grid.js').Grid} grid */
function viewZoom (grid, bounds) {
  if (grid.isWebMercator) return Math.floor(Math.log2(360 / Math.max(eastOf(bounds) - bounds[0], 1e-6))) + MIDDLE
  const isSmall = ({ z }) =>
    grid.ranges(bounds, z).every(({ x0, x1, y0, y1 }) => Math.max(x1 - x0, y1 - y0) < 2 ** MIDDLE)
  return grid.matrices.findLast(isSmall)?.z ?? grid.firstZoom
}
