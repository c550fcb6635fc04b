// The newest tiles, from plain attachment addresses: an L.TileLayer that knows its layer's document and can follow changes.
import L from 'leaflet'
import { tileId } from '../core/index.js'
import { HeadTiles } from './head-tiles.js'
import { TileView } from './history/tile-view.js'
import { storeMixin } from './source/store-mixin.js'

export const couchDefaults = {
  layer: undefined, // name of the layer in the store; required
  live: false, // follow the changes of the store, and fetch again those tiles on the screen that changed
  tilejson: true, // read the layer's document for zooms, bounds, tile size and attribution
  overzoom: 3, // zooms beyond the layer's last one in which its tiles are enlarged
  offline: undefined, // an OfflineStore, to read from the device as well
  read: 'device', // with `offline`: 'device' first, 'network' first, or 'only' the device
  timeout: 30000, // milliseconds until a request counts as unanswered
  fetchOptions: {} // for every request but those of images, as fetch takes them: credentials, headers, …
}

const prototype = /** @type {any} */ (L.TileLayer.prototype)
const grid = /** @type {any} */ (L.GridLayer.prototype)

/**
 * The newest tiles of a layer. What the layer document says (zooms, bounds, tile size, attribution) holds unless an option says otherwise.
 *
 * @event layerload {layer} the layer document is there
 * @event storeerror {error} the store does not answer, or not as it should; asked again until it does
 * @event storeback the store answers again
 */
export const CouchLayer = /** @type {new (db: any, options: any) => any} */ (/** @type {unknown} */ (L.TileLayer.extend(/** @type {ThisType<any>} */ ({
  includes: storeMixin,
  options: couchDefaults,

  initialize (db, options) {
    L.Util.setOptions(this, options)
    this._openStore(db, options)
    prototype.initialize.call(this, this._source.template(this.options.layer), options)
    this._revs = new Map() // id -> newest revision, of tiles that changed while this was on the map
    this._renewed = new WeakSet() // images that got another source
    this._turns = new WeakMap() // image -> the last attempt to give it one
    if (!this.options.offline) return
    this._items = new WeakMap() // element of a tile -> what is known of it
    this._heads = new HeadTiles(this._source.heads, {
      onLoad: ({ view, coords }) => this.fire('tileload', { tile: view.el, coords }),
      onError: (item, error) => this._onTileTrouble(error)
    })
  },

  onAdd (map) {
    prototype.onAdd.call(this, map)
    this._startStore()
  },

  onRemove (map) {
    this._stopStore()
    prototype.onRemove.call(this, map)
  },

  getTileUrl (coords) {
    const url = prototype.getTileUrl.call(this, coords)
    const rev = this._revs.get(this._idOf(coords))
    return rev ? `${url}?rev=${rev}` : url
  },

  /** With `offline`, a box around an image that is made of bytes, wherever they came from. */
  createTile (coords, done) {
    if (!this._heads) return prototype.createTile.call(this, coords, done)
    const view = new TileView()
    const item = { view, coords, z: this._getZoomForUrl(), x: coords.x, y: coords.y, ready: error => done(error, view.el) }
    this._items.set(view.el, item)
    this._heads.add(item)
    return view.el
  },

  /** Asks again for the tiles that did not come. */
  retry () {
    this._heads?.retry()
    if (this._heads) return this
    for (const { el, coords, loaded } of Object.values(this._tiles ?? {})) {
      if (loaded && !el.classList.contains('leaflet-tile-loaded')) this._renew(el, coords)
    }
    return this
  },

  /** Reads the layer document and all tiles again. */
  refresh () {
    if (!this._map) return this
    if (this.options.tilejson) this._readLayer()
    this._heads?.refresh(undefined, { fresh: true })
    if (!this._heads) for (const { el, coords } of Object.values(this._tiles)) this._renew(el, coords, { fresh: true })
    return this
  },

  _removeTile (key) {
    const { el } = this._tiles[key] ?? {}
    if (!this._heads || !el) return prototype._removeTile.call(this, key)
    this._heads.remove(this._items.get(el))
    grid._removeTile.call(this, key)
  },

  // of other zooms, as L.TileLayer does with images
  _abortLoading () {
    if (!this._heads) return prototype._abortLoading.call(this)
    for (const [key, { coords, loaded }] of Object.entries(this._tiles)) if (coords.z !== this._tileZoom && !loaded) this._removeTile(key)
  },

  _onDeviceChanged () {
    const { offline, layer } = this.options
    this._heads.look(tiles => offline.device.heads(layer, tiles))
  },

  _update (center) {
    if (this._isReady) prototype._update.call(this, center)
  },

  _idOf ({ x, y }) {
    return tileId(this.options.layer, this._getZoomForUrl(), x, y)
  },

  _onFollowing () {},

  _onTilesChanged (tiles) {
    const changed = new Set()
    for (const { z, x, y, rev, deleted } of tiles) {
      const id = tileId(this.options.layer, z, x, y)
      if (deleted) this._revs.delete(id)
      else this._revs.set(id, rev)
      changed.add(id)
    }
    if (this._heads) return this._heads.refresh(({ z, x, y }) => changed.has(tileId(this.options.layer, z, x, y)), { fresh: true })
    for (const { el, coords } of Object.values(this._tiles)) {
      if (coords.z === this._tileZoom && changed.has(this._idOf(this._wrapCoords(coords)))) this._renew(el, coords, { fresh: true })
    }
  },

  // the old image stays until the new one can be painted
  async _renew (el, coords, { fresh = false } = {}) {
    const url = this.getTileUrl(this._wrapCoords(coords))
    const image = new Image()
    const turn = {}
    this._turns.set(el, turn)
    if (this.options.crossOrigin !== false) image.crossOrigin = el.crossOrigin
    if (fresh && !/\?rev=/.test(url)) await fetch(url, { ...this.options.fetchOptions, cache: 'reload' }).catch(() => {})
    image.src = url
    const found = await image.decode().then(() => true, () => false)
    if (!el.isConnected || this._turns.get(el) !== turn) return
    this._renewed.add(el)
    if (!found) el.classList.remove('leaflet-tile-loaded')
    el.src = found ? url : L.Util.emptyImageUrl
  },

  // a new source is no new tile, which Leaflet would fade in
  _tileReady (coords, error, tile) {
    if (!tile || !this._renewed.has(tile)) return prototype._tileReady.call(this, coords, error, tile)
    if (error || tile.getAttribute('src') === L.Util.emptyImageUrl) return
    tile.classList.add('leaflet-tile-loaded')
    this.fire('tileload', { tile, coords })
  }
}))))

/**
 * @param {string} db address of the database
 * @param {object} options
 */
export const couchLayer = (db, options) => new CouchLayer(db, options)
