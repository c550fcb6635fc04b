// Web Mercator as a grid: the arithmetic of grid.js, which needs no projection.
import { MAX_LATITUDE, checkTile, tileAt, tileBounds, tileRanges } from '../grid.js'
import { Grid } from './grid.js'

const RADIUS = 6378137 // metres

export class WebMercatorGrid extends Grid {
  constructor (parts) {
    super(parts)
    this.isWebMercator = true
  }

  check (z, x, y) {
    return checkTile(z, x, y)
  }

  ranges (bbox, z) {
    return tileRanges(bbox, z)
  }

  tileBounds (z, x, y) {
    return tileBounds(z, x, y)
  }

  rangeBounds (z, { x0, y0, x1, y1 }) {
    const [west, , , north] = tileBounds(z, x0, y0)
    const [, south, east] = tileBounds(z, x1, y1)
    return /** @type {import('../grid.js').Bbox} */ ([west, south, east, north])
  }

  tileAt (lon, lat, z) {
    return tileAt(lon, lat, z)
  }

  /** @returns {import('../grid.js').Bbox} */
  get reach () {
    return [-180, -MAX_LATITUDE, 180, MAX_LATITUDE]
  }

  toCrs ([lon, lat]) {
    const y = Math.log(Math.tan(Math.PI / 4 + lat * Math.PI / 360)) * RADIUS
    return /** @type {[number, number]} */ ([lon * Math.PI / 180 * RADIUS, y])
  }

  toLonLat ([x, y]) {
    const lat = (2 * Math.atan(Math.exp(y / RADIUS)) - Math.PI / 2) * 180 / Math.PI
    return /** @type {[number, number]} */ ([x / RADIUS * 180 / Math.PI, lat])
  }
}
