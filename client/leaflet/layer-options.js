// Converts a layer's document to options of Leaflet.
import { gridOf } from '../../core/index.js'
import { attributionHtml } from '../source/attribution.js'

/**
 * @param {number} overzoom zooms beyond the last one in which tiles are enlarged
 * @param {number} [shift] how many zooms those of the map are above those of the layer: see crs.js
 * @returns {Record<string, any>}
 */
export function leafletOptions (doc, overzoom, shift) {
  const { tileSize = 256, bounds, attribution } = doc
  const { isWebMercator, firstZoom, lastZoom } = gridOf(doc)
  const { minzoom = firstZoom, maxzoom = isWebMercator ? 18 : lastZoom } = doc
  const above = shift ?? Math.log2(tileSize / 256)
  return {
    minZoom: Math.max(0, minzoom + above),
    maxNativeZoom: maxzoom + above,
    maxZoom: maxzoom + above + overzoom,
    zoomOffset: -above,
    tileSize,
    // also when undefined: an earlier document may have had bounds. In other grids Leaflet would misplace them.
    bounds: bounds && isWebMercator ? corners(bounds) : undefined,
    attribution: attribution && attributionHtml(attribution)
  }
}

/** South-west and north-east; a box over the antimeridian continues beyond 180 degrees. */
export const corners = ([west, south, east, north]) => [[south, west], [north, east < west ? east + 360 : east]]
