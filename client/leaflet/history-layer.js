// A Leaflet layer that shows any time of a layer's past: the time engine, drawn with Leaflet's tiles.
import L from './version.js'
import { tileAt } from '../../core/index.js'
import { engineDefaults } from '../engine/history-engine.js'
import { tileWithVersions, withHistoryMethods } from '../engine/layer-methods.js'
import { engineTiles, startEngine } from './engine-tiles.js'
import { gridMixin } from './grid-mixin.js'

export const historyDefaults = engineDefaults

/**
 * @typedef {import('../engine/clock.js').Clock} Clock
 * @typedef {import('../engine/clock.js').Time} Time
 * @typedef {import('../engine/clock.js').ExactTime} ExactTime
 * @typedef {import('../engine/history-engine.js').EngineEvents} EngineEvents
 * @typedef {import('../engine/history-methods.js').HistoryMethods} HistoryMethods
 * @typedef {import('../source/couch-source.js').Version} Version
 * @typedef {import('../engine/history-engine.js').EngineOptions & L.GridLayerOptions} HistoryLayerOptions
 *
 * @typedef {Pick<EngineEvents, 'timechange' | 'timeload' | 'changes' | 'extent'> &
 *   import('./grid-mixin.js').StoreEvents & import('./grid-mixin.js').TileEvents} HistoryLayerEvents
 */

/**
 * @type {import('./leaflet.js').Base<L.GridLayer & HistoryMethods, typeof historyDefaults & {layer: string} &
 *   L.GridLayerOptions, HistoryLayerEvents, typeof L.GridLayer>}
 */
const Base = /* @__PURE__ */ withHistoryMethods(
  L.GridLayer.extend({ includes: [gridMixin, engineTiles], options: historyDefaults })
)

/**
 * The map as it was: every tile as of the clock's time.
 */
export class HistoryLayer extends Base {
  /** @param {string} db address of the database @param {HistoryLayerOptions} options */
  constructor (db, options) {
    super(options)
    this._given = new Set(Object.keys(options ?? {})) // options of the caller win over the document
    /** its time engine @readonly */
    this.history = startEngine(this, db, this.options)
    /** title in the layer document; until it was read, the name of the layer @type {string} */
    this.title = this.history.title
    /** the option `clock`, or its own clock @readonly @type {Clock} */
    this.clock = this.history.clock
  }

  /**
   * The images of the view at a time, with their places in pixels of the map, to draw them elsewhere. Call
   * `preload([time])` first.
   * @param {ExactTime | null} time
   * @returns {{left: number, top: number, size: number, image: Blob | undefined, up: number, dx: number, dy: number}[]}
   *   up: the tile shows one of 2^up columns and rows of the image, dx and dy
   */
  pictures (time) {
    const { _map: map, _tileZoom: zoom } = this
    if (!map || zoom === undefined) return []
    const scale = map.getZoomScale(map.getZoom(), zoom)
    const origin = /** @type {L.Point} */ (map.getPixelBounds().min)
    const { x: size } = this.getTileSize()
    const pictures = []
    for (const { el, coords, current } of Object.values(this._tiles)) {
      const picture = current && coords.z === zoom ? this.history.pictureAt(this._items.get(el), time) : null
      if (!picture) continue
      const { version, up, dx, dy } = picture
      const [left, top] = [coords.x * size * scale - origin.x, coords.y * size * scale - origin.y]
      pictures.push({ left, top, size: size * scale, image: this.history.images.peek(version), up, dx, dy })
    }
    return pictures
  }

  /**
   * The tile at a place, with its versions.
   * @param {L.LatLngExpression} place
   * @returns {{z: number, x: number, y: number, versions: Version[], shown: Version | null} | null}
   */
  tileAt (place) {
    if (!this._map || this._tileZoom === undefined) return null
    const { lat, lng } = this._map.wrapLatLng(L.latLng(place))
    const tile = this._grid?.tileAt(lng, lat, this._zoom()) ?? tileAt(lng, lat, this._zoom())
    return tileWithVersions(this.history, tile)
  }
}

/** @param {string} db address of the database @param {HistoryLayerOptions} options */
export const historyLayer = (db, options) => new HistoryLayer(db, options)
