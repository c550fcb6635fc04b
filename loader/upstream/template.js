// The address of one tile, from a template.
import { flipY, quadkey } from '../../core/index.js'
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
    // the same server for the same tile each time, so that its cache and its ETag hold
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
