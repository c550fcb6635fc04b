// The newest tiles, from plain attachment addresses: an L.TileLayer that knows its layer's document and can follow changes.
import L from 'leaflet'
import { tileId } from '../core/index.js'
import { storeMixin } from './source/store-mixin.js'

export const couchDefaults = {
  layer: undefined, // name of the layer in the store; required
  live: false, // follow the changes of the store, and fetch again those tiles on the screen that changed
  tilejson: true, // read the layer's document for zooms, bounds, tile size and attribution
  overzoom: 3, // zooms beyond the layer's last one in which its tiles are enlarged
  timeout: 30000, // milliseconds until a request counts as unanswered
  fetchOptions: {} // for every request but those of images, as fetch takes them: credentials, headers, …
}

const prototype = /** @type {any} */ (L.TileLayer.prototype)

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

  /** Asks again for the tiles that did not come. */
  retry () {
    for (const { el, coords, loaded } of Object.values(this._tiles ?? {})) {
      if (loaded && !el.classList.contains('leaflet-tile-loaded')) this._renew(el, coords)
    }
    return this
  },

  /** Reads the layer document and all tiles again. */
  refresh () {
    if (!this._map) return this
    if (this.options.tilejson) this._readLayer()
    for (const { el, coords } of Object.values(this._tiles)) this._renew(el, coords, { fresh: true })
    return this
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
