// What the couch layer and the history layer share, as a mixin of L.GridLayer: the layer's document becomes options of
// Leaflet.
import L from './version.js'
import { tileRanges } from '../../core/index.js'
import { zoomShift } from './zoom-shift.js'
import { leafletOptions } from './layer-options.js'

/**
 * @typedef {import('../engine/store-link.js').LayerDocument} LayerDocument
 *
 * @typedef {object} StoreEvents
 * @property {{layer: LayerDocument}} layerload the layer's document was read
 * @property {{error: TilecouchError}} storeerror the store does not answer, or not as it should; it is asked until it
 *   does
 * @property {{}} storeback the store answers again
 *
 * @typedef {object} TileEvents
 * @property {{}} loading
 * @property {{}} load
 * @property {{coords: L.Coords, tile: HTMLElement}} tileloadstart
 * @property {{coords: L.Coords, tile: HTMLElement}} tileload
 * @property {{coords: L.Coords, tile: HTMLElement}} tileunload
 * @property {{coords: L.Coords, tile: HTMLElement, error: Error}} tileerror a tile did not load; it is tried again by
 *   itself
 * @typedef {import('../../core/index.js').TilecouchError} TilecouchError
 */

const prototype = /** @type {any} */ (L.GridLayer.prototype)

export const gridMixin = /** @type {ThisType<any>} */ ({
  // bounds over the antimeridian go on beyond 180 degrees, where Leaflet, which wraps tiles, would not find any
  _tileCoordsToBounds (coords) {
    const tile = prototype._tileCoordsToBounds.call(this, coords)
    if (!this.options.bounds) return tile
    const [west, east] = [tile.getWest() + 360, tile.getEast() + 360]
    return west < L.latLngBounds(this.options.bounds)
      .getEast() ? L.latLngBounds([tile.getSouth(), west], [tile.getNorth(), east]) : tile
  },

  // of another grid, Leaflet knows neither its size nor how a box of degrees lies in it
  _isValidTile (coords) {
    if (!this._grid) return prototype._isValidTile.call(this, coords)
    const { x, y } = this._wrapCoords(coords)
    return this._rangesAt(coords.z + this.options.zoomOffset)
      .some(({ x0, x1, y0, y1 }) => x0 <= x && x <= x1 && y0 <= y && y <= y1)
  },

  /** The parts of a zoom that have tiles; nothing for all of Web Mercator. */
  _rangesAt (z) {
    const { _grid: grid, _doc: doc, options } = this
    const isGiven = this._given.has('bounds') && options.bounds
    if (!grid) return doc?.bounds && !isGiven ? tileRanges(doc.bounds, z) : undefined
    const bounds = isGiven ? boxOf(L.latLngBounds(options.bounds)) : doc.bounds
    return (this._ranges[z] ??= bounds ? grid.ranges(bounds, z) : [grid.whole(z)])
  },

  /** The layer's document holds unless an option says otherwise. Throws MAP_GRID on a map in another system. */
  _setLayer (doc, before, grid) {
    const { options, _map: map } = this
    let shift
    try {
      shift = doc ? zoomShift(map, doc, grid) : 0
    } finally {
      // those that are in the wrong places
      if (before && (shift !== this._shift || placesOf(doc) !== placesOf(before))) this._removeAllTiles()
    }
    this._shift = shift
    this._doc = doc
    this._grid = grid
    this._ranges = []
    this.title = doc?.name ?? options.layer
    const attribution = options.attribution
    const own = doc ? leafletOptions(doc, options.overzoom, grid && { grid, shift }) : {}
    // a map has no zooms beyond those that its system has resolutions for
    while (own.maxZoom > own.maxNativeZoom && !map.options.crs.scale(own.maxZoom)) own.maxZoom--
    for (const [option, value] of Object.entries(own)) {
      if (!this._given.has(option)) options[option] = value
    }
    if (options.attribution !== attribution) {
      map.attributionControl?.removeAttribution(attribution)
      map.attributionControl?.addAttribution(options.attribution)
    }
    map._addZoomLimit(this) // as L.GridLayer does before it knows better
  }
})

const placesOf = ({ minzoom, maxzoom, bounds, tileSize, grid }) =>
  JSON.stringify([minzoom, maxzoom, bounds, tileSize, grid])

/** @param {L.LatLngBounds} bounds @returns {import('../../core/grid.js').Bbox} */
const boxOf = bounds => [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()]
