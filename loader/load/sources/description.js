// Opens a document that says where tiles are: a TileJSON, a MapLibre style with one source of tiles, or the
// capabilities of a WMTS, at an address or in a file. The tiles are loaded as from any tile server, with the zooms,
// bounds, rows and attribution of the document.
// Other documents, such as the capabilities of a WMS, get an error that says what to type next.
import { WEB_MERCATOR, parseBbox, plainNameOf } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { sourceLimits } from '../../formats/reading.js'
import { layerFieldsOf } from '../../formats/metadata.js'
import {
  kindOfBytes, kindOfFile, kindOfName, kindOfRoot, loadCommand, notTiles, refusal, rootOf, serverCommand
} from '../../formats/other-kinds.js'
import { plainTextOf, readRegular } from '../../formats/files.js'
import { isGzip, unpack } from '../../formats/unpack.js'
import { userAgentOf } from '../../store/package.js'
import { Requester } from '../upstream/http.js'
import { Networks } from '../upstream/networks.js'
import { Secrets } from '../upstream/secrets.js'
import { arcgis, wms, wmsSettings } from './services.js'
import { absolute, blocksOf, plain, withoutSecrets } from './templates.js'
import * as upstream from './upstream.js'
import { isWmts, openWmts } from './wmts.js'
import { attempt, decodedText, isObject, jsonOf } from '../../../core/values.js'

const TIMEOUT = 30 // seconds until the whole document is there
const GEOJSON = new Set([
  'Feature', 'FeatureCollection', 'GeometryCollection', 'Point', 'MultiPoint', 'LineString', 'MultiLineString',
  'Polygon', 'MultiPolygon'
])
const GEOJSON_BEGIN = new RegExp(`"type"\\s*:\\s*"(?:${[...GEOJSON].join('|')})"`)
const ACCEPT = 'application/json,application/xml,*/*;q=0.5'
const TILED = ['raster', 'vector', 'raster-dem'] // types of sources of a style

/**
 * Where a document came from.
 * @typedef {object} Where
 * @property {string} name for messages
 * @property {URL} [base] its address, if it has one
 * @property {boolean} [isNested] another document led to it
 *
 * @typedef {import('./index.js').SourceOptions & import('./upstream.js').Asking} Options
 */

/**
 * @param {string} name an address @param {Options} options @param {Partial<Where>} [where]
 * @returns {Promise<import('./index.js').Source>}
 */
export async function open (name, options, where) {
  const base = new URL(name)
  // an inner network is allowed if the user named it, but not if a document did
  const allowedHosts = where?.isNested ? options.named ?? [] : upstream.hostsOf({ url: base.href })
  const shown = `${base.origin}${base.pathname}` // the query may be a key
  const bytes = await fetchDocument(base, { ...options, networks: [...options.networks ?? [], ...allowedHosts] })
  const kind = kindOfBytes(bytes.subarray(0, 512))
  if (kind) throw notTiles(kind, name)
  return openText(plainTextOf(bytes), { ...where, name: shown, base }, { ...options, named: allowedHosts })
}

/**
 * Opens a file that has no tiles itself.
 * @param {string} name @param {Buffer} begin its first bytes @param {Options} options
 * @returns {Promise<import('./index.js').Source | undefined>} undefined if it describes no tiles either
 */
export async function openFile (name, begin, options) {
  const kind = kindOfBytes(begin) && kindOfFile(name, begin)
  if (kind) throw notTiles(kind, name)
  const text = plainTextOf(begin)
  if (/^\s*[{[]/.test(text) || rootOf(text)) {
    const wholeText = await readRegular(name, { most: sourceLimits.metadata }).then(plainTextOf, () => text)
    return openText(wholeText, { name }, { ...options, named: [] })
  }
  const otherKind = kindOfName(name)
  if (otherKind) throw notTiles(otherKind, name)
}

/** @param {URL} url @param {Options} options @returns {Promise<Buffer>} */
async function fetchDocument (url, { secrets, networks, userAgent = userAgentOf(), signal }) {
  const requester = new Requester({
    secrets: new Secrets(secrets),
    networks: new Networks(networks),
    headers: { 'user-agent': userAgent, accept: ACCEPT, 'accept-encoding': 'identity' },
    timeout: TIMEOUT,
    connections: 1,
    maxBytes: sourceLimits.metadata
  })
  try {
    const { status, bytes } = await requester.get(url.href, { signal })
    const value = `${url.origin}${url.pathname}`
    if (status === 404 || status === 410) throw new TilecouchError('SOURCE_NOT_FOUND', { value })
    if (status !== 200) throw new TilecouchError('SOURCE_UNREADABLE', { value, why: `the server answered ${status}` })
    return isGzip(bytes) ? await unpack(bytes, { limit: sourceLimits.metadata }).catch(() => bytes) : bytes
  } finally {
    await requester.close()
  }
}

/**
 * @param {string} text @param {Where} where @param {Options} options
 * @returns {Promise<import('./index.js').Source>}
 */
async function openText (text, where, options) {
  const root = rootOf(text)
  if (root && isWmts(root, text)) return openWmts(text, where, options)
  if (root) throw otherXml(root, text, where)
  const json = jsonOf(text)
  if (typeof json === 'object' && json !== null) return openJson(json, where, options)
  if (GEOJSON_BEGIN.test(text.slice(0, 4096))) throw notTiles('geojson', where.name)
  throw unknownSource(where)
}

const unknownSource = ({ name }) =>
  new TilecouchError('SOURCE_UNKNOWN', { value: name, why: 'it is neither a TileJSON nor a map style' })

/** @param {any} json @param {Where} where @param {Options} options */
async function openJson (json, where, options) {
  if (hasTiles(json)) return openTiles(json, where, options)
  if (isObject(json.sources) && Array.isArray(json.layers)) return openStyle(json, where, options)
  if (GEOJSON.has(json.type)) throw notTiles('geojson', where.name)
  if (where.base && json.tileInfo) throw arcgis(where.base, where.name)
  throw unknownSource(where)
}
const hasTiles = ({ tiles }) => Array.isArray(tiles) && typeof tiles[0] === 'string'

/**
 * The tile server of a TileJSON, or of a source of a style.
 * @param {any} json @param {Where} where @param {Options} options
 */
function openTiles (json, where, options) {
  const { url, secrets } = withoutSecrets(absolute(json.tiles[0], where), options.secrets)
  const scheme = options.scheme ?? json.scheme
  const zoom = value => Number.isInteger(value) && value >= 0 && value <= 30 ? value : undefined
  const [minzoom, maxzoom] = [zoom(json.minzoom), zoom(json.maxzoom)]
  // styles may use a WMS as a source of tiles
  const server = /\{bbox/i.test(url) ? wmsSettings(new URL(url)) : { type: scheme === 'tms' ? 'tms' : 'xyz', url }
  const settings = { ...server, minzoom, maxzoom, bounds: attempt(() => parseBbox(json.bounds)) }
  const { description, attribution, legend, version, encoding, vector_layers: layers } = json
  const format = json.format ?? (layers ? 'pbf' : undefined)
  const fields = layerFieldsOf({
    name: plainNameOf(json), description, attribution, legend, version, format, encoding, vector_layers: layers
  })
  // the formats of both documents assume Web Mercator; a WMS draws in any grid
  const grid = options.isGridGiven || server.type === 'wms' ? options.grid : WEB_MERCATOR
  return upstream.open(url, {
    ...options, grid, upstream: settings, secrets, fields: { ...fields, ...(grid && { grid }) }, isAnnounced: true
  })
}

/** @param {any} style @param {Where} where @param {Options} options */
async function openStyle (style, where, options) {
  const sources = Object.values(style.sources)
    .filter(source => TILED.includes(source?.type) && (hasTiles(source) || typeof source.url === 'string'))
  const images = sources.filter(({ type }) => type === 'raster')
  const chosen = images.length ? images : sources
  if (chosen.length === 1 && hasTiles(chosen[0])) {
    const [source] = chosen
    const format = source.type === 'vector' ? { format: 'pbf' } : {}
    const encoding = source.type === 'raster-dem' ? { encoding: source.encoding ?? 'mapbox' } : {} // as in styles
    return openTiles({ name: style.name, ...source, ...format, ...encoding }, where, options)
  }
  const addresses = chosen.map(source => hasTiles(source) ? '' : addressOf(source.url, where))
  if (chosen.length === 1 && !where.isNested && /^https?:\/\/[^?]*(?<!\.pmtiles)(?:\?|$)/i.test(addresses[0])) {
    return open(addresses[0], options, { isNested: true })
  }
  const lines = chosen.map((source, index) => hasTiles(source)
    ? serverCommand(withoutSecrets(absolute(source.tiles[0], where)).url)
    : loadCommand(addresses[index]))
  throw refusal(where.name, chosen.length ? 'a map style, which shows tiles of others' : 'a map style without tiles', {
    how: chosen.length > 1 ? 'Load one of its sources' : 'Load the tiles themselves',
    lines: lines.length ? lines : [serverCommand('https://HOST/{z}/{x}/{y}.png')]
  })
}

/** @param {string} url of a source of a style @param {Where} where */
function addressOf (url, where) {
  const [, inner] = /^pmtiles:\/\/(.*)$/is.exec(url) ?? []
  return absolute(inner ?? url, where)
}

// XML that describes maps: capabilities of a WMS, a TMS, files of QGIS. It is not loaded: the errors say what it is,
// and what to type next.

/**
 * The error for XML and HTML.
 * @param {string} root its first element
 * @param {string} text
 * @param {Where} where
 */
function otherXml (root, text, where) {
  const { name, base = new URL('https://HOST/wms') } = where
  if (/^WM(?:S|T_MS)_Capabilities$|^ServiceException/.test(root)) return wms(base, name, wmsLayers(text))
  if (root === 'TileMap') return tileMap(text, where)
  const template = root === 'qlr' ? templateOfQgis(text) : undefined
  if (template) {
    const lines = [serverCommand(withoutSecrets(template).url)]
    return refusal(name, 'a layer definition of QGIS: it names a tile server', { how: 'Load from that server', lines })
  }
  const kind = kindOfRoot(root)
  return kind ? notTiles(kind, name) : new TilecouchError('SOURCE_UNKNOWN', { value: name, why: `it is XML (${root})` })
}

/** The names of layers that can be drawn. Layers without a name only contain other layers. */
function wmsLayers (xml) {
  const titledName = /^\s*(?:<Title>[^<]*<\/Title>\s*)?<Name>([^<]{1,200})<\/Name>/
  const names = blocksOf('Layer', xml).map(block => titledName.exec(block)?.[1])
  return [...new Set(names.flatMap(name => name ? [plain(name)] : []))]
}

/** The template in a connection of QGIS to a tile server, such as type=xyz&url=… */
function templateOfQgis (xml) {
  const connection = xml.split(/[<>"']/).find(part => /\btype=xyz\b/.test(part) && /\burl=/.test(part))
  const [, url] = /\burl=([^&\s]+)/.exec(connection ?? '') ?? []
  return url && decodedText(url)
}

/** The error for the description of a TMS, such as gdal2tiles writes it. @param {string} xml @param {Where} where */
function tileMap (xml, { name, base }) {
  const [, ext = 'png'] = /<TileFormat\b[^<>]*\bextension="(\w+)"/.exec(xml) ?? []
  const next = base
    ? { how: 'Load these', lines: [`${serverCommand(absolute(`{z}/{x}/{y}.${ext}`, { name, base }))} --scheme tms`] }
    : {
      how: 'Load the folder that it is in', lines: [loadCommand(name.replace(/[^\\/]*$/, '') || '.', ' --scheme tms')]
    }
  return refusal(name, 'the description of tiles with rows from the south (TMS)', next)
}
