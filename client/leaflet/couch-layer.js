// The newest tiles, from plain attachment addresses: an L.TileLayer that knows its layer's document and can follow
// changes. With `offline` a time engine draws it, like a history layer that always shows the newest versions.
import L from './version.js'
import { tileId } from '../../core/index.js'
import { engineTiles, startEngine } from './engine-tiles.js'
import { forward } from '../engine/layer-methods.js'
import { StoreLink } from '../engine/store-link.js'
import { isPassing } from '../source/failure.js'
import { gridMixin } from './grid-mixin.js'

export const couchDefaults = {
  /** @type {string | undefined} name of the layer in the store; required */
  layer: undefined,
  /** follow the changes of the store, and fetch changed tiles again */
  live: false,
  /** read the layer's document for zooms, bounds, tile size and attribution */
  tilejson: true,
  /** how many zooms beyond the layer's last one show enlarged tiles */
  overzoom: 3,
  /** @type {OfflineStore | undefined} an OfflineStore, to read from the device as well */
  offline: undefined,
  /** @type {'device' | 'network' | 'only'} with `offline`: 'device' first, 'network' first, or 'only' the device */
  read: 'device',
  /** milliseconds until a request counts as unanswered */
  timeout: 30000,
  /** @type {RequestInit} for every request but those of images, as fetch takes them: credentials, headers, … */
  fetchOptions: {}
}

/**
 * @typedef {import('../engine/clock.js').Time} Time
 * @typedef {import('../offline/offline-store.js').OfflineStore} OfflineStore
 * @typedef {Omit<Partial<typeof couchDefaults>, 'layer'> & {layer: string} & L.TileLayerOptions} CouchLayerOptions
 * @typedef {import('./grid-mixin.js').StoreEvents & import('./grid-mixin.js').TileEvents}
 *   CouchLayerEvents
 */

/**
 * @type {import('./leaflet.js').Base<L.TileLayer, typeof couchDefaults & {layer: string} & L.TileLayerOptions,
 *   CouchLayerEvents, typeof L.TileLayer>}
 */
const Base = /** @type {any} */ (L.TileLayer.extend({ includes: gridMixin, options: couchDefaults }))

/**
 * The newest tiles of a layer. Zooms, bounds, tile size and attribution come from the layer document, unless an
 * option sets them.
 */
export class CouchLayer extends Base {
  /** @param {string} db address of the database @param {CouchLayerOptions} options */
  constructor (db, options) {
    super('', options)
    /** title in the layer document; until it was read, the name of the layer @type {string} */
    this.title = options?.layer
    this._given = new Set(Object.keys(options ?? {})) // options of the caller win over the document
    this._revs = new Map() // id -> newest revision, of tiles that changed while this was on the map
    this._renewed = new WeakSet() // images whose source was replaced
    this._turns = new WeakMap() // image -> the last attempt to replace its source
    /** The time engine with `offline`, else a StoreLink. @type {any} */
    this._link = this.options.offline ? this._startEngine(db) : this._startLink(db)
    this.setUrl(this._link.source.template(this.options.layer), true)
  }

  _startEngine (db) {
    Object.assign(this, engineTiles)
    forward(this, '_engine', ['retry', 'refresh'])
    return startEngine(this, db, { ...this.options, newestOnly: true })
  }

  _startLink (db) {
    this.on('tileerror', this._onTileTrouble)
    return new StoreLink(db, this.options, {
      fire: (type, about) => this.fire(type, about),
      setLayer: (doc, before, grid) => this._setLayer(doc, before, grid),
      onReady: () => { if (this._map) this._resetView() },
      onFollowing: isLate => { if (isLate) this.refresh() },
      onTilesChanged: tiles => this._onTilesChanged(tiles),
      retry: () => this.retry(),
      refresh: () => this.refresh()
    })
  }

  onAdd (map) {
    super.onAdd(map)
    this._link.start()
    return this
  }

  onRemove (map) {
    this._link.end()
    this._revs.clear() // later changes are missed
    super.onRemove(map)
    return this
  }

  getTileUrl (coords) {
    const url = super.getTileUrl(coords)
    const rev = this._revs.get(this._idOf(coords))
    return rev ? `${url}?rev=${rev}` : url
  }

  /** Requests failed tiles again. */
  retry () {
    for (const { el, coords, loaded } of Object.values(this._tiles ?? {})) {
      if (loaded && !el.classList.contains('leaflet-tile-loaded')) this._renew(el, coords)
    }
    return this
  }

  /** Reads the layer document and all tiles again. */
  refresh () {
    if (!this._map) return this
    if (this.options.tilejson) this._link.readLayer()
    for (const { el, coords } of Object.values(this._tiles)) this._renew(el, coords, { fresh: true })
    return this
  }

  _update (center) {
    if (this._link.isReady) super._update(center)
  }

  _idOf ({ x, y }) {
    return tileId(this.options.layer, this._getZoomForUrl(), x, y)
  }

  // a tile failed, and perhaps no other request would notice that the store is back: ask until it answers
  async _onTileTrouble () {
    if (this._isProbing || !this._map) return
    this._isProbing = true
    await this._link.ask('tiles', async signal => {
      try {
        await this._link.source.layer(this.options.layer, signal)
      } catch (error) {
        if (isPassing(error)) throw error // a refusal is an answer, too
      }
    })
    this._isProbing = false
  }

  _onTilesChanged (tiles) {
    const changed = new Set()
    for (const { z, x, y, rev, deleted } of tiles) {
      const id = tileId(this.options.layer, z, x, y)
      if (deleted) this._revs.delete(id)
      else this._revs.set(id, rev)
      changed.add(id)
    }
    for (const { el, coords } of Object.values(this._tiles)) {
      if (coords.z === this._tileZoom && changed.has(this._idOf(this._wrapCoords(coords)))) {
        this._renew(el, coords, { fresh: true })
      }
    }
  }

  // the old image stays until the new one can be painted
  async _renew (el, coords, { fresh = false } = {}) {
    const url = this.getTileUrl(this._wrapCoords(coords))
    const image = new Image()
    const turn = {}
    this._turns.set(el, turn)
    if (this.options.crossOrigin !== false) image.crossOrigin = el.crossOrigin
    const isStale = fresh && !/\?rev=/.test(url)
    if (isStale) await fetch(url, { ...this.options.fetchOptions, cache: 'reload' }).catch(() => {})
    image.src = url
    const isDecoded = await image.decode().then(() => true, () => false)
    if (!el.isConnected || this._turns.get(el) !== turn) return
    this._renewed.add(el)
    if (!isDecoded) {
      el.classList.remove('leaflet-tile-loaded')
      this._onTileTrouble()
    }
    el.src = isDecoded ? url : L.Util.emptyImageUrl
  }

  // an image with a new source is no new tile: Leaflet must not fade it in
  _tileReady (coords, error, tile) {
    if (!tile || !this._renewed.has(tile)) return super._tileReady(coords, error, tile)
    if (error || tile.getAttribute('src') === L.Util.emptyImageUrl) return
    tile.classList.add('leaflet-tile-loaded')
    this.fire('tileload', { tile, coords })
  }
}

/** @param {string} db address of the database @param {CouchLayerOptions} options */
export const couchLayer = (db, options) => new CouchLayer(db, options)
