// Tiles of a Leaflet layer that a time engine draws: of the history layer and, with `offline`, of the couch layer.
import L from './version.js'
import { HistoryEngine } from '../engine/history-engine.js'
import { LAYER_EVENTS } from '../engine/layer-methods.js'
import { viewColumns } from '../engine/resolve.js'
import { TileView, decodeImage } from './tile-view.js'

const prototype = /** @type {any} */ (L.GridLayer.prototype)

/**
 * Makes the time engine of a layer that has the methods of engineTiles. The layer fires the engine's events.
 * @param {any} layer @param {string} db address of the database
 * @param {import('../engine/history-engine.js').EngineOptions & {newestOnly?: boolean}} options see LinkOptions
 */
export function startEngine (layer, db, options) {
  const engine = new HistoryEngine(db, options, {
    decode: decodeImage,
    setLayer: (doc, before, grid) => layer._setLayer(doc, before, grid),
    onReady: () => { if (layer._map) layer._resetView() },
    onTime: () => layer._dropTiles()
  })
  engine.on(LAYER_EVENTS, (/** @type {any} */ { type, ...fields }) => layer.fire(type, fields))
  engine.on('tileload', (/** @type {any} */ { tile, isFirst }) => {
    if (!isFirst) layer.fire('tileload', { tile: tile.view.el, coords: tile.coords })
  })
  engine.on('tileerror', (/** @type {any} */ { tile, error, isFirst }) => {
    if (!isFirst) return layer.fire('tileerror', { coords: tile.coords, tile: tile.view.el, error })
    tile.view.el.classList.add('leaflet-tile-loaded') // the mark of a failed tile must be visible
  })
  layer._items = new WeakMap() // element of a tile -> tile of the engine
  layer._engine = engine
  return engine
}

export const engineTiles = /** @type {ThisType<any>} */ ({
  onAdd (map) {
    prototype.onAdd.call(this, map)
    this._engine.start()
    return this
  },

  onRemove (map) {
    this._engine.stop()
    prototype.onRemove.call(this, map)
    return this
  },

  createTile (coords, done) {
    const view = new TileView()
    const item = { view, coords, z: this._zoom(), x: coords.x, y: coords.y, ready: error => done(error, view.el) }
    this._items.set(view.el, item)
    this._engine.add(item)
    return view.el
  },

  _zoom () {
    return this._tileZoom + (this.options.zoomOffset ?? 0)
  },

  _update (center) {
    if (!this._engine.isReady) return
    prototype._update.call(this, center)
    if (!this._map || this._tileZoom === undefined) return this._showColumns([])
    const range = this._pxBoundsToTileRange(this._getTiledPixelBounds(center ?? this._map.getCenter()))
    const wraps = !this._grid || Boolean(this._wrapX)
    this._showColumns(viewColumns(range, this._zoom(), this._rangesAt(this._zoom()), wraps))
  },

  _showColumns (columns) {
    this._engine.setView(columns, () => this._dropTiles())
  },

  // drops tiles that Leaflet keeps outside the view, and that would show another time or never load
  _dropTiles () {
    for (const [key, { el }] of Object.entries(this._tiles)) {
      const item = this._items.get(el)
      if (item.z === this._zoom() && !this._engine.isInView(item) && !this._engine.isRight(item)) this._removeTile(key)
    }
  },

  _removeTile (key) {
    const item = this._items.get(this._tiles[key]?.el)
    if (item) this._engine.remove(item)
    prototype._removeTile.call(this, key)
  },

  _abortLoading () {}
})
