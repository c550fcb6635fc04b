// Converts a layer's document to options of Leaflet.
import { attributionHtml } from '../source/attribution.js'

/**
 * @param {number} overzoom zooms beyond the last one in which tiles are enlarged
 * @param {{grid: import('../engine/store-link.js').Grid, shift: number}} [other] another grid than Web Mercator; shift:
 *   zoom of the map minus zoom of the layer, see zoomShift()
 * @returns {Record<string, any>}
 */
export function leafletOptions (doc, overzoom, other) {
  const { firstZoom = 0, lastZoom = 18 } = other?.grid ?? {}
  const { minzoom = firstZoom, maxzoom = lastZoom, bounds, tileSize = 256, attribution } = doc
  const shift = other?.shift ?? Math.log2(tileSize / 256) // a tile of 512 pixels covers four of Leaflet's next zoom
  return {
    minZoom: Math.max(0, minzoom + shift),
    maxNativeZoom: maxzoom + shift,
    maxZoom: maxzoom + shift + overzoom,
    zoomOffset: -shift,
    tileSize,
    // also when undefined: an earlier document may have had bounds. In other grids Leaflet would misplace them.
    bounds: bounds && !other ? corners(bounds) : undefined,
    attribution: attribution && attributionHtml(attribution)
  }
}

/** South-west and north-east; a box over the antimeridian continues beyond 180 degrees. */
export const corners = ([west, south, east, north]) => [[south, west], [north, east < west ? east + 360 : east]]
