// A Leaflet layer that shows any time of a layer's past: the time engine, drawn with Leaflet's tiles.
import L from './version.js'
import { tileAt } from '../../core/index.js'
import { HistoryEngine, engineDefaults } from '../engine/history-engine.js'
import { LAYER_EVENTS, withHistoryMethods } from '../engine/layer-methods.js'
import { viewColumns } from '../engine/resolve.js'
import { gridMixin } from './grid-mixin.js'
import { TileView, decodeImage } from './tile-view.js'

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
const Base =
  /* @__PURE__ */ withHistoryMethods(L.GridLayer.extend({ includes: gridMixin, options: historyDefaults }))

/**
 * The map as it was: every tile as of the clock's time.
 */
export class HistoryLayer extends Base {
  /** @param {string} db address of the database @param {HistoryLayerOptions} options */
  constructor (db, options) {
    super(options)
    this._given = new Set(Object.keys(options ?? {})) // what the caller decided stays
    /** its time engine @readonly */
    this.history = new HistoryEngine(db, this.options, {
      decode: decodeImage,
      setLayer: (doc, before, grid) => this._setLayer(doc, before, grid),
      onReady: () => { if (this._map) this._resetView() },
      onTime: () => this._dropTiles()
    })
    /** title in the layer document; until it was read, the name of the layer @type {string} */
    this.title = this.history.title
    /** the option `clock`, or its own clock @readonly @type {Clock} */
    this.clock = this.history.clock
    this._items = new WeakMap() // element of a tile -> tile of the engine
    this.history.on(LAYER_EVENTS, (/** @type {any} */ { type, ...about }) => this.fire(type, about))
    this.history.on('tileload', (/** @type {any} */ { tile, isFirst }) => {
      if (!isFirst) this.fire('tileload', { tile: tile.view.el, coords: tile.coords })
    })
    this.history.on('tileerror', (/** @type {any} */ { tile, error, isFirst }) => {
      if (!isFirst) return this.fire('tileerror', { coords: tile.coords, tile: tile.view.el, error })
      tile.view.el.classList.add('leaflet-tile-loaded') // the mark of a failed tile has to be seen
    })
  }

  onAdd (map) {
    super.onAdd(map)
    this.history.start()
    return this
  }

  onRemove (map) {
    this.history.stop()
    super.onRemove(map)
    return this
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
    const found = []
    for (const { el, coords, current } of Object.values(this._tiles)) {
      const picture = current && coords.z === zoom ? this.history.pictureAt(this._items.get(el), time) : null
      if (!picture) continue
      const { version, up, dx, dy } = picture
      const [left, top] = [coords.x * size * scale - origin.x, coords.y * size * scale - origin.y]
      found.push({ left, top, size: size * scale, image: this.history.images.peek(version), up, dx, dy })
    }
    return found
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
    const { z, x, y } = tile
    return { ...tile, versions: this.history.versionsAt(z, x, y), shown: this.history.shownAt(z, x, y) }
  }

  createTile (coords, done) {
    const view = new TileView()
    const item = { view, coords, z: this._zoom(), x: coords.x, y: coords.y, ready: error => done(error, view.el) }
    this._items.set(view.el, item)
    this.history.add(item)
    return view.el
  }

  _zoom () {
    return this._tileZoom + (this.options.zoomOffset ?? 0)
  }

  _update (center) {
    if (!this.history.isReady) return
    super._update(center)
    if (!this._map || this._tileZoom === undefined) return this._showColumns([])
    const range = this._pxBoundsToTileRange(this._getTiledPixelBounds(center ?? this._map.getCenter()))
    const wraps = !this._grid || Boolean(this._wrapX)
    this._showColumns(viewColumns(range, this._zoom(), this._rangesAt(this._zoom()), wraps))
  }

  _showColumns (columns) {
    this.history.setView(columns, () => this._dropTiles())
  }

  // tiles that Leaflet keeps beside the view for later, and that would be wrong or never finished
  _dropTiles () {
    for (const [key, { el }] of Object.entries(this._tiles)) {
      const item = this._items.get(el)
      if (item.z === this._zoom() && !this.history.isInView(item) && !this.history.isRight(item)) this._removeTile(key)
    }
  }

  _removeTile (key) {
    const item = this._items.get(this._tiles[key]?.el)
    if (item) this.history.remove(item)
    super._removeTile(key)
  }
}

/** @param {string} db address of the database @param {HistoryLayerOptions} options */
export const historyLayer = (db, options) => new HistoryLayer(db, options)
