// Makes the addresses of requests to an upstream: of a tile from a template, or of a GetMap request.
import { formats } from './formats.js'
import { quadkey } from './grid.js'
import { gridOf } from './grids/index.js'
import { fillTemplate } from './upstream.js'

const BIG_TILE = 512 // pixels a side from which {r} asks for the double resolution

/**
 * @param {import('./upstream.js').UpstreamSettings} settings
 * @param {{z: number, x: number, y: number}} tile
 * @param {number} tileSize pixels a side
 * @param {import('./grids/grid.js').Grid} [grid] of the tiles
 */
export function tileAddress (settings, { z, x, y }, tileSize, grid = gridOf()) {
  const { type, url, subdomains = [] } = settings
  const south = grid.flipY(z, y)
  const values = {
    z: () => z,
    x: () => x,
    y: () => type === 'tms' ? south : y,
    '-y': () => south,
    quadkey: () => quadkey(z, x, y),
    // always the same server for a tile, so that its cache and ETag can be used
    s: () => subdomains[(x + y) % subdomains.length],
    r: () => tileSize >= BIG_TILE ? '@2x' : '',
    tilematrix: () => encode(matrixName(settings.matrix, z, grid)),
    tilecol: () => x,
    tilerow: () => y,
    tilematrixset: () => encode(settings.matrixSet),
    style: () => encode(settings.styles),
    layer: () => encode(settings.layers)
  }
  return fillTemplate(url, name => Object.hasOwn(values, name) ? String(values[name]()) : undefined)
}

/** The name of the matrix of a zoom on the server. */
const matrixName = (/** @type {string | Record<string, string>} */ matrix = '{z}', z, grid) =>
  typeof matrix === 'string' ? matrix.replaceAll('{z}', grid.matrix(z).id) : matrix[z]

const encode = (text = '') => encodeURIComponent(text)

// GetMap requests. Version 1.1.1 wants corners with the easting first; 1.3.0 wants them in the order of the axes of the
// coordinate system, so that EPSG:4326 has the latitude first.

/**
 * @typedef {{z: number, left: number, top: number, width: number, height: number}} Rectangle pixels, from the
 * north-western corner of the grid
 */

/**
 * @param {import('./upstream.js').UpstreamSettings} settings
 * @param {Rectangle} rectangle
 * @param {number} tileSize pixels a side
 * @param {import('./grids/grid.js').Grid} [grid]
 */
export function getMapAddress (settings, { z, left, top, width, height }, tileSize, grid = gridOf()) {
  const { origin, span } = grid.matrix(z)
  const [west, east] = [left, left + width].map(x => origin[0] + x * span[0] / tileSize)
  const [south, north] = [top + height, top].map(y => origin[1] - y * span[1] / tileSize)
  const isVersion130 = settings.version === '1.3.0'
  const isTurned = isVersion130 && (grid.inDegrees ? settings.srs === 'EPSG:4326' : grid.northingFirst)
  const corners = isTurned ? [south, west, north, east] : [west, south, east, north]
  const hasExceptions = Object.keys(settings.params ?? {}).some(name => /^exceptions$/i.test(name))
  const params = {
    SERVICE: 'WMS',
    VERSION: settings.version,
    REQUEST: 'GetMap',
    LAYERS: settings.layers,
    STYLES: settings.styles,
    [isVersion130 ? 'CRS' : 'SRS']: settings.srs,
    BBOX: corners.map(plain).join(','),
    WIDTH: width,
    HEIGHT: height,
    FORMAT: settings.format,
    TRANSPARENT: settings.transparent ? 'TRUE' : 'FALSE',
    ...(!hasExceptions && { EXCEPTIONS: isVersion130 ? 'XML' : 'application/vnd.ogc.se_xml' }),
    ...settings.params
  }
  const pairs = Object.entries(params).map(([name, value]) => `${encodeURIComponent(name)}=${readable(value)}`)
  const separator = /[?&]$/.test(settings.url) ? '' : '&'
  return settings.url + (settings.url.includes('?') ? separator : '?') + pairs.join('&')
}

// keeps commas, colons and slashes readable
const readable = value => encodeURIComponent(value).replace(/%(2C|3A|2F)/g, decodeURIComponent)

/** A number without an exponent, which servers do not read. */
const plain = value => value.toFixed(8).replace(/\.?0+$/, '').replace(/^-0$/, '0')

/** The error text in a ServiceException of any version; undefined if there is none. */
export function exceptionText (text) {
  const exception = /<(?:\w+:)?ServiceException(?=[\s>])(?:[^>]*?\scode="([^"]*)")?[^>]*>([\s\S]*?)<\//
  const [, code, message] = exception.exec(text) ?? []
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
