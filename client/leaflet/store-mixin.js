// What the couch layer and the history layer share, as a Leaflet mixin: read the layer's document and apply it, follow
// changes, and report when the store stops answering and when it answers again.
import L from 'leaflet'
import { checkLayer } from '../../core/index.js'
import { CouchSource } from '../source/couch-source.js'
import { StoreHealth, followLayer } from '../source/follow.js'
import { leafletOptions } from './layer-options.js'
import { retry } from '../source/wait.js'

const GATHER_TIME = 300 // milliseconds: a download changes hundreds of tiles, and they are looked at together

/**
 * @typedef {object} LayerDocument TileJSON 3.0 fields, and the store's own
 * @property {string} layer
 * @property {string} [name]
 * @property {string} [description]
 * @property {string} [attribution]
 * @property {number} [minzoom]
 * @property {number} [maxzoom]
 * @property {[number, number, number, number]} [bounds] west, south, east, north in degrees
 * @property {[number, number, number]} [center] longitude, latitude, zoom
 * @property {string} [format]
 * @property {number} [tileSize]
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

export const storeMixin = /** @type {ThisType<any>} */ ({
  /**
   * @param {any} db an address, or a source; need not be named with `offline`, whose store is asked then
   * @param {Record<string, any>} [options]
   */
  _openStore (db, options = {}) {
    checkLayer(options.layer)
    this._given = new Set(Object.keys(options)) // what the caller decided stays
    const { timeout, fetchOptions, offline, read, layer } = this.options
    const couch = db && typeof db === 'object' ? db : offline && db == null ? undefined : new CouchSource(db, { timeout, fetchOptions })
    this._source = offline ? offline.source({ layer, read, couch }) : couch
    this._isReady = false
    this._health = new StoreHealth({
      onError: error => this.fire('storeerror', { error }),
      onBack: () => {
        this.fire('storeback')
        this._onBack()
      }
    })
  },

  /** The store is back. */
  _onBack () {
    if (this.options.offline && this.options.read === 'network') this.refresh() // what was shown was the device's
    else this.retry()
  },

  _startStore () {
    this._stop = new AbortController()
    const { signal } = this._stop
    if (this.options.tilejson) this._readLayer()
    else this._takeLayer(null)
    if (this.options.live) {
      followLayer(this._source, this.options.layer, {
        signal,
        past: this._followsPast,
        onStart: () => this._onFollowing(),
        onChanges: changes => {
          if (changes.layer && this.options.tilejson) this._readLayer()
          if (changes.tiles.length) this._onTilesChanged(changes.tiles)
        },
        ...this._reports('changes')
      })
    }
    globalThis.addEventListener('online', () => this.retry(), { signal })
    if (this.options.offline) this._followDevice(this.options.offline, signal)
  },

  /**
   * Looks again at what the device has when that changes, and asks the store when it is known to answer.
   * @this {any}
   */
  _followDevice (offline, signal) {
    let timer
    const onTiles = ({ layer }) => {
      if (layer !== undefined && layer !== this.options.layer) return
      timer ??= setTimeout(() => {
        timer = undefined
        if (!this._isReady && this.options.tilejson) this._readLayer()
        this._onDeviceChanged()
      }, GATHER_TIME)
    }
    const onOnline = ({ online }) => {
      if (!online) return
      if (!this._isReady && this.options.tilejson) this._readLayer()
      const { isGood } = this._health
      for (const part of ['network', 'tiles']) this._health.ok(part)
      if (isGood || !this._health.isGood) this._onBack() // else it was reported
    }
    offline.on('tiles', onTiles)
    offline.on('online', onOnline)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      offline.off('tiles', onTiles)
      offline.off('online', onOnline)
    }, { once: true })
  },

  /**
   * A tile failed. If most tiles come from the device, no other request would notice that the store is back: ask until
   * it is.
   */
  async _onTileTrouble (/** @type {any} */ error) {
    if (error.code !== 'UNREACHABLE') return
    this._health.fail('tiles', error)
    if (this._isAwaiting || !this._source.probe || this._stop.signal.aborted) return
    this._isAwaiting = true
    await this._ask('network', signal => this._source.probe(signal))
    this._isAwaiting = false
  },

  _stopStore () {
    this._stop?.abort()
  },

  /** Listeners for a part that asks the store. */
  _reports (part) {
    const onBack = () => {
      this._health.ok(part)
      // if they still fail they will say so again; what the device answers says nothing of the store
      if (!this.options.offline || part === 'network' || part === 'changes') this._health.ok('tiles')
    }
    return { onError: error => this._health.fail(part, error), onBack }
  },

  /**
   * Asks the store until it answers; undefined when this was removed from the map before.
   * @param {(signal: AbortSignal) => Promise<any>} task
   */
  async _ask (part, task, own) {
    const signal = own ?? this._stop.signal
    const { onError, onBack } = this._reports(part)
    try {
      return await retry(() => task(signal), { signal, onError, onDone: onBack })
    } catch (error) {
      if (!signal.aborted) throw error
    }
  },

  async _readLayer () {
    this._reading?.abort()
    const reading = this._reading = new AbortController()
    const doc = await this._ask('layer', signal => this._source.layer(this.options.layer, signal), AbortSignal.any([this._stop.signal, reading.signal]))
    if (doc) this._takeLayer(doc)
  },

  // bounds over the antimeridian go on beyond 180 degrees, where Leaflet, which wraps tiles, would not find any
  _tileCoordsToBounds (coords) {
    const tile = prototype._tileCoordsToBounds.call(this, coords)
    if (!this.options.bounds) return tile
    const [west, east] = [tile.getWest() + 360, tile.getEast() + 360]
    return west < L.latLngBounds(this.options.bounds)
      .getEast() ? L.latLngBounds([tile.getSouth(), west], [tile.getNorth(), east]) : tile
  },

  _takeLayer (doc) {
    const { options, _map: map } = this
    if (this._doc && gridOf(doc) !== gridOf(this._doc)) this._removeAllTiles() // they are in the wrong places
    this._doc = doc
    this.title = doc?.name ?? options.layer
    const before = options.attribution
    for (const [option, value] of Object.entries(doc ? leafletOptions(doc, options.overzoom) : {})) {
      if (!this._given.has(option)) options[option] = value
    }
    if (options.attribution !== before) {
      map.attributionControl?.removeAttribution(before)
      map.attributionControl?.addAttribution(options.attribution)
    }
    map._addZoomLimit(this) // as L.GridLayer does before it knows better
    this._isReady = true
    if (doc) this.fire('layerload', { layer: doc })
    if (this._map) this._resetView()
  }
})

const gridOf = ({ minzoom, maxzoom, bounds, tileSize }) => JSON.stringify([minzoom, maxzoom, bounds, tileSize])
