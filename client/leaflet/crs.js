// Maps of Leaflet in other coordinate systems than Web Mercator: makes the system of a map for the grid of a layer, and
// finds the zooms of a layer on a map whose system the page made itself, with Proj4Leaflet or without.
import L from './version.js'
import { TilecouchError, gridOf, registerProjection } from '../../core/index.js'

const HIGHEST = 30 // zoom of a map

/**
 * The coordinate system of a map for layers in a grid: `L.map('map', { crs: crs('LV95') })`. Zooms are those of the
 * layers, and half as large beyond the last one. Systems that do not count degrees need proj4js.
 * @param {string | {grid?: string | object, tileSize?: number}} grid its name, or the document of a layer
 * @returns {L.CRS}
 */
export function crs (grid) {
  const found = gridOf(typeof grid === 'string' ? { grid } : grid)
  if (found.isWebMercator) return L.CRS.EPSG3857
  const { firstZoom, lastZoom, matrices, box: [left, bottom, right, top] } = found
  const { origin } = matrices[0]
  const { R, distance } = /** @type {any} */ (L.CRS.Earth)
  found.toLonLat(origin) // now rather than later, where there is no proj4js
  const at = zoom => {
    const inside = Math.min(Math.max(zoom, firstZoom), lastZoom)
    return 2 ** (zoom - inside) / found.matrix(inside).cellSize
  }
  const part = (from, to, value) => Math.log(value / from) / Math.log(to / from)
  return /** @type {any} */ ({
    ...L.CRS,
    code: found.crs,
    R,
    distance,
    projection: {
      project: ({ lat, lng }) => L.point(found.toCrs([lng, lat])),
      unproject ({ x, y }) {
        const [lng, lat] = found.toLonLat([x, y])
        return L.latLng(lat, lng)
      },
      bounds: L.bounds([left, bottom], [right, top])
    },
    transformation: L.transformation(1, -origin[0], -1, origin[1]),
    ...(found.inDegrees && right - left >= 360 && { wrapLng: [-180, 180] }),
    scale (zoom) {
      const whole = Math.floor(zoom)
      return at(whole) * (at(whole + 1) / at(whole)) ** (zoom - whole)
    },
    zoom (scale) {
      let whole = firstZoom
      while (whole < lastZoom && at(whole + 1) <= scale) whole++
      return whole + part(at(whole), at(whole + 1), scale)
    }
  })
}

/**
 * How many zooms those of a map are above those of a layer. Throws MAP_GRID if its tiles are elsewhere on this map.
 * @param {any} map @param {import('../engine/store-link.js').LayerDocument} doc
 */
export function zoomShift ({ options: { crs: own } }, doc) {
  const grid = gridOf(doc)
  const { layer, tileSize = 256, minzoom = grid.firstZoom, maxzoom = grid.lastZoom } = doc
  const fail = why => { throw new TilecouchError('MAP_GRID', { layer, grid: grid.id, crs: grid.crs, why }) }
  if (grid.isWebMercator) {
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
  const fault = zooms.slice(minzoom, maxzoom + 1).find(z => !fits(z + shift, z))
  if (fault !== undefined) fail(`has other resolutions or another origin at zoom ${fault}`)
  registerProjection(grid.crs, {
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
