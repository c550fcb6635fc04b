// GetMap requests. Both versions want the corners of Web Mercator in the same order, easting first: only geographic
// coordinates are turned round in 1.3.0.

const HALF_WORLD = 20037508.342789244 // metres from the middle of Web Mercator to its edge

/** @typedef {{z: number, left: number, top: number, width: number, height: number}} Rectangle pixels, from the north-western corner of the world */

/**
 * @param {import('../../core/upstream.js').UpstreamSettings} settings
 * @param {Rectangle} rectangle
 * @param {number} tileSize pixels a side
 */
export function getMapAddress (settings, { z, left, top, width, height }, tileSize) {
  const metres = 2 * HALF_WORLD / (tileSize * 2 ** z) // of a pixel
  const bbox = [left * metres - HALF_WORLD, HALF_WORLD - (top + height) * metres, (left + width) * metres - HALF_WORLD, HALF_WORLD - top * metres]
  const modern = settings.version === '1.3.0'
  const own = Object.keys(settings.params ?? {}).some(name => /^exceptions$/i.test(name))
  const params = {
    SERVICE: 'WMS',
    VERSION: settings.version,
    REQUEST: 'GetMap',
    LAYERS: settings.layers,
    STYLES: settings.styles,
    [modern ? 'CRS' : 'SRS']: settings.srs,
    BBOX: bbox.map(plain).join(','),
    WIDTH: width,
    HEIGHT: height,
    FORMAT: settings.format,
    TRANSPARENT: settings.transparent ? 'TRUE' : 'FALSE',
    ...(!own && { EXCEPTIONS: modern ? 'XML' : 'application/vnd.ogc.se_xml' }),
    ...settings.params
  }
  const query = Object.entries(params).map(([name, value]) => `${encodeURIComponent(name)}=${encode(value)}`).join('&')
  return settings.url + (!settings.url.includes('?') ? '?' : /[?&]$/.test(settings.url) ? '' : '&') + query
}

// what stands between numbers and names stays readable
const encode = value => encodeURIComponent(value).replace(/%(2C|3A|2F)/g, decodeURIComponent)

/** A number without an exponent, to the micrometre and shorter: servers read no 1e-7. */
const plain = value => value.toFixed(8).replace(/\.?0+$/, '').replace(/^-0$/, '0')

/** What a server says went wrong, from a ServiceException of any version. */
export function exceptionText (text) {
  const [, code, message] = /<(?:\w+:)?ServiceException(?=[\s>])(?:[^>]*?\scode="([^"]*)")?[^>]*>([\s\S]*?)<\//.exec(text) ?? []
  if (message === undefined) return undefined
  const said = message.replace(/<!\[CDATA\[|\]\]>/g, '').replace(/\s+/g, ' ').trim().slice(0, 200)
  return [code, said].filter(Boolean).join(': ')
}
