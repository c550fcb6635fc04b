// Makes the coordinate system of a Leaflet map for a grid other than Web Mercator.
import L from './version.js'
import { gridOf } from '../../core/grids/index.js'

/**
 * The coordinate system of a map for layers in a grid: `L.map('map', { crs: crs('LV95') })`. Zooms are those of the
 * layers, and half as large beyond the last one. Systems that do not count degrees need proj4js.
 * @param {string | {grid?: string | object, tileSize?: number}} grid its name, or the document of a layer
 * @returns {L.CRS}
 */
export function crs (grid) {
  const layerGrid = gridOf(typeof grid === 'string' ? { grid } : grid)
  if (layerGrid.isWebMercator) return L.CRS.EPSG3857
  const { firstZoom, lastZoom, matrices, box: [left, bottom, right, top] } = layerGrid
  const { origin } = matrices[0]
  const { R, distance } = /** @type {any} */ (L.CRS.Earth)
  layerGrid.toLonLat(origin) // throws now rather than later, if there is no proj4js
  const scaleAt = zoom => {
    const inside = Math.min(Math.max(zoom, firstZoom), lastZoom)
    return 2 ** (zoom - inside) / layerGrid.matrix(inside).cellSize
  }
  const fraction = (from, to, value) => Math.log(value / from) / Math.log(to / from)
  return /** @type {any} */ ({
    ...L.CRS,
    code: layerGrid.crs,
    R,
    distance,
    projection: {
      project: ({ lat, lng }) => L.point(layerGrid.toCrs([lng, lat])),
      unproject ({ x, y }) {
        const [lng, lat] = layerGrid.toLonLat([x, y])
        return L.latLng(lat, lng)
      },
      bounds: L.bounds([left, bottom], [right, top])
    },
    transformation: L.transformation(1, -origin[0], -1, origin[1]),
    ...(layerGrid.inDegrees && right - left >= 360 && { wrapLng: [-180, 180] }),
    scale (zoom) {
      const whole = Math.floor(zoom)
      return scaleAt(whole) * (scaleAt(whole + 1) / scaleAt(whole)) ** (zoom - whole)
    },
    zoom (scale) {
      let whole = firstZoom
      while (whole < lastZoom && scaleAt(whole + 1) <= scale) whole++
      return whole + fraction(scaleAt(whole), scaleAt(whole + 1), scale)
    }
  })
}
