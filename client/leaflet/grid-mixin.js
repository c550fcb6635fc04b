// What the couch layer and the history layer share, as a mixin of L.GridLayer: the layer's document becomes options of
// Leaflet.
import L from './version.js'
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

  /** The layer's document holds unless an option says otherwise. */
  _setLayer (doc, before) {
    const { options, _map: map } = this
    if (before && gridOf(doc) !== gridOf(before)) this._removeAllTiles() // they are in the wrong places
    this.title = doc?.name ?? options.layer
    const attribution = options.attribution
    for (const [option, value] of Object.entries(doc ? leafletOptions(doc, options.overzoom) : {})) {
      if (!this._given.has(option)) options[option] = value
    }
    if (options.attribution !== attribution) {
      map.attributionControl?.removeAttribution(attribution)
      map.attributionControl?.addAttribution(options.attribution)
    }
    map._addZoomLimit(this) // as L.GridLayer does before it knows better
  }
})

const gridOf = ({ minzoom, maxzoom, bounds, tileSize }) => JSON.stringify([minzoom, maxzoom, bounds, tileSize])
