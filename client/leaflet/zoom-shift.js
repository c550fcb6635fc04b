// Finds the zooms of a layer on a map of Leaflet. Its coordinate system may be of crs.js, of Leaflet or the page's own.
import L from './version.js'
import { TilecouchError } from '../../core/errors.js'

const HIGHEST = 30 // zoom of a map

/**
 * How many zooms those of a map are above those of a layer. Throws MAP_GRID if its tiles are elsewhere on this map.
 * @param {any} map @param {import('../engine/store-link.js').LayerDocument} doc
 * @param {import('../engine/store-link.js').Grid} [grid] none for Web Mercator
 */
export function zoomShift ({ options: { crs: own } }, doc, grid) {
  const { layer, tileSize = 256, minzoom = grid?.firstZoom ?? 0, maxzoom = grid?.lastZoom } = doc
  const { id, crs } = grid ?? { id: 'WebMercatorQuad', crs: 'EPSG:3857' }
  const fail = why => { throw new TilecouchError('MAP_GRID', { layer, grid: id, crs, why }) }
  if (!grid) {
    if (own.code && !['EPSG:3857', 'EPSG:900913'].includes(own.code)) fail(`is in ${own.code}`)
    return Math.log2(tileSize / 256) // a tile of 512 pixels covers four of Leaflet's next zoom
  }
  if (own.code !== grid.crs && !(grid.inDegrees && own.code === 'EPSG:4326')) fail(`is in ${own.code ?? 'a system without a code'}`)
  const fits = (zoom, z) => {
    const { origin: [left, top], span: [width, height], columns, rows } = grid.matrix(z)
    const place = (x, y) => own.transformation.transform(L.point(x, y), own.scale(zoom))
    const [first, last] = [place(left, top), place(left + columns * width, top - rows * height)]
    return [first.x, first.y, last.x - columns * tileSize, last.y - rows * tileSize].every(off => Math.abs(off) < 1)
  }
  const zooms = Array.from({ length: HIGHEST + 1 }, (_, zoom) => zoom)
  const shift = zooms.findIndex(zoom => fits(zoom, minzoom)) - minzoom
  const fault = zooms.slice(minzoom, /** @type {number} */ (maxzoom) + 1).find(z => !fits(z + shift, z))
  if (fault !== undefined) fail(`has other resolutions or another origin at zoom ${fault}`)
  grid.useProjection({
    forward ([lng, lat]) {
      const { x, y } = own.projection.project(L.latLng(lat, lng))
      return [x, y]
    },
    inverse ([x, y]) {
      const { lng, lat } = own.projection.unproject(L.point(x, y))
      return [lng, lat]
    }
  })
  return shift
}
