// Settings of the `upstream` of a layer, where its missing tiles come from. Everybody who reads the store can read
// them, so they must not hold secrets: keys and passwords belong in the configuration of the gateway.
import { TilecouchError } from './errors.js'
import { MAX_ZOOM, parseBbox } from './grid.js'
import { gridOf } from './grids/index.js'
import { attempt, isObject, isWhole } from './values.js'

/** Every field with its default and its meaning. */
export const upstreamDefaults = {
  type: 'xyz', // kind of address: xyz, tms, wmts (templates) or wms (a service)
  url: undefined, // template of a tile's address; wms: address of the service, without the parameters of GetMap
  subdomains: undefined, // list of values for {s}, such as ["a", "b", "c"]
  headers: undefined, // sent with every request, such as {"Referer": "https://example.org/"}; never anything secret
  minzoom: undefined, // zoom below which the upstream has nothing; the layer's own minzoom holds as well
  maxzoom: undefined, // zoom beyond which the upstream has nothing; the layer's own maxzoom holds as well
  bounds: undefined, // west, south, east, north in degrees; the layer's own bounds hold as well
  layers: undefined, // wms: LAYERS, needed; wmts: {Layer}
  styles: undefined, // wms: STYLES (none); wmts: {Style} (default)
  matrixSet: undefined, // wmts: {TileMatrixSet} (GoogleMapsCompatible); in another grid its name
  matrix: undefined, // wmts: {TileMatrix}, with {z} for the matrix, such as EPSG:3857:{z} ({z}); or an object, by zoom
  version: undefined, // wms: 1.1.1 or 1.3.0 (1.3.0)
  srs: undefined, // wms: a name of the system of the layer's grid, such as EPSG:3857 or EPSG:900913 (EPSG:3857)
  format: undefined, // wms: image/png, image/jpeg or image/webp (that of the layer, else image/png)
  transparent: undefined, // wms: true or false (false)
  params: undefined, // wms: other parameters of GetMap, such as {"map": "/srv/city.map"}; never anything secret
  metatile: undefined, // wms: tiles a side in one request, 1 to 8 (4); fewer if it would have over 6144 pixels a side
  buffer: undefined, // wms: pixels around a metatile that are cut off, for labels at its edge, 0 to 512 (64)
  expires: 'layer', // when tiles expire: layer (its ttl), upstream (Cache-Control or Expires, else the ttl), or seconds
  time: 'modified', // time of a new version: modified (Last-Modified where it makes sense, else now) or fetched (now)
  concurrency: 4, // requests at once
  rate: undefined, // requests a second at most
  timeout: 30, // seconds for one request, from connecting to the last byte
  negative: 60, // seconds for which it is remembered that a tile is missing
  seed: true // whether tiles may be fetched in advance; false where the terms forbid it (tile.openstreetmap.org)
}

/** Fields that only some types have, with their defaults. */
const typeDefaults = {
  xyz: {},
  tms: {},
  wmts: { layers: undefined, styles: 'default', matrixSet: 'GoogleMapsCompatible', matrix: '{z}' },
  wms: {
    layers: undefined,
    styles: '',
    version: '1.3.0',
    srs: 'EPSG:3857',
    format: undefined,
    transparent: false,
    params: undefined,
    metatile: 4,
    buffer: 64
  }
}
const SPECIAL = new Set(Object.values(typeDefaults).flatMap(Object.keys))

/** Whether an upstream of a type may have a field. @param {string} field @param {string} type */
export const isOfType = (field, type) =>
  field === 'subdomains' ? type !== 'wms' : !SPECIAL.has(field) || Object.hasOwn(typeDefaults[type] ?? {}, field)

/**
 * The settings of an upstream after checkUpstream(); see `upstreamDefaults`.
 * @typedef {{
 *   type: 'xyz' | 'tms' | 'wmts' | 'wms', url: string, subdomains?: string[], headers?: Record<string, string>,
 *   minzoom?: number, maxzoom?: number, bounds?: import('./grid.js').Bbox, layers?: string, styles?: string,
 *   matrixSet?: string, matrix?: string | Record<string, string>,
 *   version?: string, srs?: string, format?: string, transparent?: boolean,
 *   params?: Record<string, string>, metatile?: number, buffer?: number, expires: 'layer' | 'upstream' | number,
 *   time: 'modified' | 'fetched', concurrency: number, rate?: number, timeout: number, negative: number, seed: boolean
 * }} UpstreamSettings
 */

const isText = value => typeof value === 'string' && value.length <= 1000 && !/[\p{Cc}]/u.test(value)
const between = (low, high) => (
  {
    test: value => Number.isFinite(value) && value >= low && value <= high,
    why: `must be a number from ${low} to ${high}`
  }
)
const whole = (low, high) => ({ test: isWhole(low, high), why: `must be a whole number from ${low} to ${high}` })
const oneOf = (...values) => (
  { test: value => values.includes(value), why: `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}` }
)
const text = { test: isText, why: 'must be a text' }

const isSubdomain = name => typeof name === 'string' && /^[a-z0-9]([a-z0-9.-]{0,60}[a-z0-9])?$/i.test(name)

// headers that requests set themselves, or that would hide the sender
const RESERVED_HEADERS = new RegExp(`^(${[
  'host', 'connection', 'content-.*', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'keep-alive', 'expect', 'range',
  'if-.*', 'accept-encoding', 'user-agent', 'proxy-.*'
].join('|')})$`, 'i')
const RESERVED_PARAMS = /^(service|request|version|layers|styles|srs|crs|bbox|width|height|format|transparent)$/i

const rules = {
  type: oneOf('xyz', 'tms', 'wmts', 'wms'),
  url: {
    test: value => isText(value) && value !== '', why: 'must be an address, such as https://example.org/{z}/{x}/{y}.png'
  },
  subdomains: {
    test: value => Array.isArray(value) && value.length > 0 && value.length <= 100 && value.every(isSubdomain),
    why: 'must be a list of names, such as ["a", "b", "c"]'
  },
  headers: { test: isObject, why: 'must be an object of texts' },
  minzoom: whole(0, MAX_ZOOM),
  maxzoom: whole(0, MAX_ZOOM),
  bounds: { test: value => isBbox(value), why: 'must be west, south, east, north in degrees' },
  layers: { test: value => isText(value) && value !== '', why: 'must be a text that names the layers' },
  styles: text,
  matrixSet: text,
  matrix: { test: isMatrix, why: 'must hold {z}, such as EPSG:3857:{z}, or be an object of zooms and names' },
  version: oneOf('1.1.1', '1.3.0'),
  srs: text,
  format: {
    test: value => isText(value) && /^image\/(png|jpeg|webp)(?![a-z+.])/.test(value),
    why: 'must be image/png, image/jpeg or image/webp'
  },
  transparent: { test: value => typeof value === 'boolean', why: 'must be true or false' },
  params: { test: isObject, why: 'must be an object of texts' },
  metatile: whole(1, 8),
  buffer: whole(0, 512),
  expires: {
    test: value => value === 'layer' || value === 'upstream' || isWhole(1, 1e9)(value),
    why: 'must be layer, upstream or a number of seconds'
  },
  time: oneOf('modified', 'fetched'),
  concurrency: whole(1, 64),
  rate: between(0.01, 1000),
  timeout: between(0.1, 600),
  negative: between(0, 1e6),
  seed: { test: value => typeof value === 'boolean', why: 'must be true or false' }
}

const MERCATOR = ['EPSG:3857', 'EPSG:900913', 'EPSG:3785', 'EPSG:102100']

/**
 * The names by which a WMS may call the system of a grid, the usual one first.
 * @param {import('./grids/grid.js').Grid} grid @param {string} [version]
 */
function srsOf (grid, version) {
  if (grid.isWebMercator) return MERCATOR
  if (!/:(4326|CRS84)$/.test(grid.crs)) return [grid.crs]
  return version === '1.1.1' ? ['EPSG:4326'] : ['CRS:84', 'EPSG:4326']
}

function isMatrix (value) {
  if (typeof value === 'string') return isText(value) && value.includes('{z}')
  return isObject(value) && Object.entries(value).every(([z, id]) => /^([12]?\d|30)$/.test(z) && isText(id))
}

const isBbox = value => Array.isArray(value) && attempt(() => parseBbox(value)) !== undefined

/** @param {string} field @param {string} why @param {unknown} [value] @returns {never} */
function refuse (field, why, value) {
  throw new TilecouchError('BAD_UPSTREAM', { field, why, ...(value !== undefined && { value }) })
}

/** The fields that are set, each of which is valid by itself. @returns {Record<string, any>} */
function checkFields (value) {
  if (!isObject(value)) refuse('upstream', 'must be an object with type and url', value)
  const stated = Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined && inner !== null))
  for (const field of Object.keys(stated)) {
    // the value may be a password: it is not shown
    if (!Object.hasOwn(rules, field)) refuse(field, `is not a field: there are ${Object.keys(rules).join(', ')}`)
  }
  const type = stated.type ?? upstreamDefaults.type
  if (!rules.type.test(type)) refuse('type', rules.type.why, type)
  for (const [field, inner] of Object.entries(stated)) {
    if (!rules[field].test(inner)) refuse(field, rules[field].why, field === 'url' ? undefined : inner)
    if (SPECIAL.has(field) && !Object.hasOwn(typeDefaults[type], field)) refuse(field, `is not for ${type}`)
  }
  if (stated.url === undefined) refuse('url', rules.url.why)
  return stated
}

/**
 * The settings of an upstream, with the defaults; throws an error with the field that is wrong.
 * @param {any} value the `upstream` of a layer document
 * @param {import('./grids/grid.js').Grid} [grid] of the layer
 * @returns {UpstreamSettings}
 */
export function checkUpstream (value, grid = gridOf()) {
  const stated = checkFields(value)
  const type = /** @type {UpstreamSettings['type']} */ (stated.type ?? upstreamDefaults.type)
  const names = srsOf(grid, stated.version)
  if (stated.srs !== undefined && !names.includes(stated.srs)) refuse('srs', srsWhy(grid, names), stated.srs)
  checkTexts('headers', stated.headers, RESERVED_HEADERS)
  checkTexts('params', stated.params, RESERVED_PARAMS)
  if (stated.minzoom > stated.maxzoom) refuse('minzoom', 'is beyond maxzoom', stated.minzoom)
  if (type === 'wms') checkService(stated)
  else checkTemplate(type, stated.url, stated)
  return /** @type {any} */ ({
    ...upstreamDefaults,
    ...typeDefaults[type],
    ...(type === 'wms' && { srs: names[0] }),
    ...(type === 'wmts' && !grid.isWebMercator && { matrixSet: grid.id }),
    seed: !isOpenStreetMap(stated.url),
    ...stated,
    type
  })
}

/** @param {import('./grids/grid.js').Grid} grid @param {string[]} names */
function srsWhy ({ isWebMercator, id }, names) {
  const list = names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${names.at(-1)}` : names[0]
  return isWebMercator
    ? `must be a name of Web Mercator: ${list}; for tiles of other projections give the layer a grid`
    : `must be ${list}, in which the grid ${id} is`
}

/** Refuses headers or parameters that every request sets itself, and those that are secret. */
function checkTexts (field, values = {}, reserved) {
  for (const [name, value] of Object.entries(values)) {
    const fieldName = `${field}.${name}`
    if (!/^[\w!#$%&'*+.^`|~:-]{1,100}$/.test(name)) refuse(field, 'has a bad name', name)
    if (isSecret(name, field === 'headers')) refuse(fieldName, 'is secret, and everybody can read it here')
    if (reserved.test(name)) refuse(fieldName, 'is not to be set: every request has its own')
    if (!isText(value) || (field === 'headers' && !/^[\t -~]*$/.test(value))) refuse(fieldName, 'must be a text')
  }
}

// Addresses of upstreams: templates of tiles and services, the placeholders that they may have, and secrets that they
// must not have.

/** The placeholders by type, in small letters. */
const PLACES = {
  xyz: ['z', 'x', 'y', '-y', 'quadkey', 's', 'r'],
  tms: ['z', 'x', 'y', '-y', 's', 'r'],
  wmts: ['z', 'x', 'y', 's', 'r', 'tilematrix', 'tilecol', 'tilerow', 'tilematrixset', 'style', 'layer']
}
const NAMES = {
  tilematrix: 'TileMatrix',
  tilecol: 'TileCol',
  tilerow: 'TileRow',
  tilematrixset: 'TileMatrixSet',
  style: 'Style',
  layer: 'Layer'
}
const inBraces = name => `{${NAMES[name] ?? name}}`

/** A template needs one placeholder of each list: otherwise several tiles would have one address. */
const NEEDED = [['z', 'tilematrix', 'quadkey'], ['x', 'tilecol', 'quadkey'], ['y', '-y', 'tilerow', 'quadkey']]

// parameters that are keys, tokens or passwords; a header is secret if its name contains such a word
const SECRET_PREFIXES = 'api|app|access|auth|client|subscription|license|map|maps|tile|tiles'
const SECRETS = 'key|keys|token|secret|code|pass|passwd|password|pwd|auth|authorization|authentication|' +
  'credentials?|signature|sig|session|sessionid|user|username|login|jwt|bearer'
const SECRET_PARAMETER = new RegExp(`^(x-)?(${SECRET_PREFIXES})?[-_]?(${SECRETS})$`, 'i')
const SECRET_HEADER = /auth|cookie|token|secret|key|passw|credential|signature|session|jwt/i

/**
 * Whether a parameter or header with this name is secret.
 * @param {string} name
 * @param {boolean} [header]
 */
export const isSecret = (name, header = false) => (header ? SECRET_HEADER : SECRET_PARAMETER).test(name)

/** The host of an address or a template, for messages. @param {string} url */
export const hostOf = url => /^\w+:\/\/([^/?#]*)/.exec(url)?.[1] ?? url

/** Whether this is a server of OpenStreetMap, whose terms forbid bulk downloads. */
const isOpenStreetMap = url => /^https?:\/\/([^/?#]*\.)?tile\.(openstreetmap|osm)\.org([:/?#]|$)/i.test(url)

/**
 * Fills a template.
 * @param {string} url
 * @param {(name: string) => string | undefined} value of a placeholder, whose name is in small letters
 */
export const fillTemplate = (url, value) =>
  url.replace(/\{([^{}]*)\}/g, (match, name) => value(name.toLowerCase()) ?? match)

/**
 * @param {'xyz' | 'tms' | 'wmts'} type @param {string} url @param {{subdomains?: string[], layers?: string}} settings
 */
function checkTemplate (type, url, { subdomains, layers }) {
  const placeholders = [...url.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name.toLowerCase())
  const allowed = PLACES[type]
  for (const name of placeholders) {
    if (allowed.includes(name)) continue
    refuse('url', `contains {${name}}: a ${type} template may contain ${allowed.map(inBraces).join(' ')}`)
  }
  for (const needed of NEEDED) {
    const names = needed.filter(name => allowed.includes(name))
    if (!names.some(name => placeholders.includes(name))) refuse('url', `needs ${names.map(inBraces).join(' or ')}`)
  }
  if (subdomains && !placeholders.includes('s')) refuse('subdomains', 'are given, but the url has no {s}')
  if (placeholders.includes('s') && !subdomains) refuse('subdomains', 'are needed: the url has {s}')
  if (placeholders.includes('layer') && layers === undefined) refuse('layers', 'are needed: the url has {Layer}')
  const [, authority] = /^[a-z]+:\/\/([^/\\?#]*)/i.exec(url) ?? []
  if (authority && /\{(?!s\})/i.test(authority)) {
    refuse('url', 'may have {s} in the name of the host, and nothing else in braces')
  }
  checkParsed(fillTemplate(url, () => '1'))
}

/** @param {Record<string, any>} settings */
function checkService ({ url, subdomains, layers }) {
  if (/[{}]/.test(url)) refuse('url', 'of a wms is the address of the service, without anything in braces')
  for (const name of checkParsed(url).searchParams.keys()) {
    if (RESERVED_PARAMS.test(name)) refuse('url', `has the parameter ${name}, which every request sets: leave it out`)
  }
  if (subdomains) refuse('subdomains', 'is not for wms')
  if (layers === undefined) refuse('layers', rules.layers.why)
}

/** Checks an address. Messages do not repeat it: the wrong part may be a password. @param {string} url */
function checkParsed (url) {
  // without two slashes and a host, the parser takes another word for the host, even a placeholder
  if (!/^[a-z]+:\/\/[^/\\?#]/i.test(url) || !URL.canParse(url)) {
    refuse('url', 'is not an address, such as https://example.org/{z}/{x}/{y}.png')
  }
  const parsed = new URL(url)
  if (!/^https?:$/.test(parsed.protocol)) refuse('url', 'must begin with http:// or https://')
  if (parsed.username || parsed.password) refuse('url', 'holds a name or password, and everybody can read it here')
  for (const name of parsed.searchParams.keys()) {
    if (isSecret(name)) refuse('url', `holds the parameter ${name}, which is secret, and everybody can read it here`)
  }
  if (parsed.hash) refuse('url', 'has a #, which no server ever sees')
  return parsed
}
