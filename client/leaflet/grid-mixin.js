// A mixin of L.GridLayer that the couch layer and the history layer share: it turns the layer's document into options
// of Leaflet.
import L from './version.js'
import { MAX_ZOOM, TilecouchError, WEB_MERCATOR, isInRanges, tileRanges } from '../../core/index.js'
import { gridKey } from '../engine/store-link.js'
import { leafletOptions } from './layer-options.js'

/**
 * @typedef {import('../engine/store-link.js').LayerDocument} LayerDocument
 *
 * @typedef {Pick<import('../engine/history-engine.js').EngineEvents, 'layerload' | 'storeerror' | 'storeback'>}
 *   StoreEvents
 *
 * @typedef {object} TileEvents
 * @property {{}} loading
 * @property {{}} load
 * @property {{coords: L.Coords, tile: HTMLElement}} tileloadstart
 * @property {{coords: L.Coords, tile: HTMLElement}} tileload
 * @property {{coords: L.Coords, tile: HTMLElement}} tileunload
 * @property {{coords: L.Coords, tile: HTMLElement, error: Error}} tileerror a tile did not load; it is tried again by
 *   itself
 */

const prototype = /** @type {any} */ (L.GridLayer.prototype)

export const gridMixin = /** @type {ThisType<any>} */ ({
  // bounds over the antimeridian continue beyond 180 degrees: Leaflet wraps tiles, and would find none there
  _tileCoordsToBounds (coords) {
    const tile = prototype._tileCoordsToBounds.call(this, coords)
    if (!this.options.bounds) return tile
    const [west, east] = [tile.getWest() + 360, tile.getEast() + 360]
    return west < L.latLngBounds(this.options.bounds)
      .getEast() ? L.latLngBounds([tile.getSouth(), west], [tile.getNorth(), east]) : tile
  },

  // Leaflet knows neither the size of another grid nor the place of a box of degrees in it
  _isValidTile (coords) {
    if (!this._grid) return prototype._isValidTile.call(this, coords)
    const { x, y } = this._wrapCoords(coords)
    return isInRanges(this._rangesAt(coords.z + this.options.zoomOffset), x, y)
  },

  /** The parts of a zoom that have tiles; undefined for all of Web Mercator. */
  _rangesAt (z) {
    const { _grid: grid, _doc: doc, options } = this
    const isGiven = this._given.has('bounds') && options.bounds
    if (!grid) return doc?.bounds && !isGiven ? tileRanges(doc.bounds, z) : undefined
    const bounds = isGiven ? boxOf(L.latLngBounds(options.bounds)) : doc.bounds
    return (this._ranges[z] ??= bounds ? grid.ranges(bounds, z) : [grid.whole(z)])
  },

  /** Applies the layer's document, unless options of the caller win. Throws MAP_GRID on a map in another system. */
  _setLayer (doc, before, grid) {
    const { options, _map: map } = this
    let shift
    try {
      shift = doc ? zoomShift(map, doc, grid) : 0
    } finally {
      // the tiles are in the wrong places
      if (before && (shift !== this._shift || gridKey(doc) !== gridKey(before))) this._removeAllTiles()
    }
    this._shift = shift
    this._doc = doc
    this._grid = grid
    this._ranges = []
    this.title = doc?.name ?? options.layer
    const attribution = options.attribution
    const layerOptions = doc ? leafletOptions(doc, options.overzoom, grid && { grid, shift }) : {}
    // a map has no zooms for which its system has no resolution
    const hasResolution = zoom => Boolean(map.options.crs.scale(zoom))
    while (layerOptions.maxZoom > layerOptions.maxNativeZoom && !hasResolution(layerOptions.maxZoom)) {
      layerOptions.maxZoom--
    }
    for (const [option, value] of Object.entries(layerOptions)) {
      if (!this._given.has(option)) options[option] = value
    }
    if (options.attribution !== attribution) {
      map.attributionControl?.removeAttribution(attribution)
      map.attributionControl?.addAttribution(options.attribution)
    }
    map._addZoomLimit(this) // as L.GridLayer does when it is added
  }
})

/** @param {L.LatLngBounds} bounds @returns {import('../../core/grid.js').Bbox} */
const boxOf = bounds => [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()]

/**
 * The zoom of a map minus the zoom of a layer for the same tiles. Throws MAP_GRID if the tiles do not fit the map.
 * @param {any} map @param {import('../engine/store-link.js').LayerDocument} doc
 * @param {import('../engine/store-link.js').Grid} [grid] undefined for Web Mercator
 */
export function zoomShift ({ options: { crs: mapCrs } }, doc, grid) {
  const { layer, tileSize = 256, minzoom = grid?.firstZoom ?? 0, maxzoom = grid?.lastZoom } = doc
  const { id, crs } = grid ?? { id: WEB_MERCATOR, crs: 'EPSG:3857' }
  const fail = why => { throw new TilecouchError('MAP_GRID', { layer, grid: id, crs, why }) }
  if (!grid) {
    if (mapCrs.code && !['EPSG:3857', 'EPSG:900913'].includes(mapCrs.code)) fail(`is in ${mapCrs.code}`)
    return Math.log2(tileSize / 256) // a tile of 512 pixels covers four of Leaflet's next zoom
  }
  const isSameSystem = mapCrs.code === grid.crs || (grid.inDegrees && mapCrs.code === 'EPSG:4326')
  if (!isSameSystem) fail(`is in ${mapCrs.code ?? 'a system without a code'}`)
  const isAligned = (zoom, z) => {
    const { origin: [left, top], span: [width, height], columns, rows } = grid.matrix(z)
    const place = (x, y) => mapCrs.transformation.transform(L.point(x, y), mapCrs.scale(zoom))
    const [first, last] = [place(left, top), place(left + columns * width, top - rows * height)]
    return [first.x, first.y, last.x - columns * tileSize, last.y - rows * tileSize].every(off => Math.abs(off) < 1)
  }
  const zooms = Array.from({ length: MAX_ZOOM + 1 }, (_, zoom) => zoom)
  const shift = zooms.findIndex(zoom => isAligned(zoom, minzoom)) - minzoom
  const fault = zooms.slice(minzoom, /** @type {number} */ (maxzoom) + 1).find(z => !isAligned(z + shift, z))
  if (fault !== undefined) fail(`has other resolutions or another origin at zoom ${fault}`)
  grid.useProjection({
    forward ([lng, lat]) {
      const { x, y } = mapCrs.projection.project(L.latLng(lat, lng))
      return [x, y]
    },
    inverse ([x, y]) {
      const { lng, lat } = mapCrs.projection.unproject(L.point(x, y))
      return [lng, lat]
    }
  })
  return shift
}
