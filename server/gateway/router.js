// Parses the method and the target of a request. A tile in memory costs some ten microseconds, so plain tile addresses
// are parsed by one expression, without a URL object. The gateway has the addresses of _design/tiles/rewrites.js, which
// shares core/addresses.js, and some more.
import { GLYPHS, NUMBER, SPRITE, STYLE, WORDS, isTime } from '../../core/addresses.js'
import { MAX_ZOOM, RESERVED, checkTile, flipY, isLayer, parseBbox, parseQuadkey } from '../../core/index.js'
import { attempt } from '../../core/values.js'
import { TilecouchError } from '../../loader/errors.js'

/**
 * @typedef {'tms' | 'quadkey'} Numbering that an address has instead of XYZ; x and y are then as in Web Mercator: see
 *   routes/numbering.js
 * @typedef {{kind: 'tile', layer: string, time?: string, z: number, x: number, y: number, ext: string,
 *   numbering?: Numbering, missing?: string}} TileTarget time: as written, checked; missing: how a missing tile is
 *   answered where the option says auto
 * @typedef {Omit<TileTarget, 'kind'> & {kind: 'retina'}} RetinaTarget the tile with twice the pixels
 * @typedef {{kind: 'versions', layer: string, z: number, x: number, y: number, numbering?: Numbering}} VersionsTarget
 * @typedef {{kind: 'tilejson' | 'gdal' | 'qgis', layer: string, time?: string}} LayerTarget
 * @typedef {{kind: 'times', layer: string, bbox?: import('../../core/grid.js').Bbox, z?: number}} TimesTarget
 * @typedef {{kind: 'style', layer: string, time?: string, theme?: any, file?: string}} StyleTarget theme: as written;
 *   file: name of a file of the style with exactly this time
 * @typedef {{kind: 'tms', layer?: string, time?: string}} TmsTarget without a layer: the service
 * @typedef {{kind: 'connections', of: 'xyz' | 'vector-tiles' | 'wmts'}} ConnectionsTarget
 * @typedef {{kind: 'wmts' | 'ogc', time?: string, path: string[], query: URLSearchParams}} ServiceTarget time: of WMTS,
 *   as written
 * @typedef {{kind: 'db', path: string, query: string}} DbTarget both undecoded
 * @typedef {{kind: 'file', name: string}} FileTarget
 * @typedef {{kind: 'health' | 'metrics' | 'index'}} StateTarget
 * @typedef {TileTarget | RetinaTarget | VersionsTarget | LayerTarget | TimesTarget | StyleTarget | TmsTarget |
 *   ConnectionsTarget | ServiceTarget | DbTarget | FileTarget | StateTarget} Target
 */

const MAX_PATH = 2000 // characters; /db has other limits

// nearly every request: /osm/10/300/412.png or /osm@2024-03/10/300/412@2x.png
const PLAIN = new RegExp([
  /^\/([a-z0-9][a-z0-9_-]{0,62})(?:@([0-9TZ:-]+))?/, // layer and time
  /\/(0|[1-9]\d?)\/(0|[1-9]\d{0,9})\/(0|[1-9]\d{0,9})/, // zoom, column and row
  /(@2x)?\.([a-z0-9]{2,5})(?:\?|$)/
].map(({ source }) => source).join(''))

const REFERENCE = /^([^@]+)(?:@(.+))?$/
const TILE_NAME = /^(\d+)(@2x)?\.([a-z0-9]{2,5})$/
const QUADKEY_NAME = /^(\d*)\.([a-z0-9]{2,5})$/
const FILE = /^[A-Za-z0-9][\w.-]{0,99}$/
const WMTS = /^wmts(?:@((?!.*\.[a-z]+$).*))?$/ // not wmts@2024.json: a layer may be called wmts too
const TILE_MAP = 'tilemapresource.xml' // as gdal2tiles calls it
const OF_LAYER = /^(?:times\.json|style\.json|gdal\.xml)$/
const CONNECTIONS = /^qgis-(xyz|vector-tiles|wmts)\.xml$/
export const SUSPICIOUS = /[\p{Cc}\\]/u // in no valid name, and proxies disagree about them

/** @param {string | undefined} target as the request line has it @returns {Target} */
export function parseRequest (method, target = '/') {
  const plain = PLAIN.exec(target)
  if (plain === null || plain[7] === 'json' || RESERVED.has(plain[1]) || (method !== 'GET' && method !== 'HEAD')) {
    return parseAny(method, target)
  }
  const [, layer, time, z, x, y, retina, ext] = plain
  if (time !== undefined) checkTime(time)
  return tileTarget({ layer, time }, checkTile(+z, +x, +y), ext, retina)
}

/**
 * @param {{layer: string, time?: string}} ref @param {{z: number, x: number, y: number}} place @param {string} ext
 * @param {string} [retina] `@2x`, if the address has it
 * @returns {TileTarget | RetinaTarget | VersionsTarget}
 */
function tileTarget ({ layer, time }, { z, x, y }, ext, retina) {
  if (retina) return { kind: 'retina', layer, time, z, x, y, ext }
  // a time makes no difference to the list of versions
  return ext === 'json' ? { kind: 'versions', layer, z, x, y } : { kind: 'tile', layer, time, z, x, y, ext }
}

/** @returns {Target} */
function parseAny (method, target) {
  const { path, search } = split(target)
  if (path[0] !== '/') throw badAddress(target, 'it starts with no slash')
  if (isInDb(path)) return { kind: 'db', path: path.slice(3), query: search }
  if (method !== 'GET' && method !== 'HEAD') {
    throw new TilecouchError('READ_ONLY', { reason: 'tiles are read with GET' })
  }
  const parts = decodePath(path)
  if (parts.length === 0) return { kind: 'file', name: 'index.html' }
  const query = new URLSearchParams(search)
  const serviceTarget = parseService(parts[0], parts.slice(1), query)
  if (serviceTarget) return serviceTarget
  return parts.length === 1 ? parseSingle(parts[0]) : parseOfLayer(parseReference(parts[0]), parts.slice(1), query)
}

/**
 * A target of a service, or nothing: layers may have the names of services.
 * @param {string[]} parts after the name
 * @returns {Target | undefined}
 */
function parseService (name, parts, query) {
  if (name === 'tms') return parts[0] === '1.0.0' ? parseTms(parts.slice(1)) : undefined
  if (name === 'quadkey') return parts.length === 2 ? parseQuadkeyTile(parseReference(parts[0]), parts[1]) : undefined
  if (name === 'ogc') return isOfService(parts, NUMBER.test(parts[0])) ? { kind: 'ogc', path: parts, query } : undefined
  if (name === 'styles') return parseStyleFile(parts)
  const [service, time] = WMTS.exec(name) ?? []
  if (service === undefined || !isOfService(parts)) return undefined
  return { kind: 'wmts', ...(time !== undefined && { time }), path: parts, query }
}

/** Whether an address that begins with the name of a service is not one of a layer. @param {string[]} parts after it */
const isOfService = (parts, mayBeTile = true) => !(parts.length === 3 && mayBeTile) && !OF_LAYER.test(parts[0])

/** @param {string[]} parts `osm@2024-03-01T00:00:00Z` and the names of the file @returns {StyleTarget | undefined} */
function parseStyleFile ([name, ...rest]) {
  const file = STYLE.test(name) ? styleFile(rest) : undefined
  return file === undefined ? undefined : { kind: 'style', ...parseReference(name), file }
}

/** @param {string[]} parts after the layer @returns {Target} */
function parseOfLayer (ref, parts, query) {
  if (parts.length === 3) return parseXyz(ref, parts, false)
  if (parts.length === 1) {
    if (parts[0] === 'times.json') return parseTimes(ref, query)
    if (parts[0] === 'style.json') return { kind: 'style', ...ref, theme: query.get('theme') ?? undefined }
    if (parts[0] === 'gdal.xml') return { kind: 'gdal', ...ref }
  }
  throw new TilecouchError('NOT_FOUND')
}

/**
 * The TMS service, the TileMap of a layer, or a tile.
 * @param {string[]} parts after the version
 * @returns {Target | undefined}
 */
function parseTms ([name, ...place]) {
  const kind = /** @type {const} */ ('tms')
  if (name === undefined) return { kind }
  if (place.length === 0 || (place.length === 1 && place[0] === TILE_MAP)) return { kind, ...parseReference(name) }
  return place.length === 3 ? parseXyz(parseReference(name), place, true) : undefined
}

/** The name of a sprite, or of a range of glyphs. Of several fonts, the first one counts. @param {string[]} parts */
function styleFile ([name, stack = '', range = '', ...more]) {
  if (more.length) return undefined
  if (stack === '') return SPRITE.test(name) ? name : undefined
  const [font] = stack.split(',')
  return name === 'glyphs' && GLYPHS.test(range) && !font.includes('/') ? `glyphs/${font}/${range}` : undefined
}

/** Splits a target into path and query. Proxies may send complete URLs. @param {string} target */
export function split (target) {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*$/s, '')
  const mark = local.indexOf('?')
  const path = mark < 0 ? local : local.slice(0, mark)
  return { path: path.replace(/^\/+/, '/') || '/', search: mark < 0 ? '' : local.slice(mark + 1) }
}

/** Whether a path, without its query, is one of the database. */
export const isInDb = path => path === '/db' || path.startsWith('/db/')

const badAddress = (value, why) => new TilecouchError('BAD_ADDRESS', { value, why })

/**
 * Decodes the segments of a path. Empty ones are ignored, as in CouchDB. An encoded slash is allowed, unlike below /db:
 * the Time of WMTS has slashes.
 */
function decodePath (path) {
  if (path.length > MAX_PATH) throw badAddress(path, `it is longer than ${MAX_PATH} characters`)
  const parts = attempt(() => path.split('/').filter(Boolean).map(decodeURIComponent))
  if (!parts) throw badAddress(path, 'it is not encoded as UTF-8')
  if (parts.some(part => SUSPICIOUS.test(part))) throw badAddress(path, 'it has control characters or backslashes')
  return parts
}

/** `/health`, `/osm.json`, `/viewer.js` @returns {Target} */
function parseSingle (name) {
  if (name === 'health' || name === 'metrics') return { kind: name }
  if (name === 'index.json') return { kind: 'index' }
  if (WORDS.test(name)) return { kind: 'file', name }
  if (/^[^/]+\.json$/.test(name)) return { kind: 'tilejson', ...parseReference(name.slice(0, -5)) }
  if (/^[^/]+\.qlr$/.test(name)) return { kind: 'qgis', ...parseReference(name.slice(0, -4)) }
  const [, service] = CONNECTIONS.exec(name) ?? []
  if (service) return { kind: 'connections', of: /** @type {ConnectionsTarget['of']} */ (service) }
  if (FILE.test(name)) return { kind: 'file', name }
  throw new TilecouchError('NOT_FOUND')
}

/** `osm` or `osm@2024-03` @returns {{layer: string, time?: string}} */
function parseReference (text) {
  const [, layer, time] = REFERENCE.exec(text) ?? []
  if (!isLayer(layer)) throw new TilecouchError('BAD_LAYER', { value: text })
  return { layer, time: time === undefined ? undefined : checkTime(time) }
}

/** Times in addresses are UTC, full or partial. */
function checkTime (text) {
  if (!isTime(text)) throw new TilecouchError('BAD_TIME', { value: text })
  return text
}

/** NaN for other spellings of a number, such as 007. */
const parseNumber = text => NUMBER.test(text) ? +text : NaN

/** @param {string[]} parts z, x and the name of the file @returns {TileTarget | RetinaTarget | VersionsTarget} */
function parseXyz (ref, parts, tms) {
  const [, row = '', retina, ext = ''] = TILE_NAME.exec(parts[2]) ?? []
  const [z, x, y] = [parseNumber(parts[0]), parseNumber(parts[1]), parseNumber(row)]
  if (!ext || Number.isNaN(z + x + y) || (retina && ext === 'json')) {
    throw new TilecouchError('BAD_TILE', { value: parts.join('/') })
  }
  checkTile(z, x, y)
  const place = { z, x, y: tms ? flipY(z, y) : y }
  return tms ? { ...tileTarget(ref, place, ext, retina), numbering: 'tms' } : tileTarget(ref, place, ext, retina)
}

/** @returns {TileTarget | RetinaTarget | VersionsTarget} */
function parseQuadkeyTile (ref, name) {
  const [, key, ext] = QUADKEY_NAME.exec(name) ?? []
  if (key === undefined) throw new TilecouchError('BAD_QUADKEY', { value: name })
  return { ...tileTarget(ref, parseQuadkey(key), ext), numbering: 'quadkey' }
}

/** @returns {TimesTarget} */
function parseTimes ({ layer }, query) {
  const [box, zoom] = [query.get('bbox'), query.get('z')]
  const z = zoom === null ? undefined : parseNumber(zoom)
  if (z !== undefined && !(z <= MAX_ZOOM)) throw new TilecouchError('BAD_ZOOM', { value: zoom })
  if (box !== null && z === undefined) {
    throw new TilecouchError('BAD_ZOOM', { value: '', why: 'a bbox needs a zoom: times.json?bbox=w,s,e,n&z=10' })
  }
  return { kind: 'times', layer, ...(box !== null && { bbox: parseBbox(box) }), ...(z !== undefined && { z }) }
}
