// The address of one tile, from a template.
import { flipY, quadkey, formats } from '../../core/index.js'
import { fillTemplate } from '../../core/upstream.js'

const BIG_TILE = 512 // pixels a side from which {r} asks for the double resolution

/**
 * @param {import('../../core/upstream.js').UpstreamSettings} settings
 * @param {{z: number, x: number, y: number}} tile
 * @param {number} tileSize pixels a side
 */
export function tileAddress (settings, { z, x, y }, tileSize) {
  const { type, url, subdomains = [] } = settings
  const south = flipY(z, y)
  const values = {
    z: () => z,
    x: () => x,
    y: () => type === 'tms' ? south : y,
    '-y': () => south,
    quadkey: () => quadkey(z, x, y),
    // always the same server for a tile, so that its cache and ETag can be used
    s: () => subdomains[(x + y) % subdomains.length],
    r: () => tileSize >= BIG_TILE ? '@2x' : '',
    tilematrix: () => encode(settings.matrix?.replaceAll('{z}', `${z}`)),
    tilecol: () => x,
    tilerow: () => y,
    tilematrixset: () => encode(settings.matrixSet),
    style: () => encode(settings.styles),
    layer: () => encode(settings.layers)
  }
  return fillTemplate(url, name => Object.hasOwn(values, name) ? String(values[name]()) : undefined)
}

const encode = (text = '') => encodeURIComponent(text)

// GetMap requests. Both versions want the corners of Web Mercator in the same order, easting first: only geographic
// coordinates are turned round in 1.3.0.

const HALF_WORLD = 20037508.342789244 // metres from the middle of Web Mercator to its edge

/**
 * @typedef {{z: number, left: number, top: number, width: number, height: number}} Rectangle pixels, from the
 * north-western corner of the world
 */

/**
 * @param {import('../../core/upstream.js').UpstreamSettings} settings
 * @param {Rectangle} rectangle
 * @param {number} tileSize pixels a side
 */
export function getMapAddress (settings, { z, left, top, width, height }, tileSize) {
  const metres = 2 * HALF_WORLD / (tileSize * 2 ** z) // of a pixel
  const [west, east] = [left, left + width].map(x => x * metres - HALF_WORLD)
  const [south, north] = [top + height, top].map(y => HALF_WORLD - y * metres)
  const modern = settings.version === '1.3.0'
  const own = Object.keys(settings.params ?? {}).some(name => /^exceptions$/i.test(name))
  const params = {
    SERVICE: 'WMS',
    VERSION: settings.version,
    REQUEST: 'GetMap',
    LAYERS: settings.layers,
    STYLES: settings.styles,
    [modern ? 'CRS' : 'SRS']: settings.srs,
    BBOX: [west, south, east, north].map(plain).join(','),
    WIDTH: width,
    HEIGHT: height,
    FORMAT: settings.format,
    TRANSPARENT: settings.transparent ? 'TRUE' : 'FALSE',
    ...(!own && { EXCEPTIONS: modern ? 'XML' : 'application/vnd.ogc.se_xml' }),
    ...settings.params
  }
  const query = Object.entries(params).map(([name, value]) => `${encodeURIComponent(name)}=${readable(value)}`).join('&')
  return settings.url + (!settings.url.includes('?') ? '?' : /[?&]$/.test(settings.url) ? '' : '&') + query
}

// keeps commas, colons and slashes readable
const readable = value => encodeURIComponent(value).replace(/%(2C|3A|2F)/g, decodeURIComponent)

/** A number without an exponent, which servers do not read. */
const plain = value => value.toFixed(8).replace(/\.?0+$/, '').replace(/^-0$/, '0')

/** What a server says went wrong, from a ServiceException of any version. */
export function exceptionText (text) {
  const [, code, message] = /<(?:\w+:)?ServiceException(?=[\s>])(?:[^>]*?\scode="([^"]*)")?[^>]*>([\s\S]*?)<\//.exec(text) ?? []
  if (message === undefined) return undefined
  const clean = message.replace(/<!\[CDATA\[|\]\]>/g, '').replace(/\s+/g, ' ').trim().slice(0, 200)
  return [code, clean].filter(Boolean).join(': ')
}

/**
 * The format of an upstream's tiles by its settings, before any tile was fetched.
 * @param {{url: string, format?: string}} upstream
 * @returns {string | undefined} extension, as in the `format` of a layer
 */
export function formatOf ({ url, format = '' }) {
  const [, extension = ''] = /\.([a-z]+)(?:[?#]|$)/i.exec(url) ?? []
  const name = (format.split(/[/;]/)[1] || extension).toLowerCase().replace('mvt', 'pbf').replace('jpeg', 'jpg')
  return Object.values(formats).find(({ ext }) => ext === name)?.ext
}
