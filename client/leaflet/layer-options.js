// Converts a layer's document to options of Leaflet.
import { attributionHtml } from '../source/attribution.js'

/** @param {number} overzoom zooms beyond the last one in which tiles are enlarged @returns {Record<string, any>} */
export function leafletOptions (doc, overzoom) {
  const { minzoom = 0, maxzoom = 18, bounds, tileSize = 256, attribution } = doc
  const shift = Math.log2(tileSize / 256) // a tile of 512 pixels covers four of Leaflet's next zoom
  return {
    minZoom: Math.max(0, minzoom + shift),
    maxNativeZoom: maxzoom + shift,
    maxZoom: maxzoom + shift + overzoom,
    zoomOffset: -shift,
    tileSize,
    // also when undefined: an earlier document may have had bounds
    bounds: bounds && corners(bounds),
    attribution: attribution && attributionHtml(attribution)
  }
}

/** South-west and north-east; a box over the antimeridian continues beyond 180 degrees. */
export const corners = ([west, south, east, north]) => [[south, west], [north, east < west ? east + 360 : east]]
