// What both layers do with a store, as a Leaflet mixin (`includes`): read the layer's document and live by it, follow
// changes, and tell when the store stops answering and when it is back.
import L from 'leaflet'
import { checkLayer } from '../../core/index.js'
import { CouchSource } from './couch-source.js'
import { follow } from './follow.js'
import { Health } from './health.js'
import { leafletOptions } from './layer-options.js'
import { persist } from './patience.js'

const prototype = /** @type {any} */ (L.GridLayer.prototype)

export const storeMixin = /** @type {ThisType<any>} */ ({
  /**
   * @param {string | CouchSource} db
   * @param {Record<string, any>} [options]
   */
  _openStore (db, options = {}) {
    checkLayer(options.layer)
    this._given = new Set(Object.keys(options)) // what the caller decided stays
    const { timeout, fetchOptions } = this.options
    this._source = db && typeof db === 'object' ? db : new CouchSource(db, { timeout, fetchOptions })
    this._isReady = false
    this.title = options.layer
    this._health = new Health({
      onError: error => this.fire('storeerror', { error }),
      onBack: () => {
        this.fire('storeback')
        this.retry()
      }
    })
  },

  _startStore () {
    this._stop = new AbortController()
    const { signal } = this._stop
    if (this.options.tilejson) this._readLayer()
    else this._takeLayer(null)
    if (this.options.live) {
      follow(this._source, this.options.layer, {
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
  },

  _stopStore () {
    this._stop?.abort()
  },

  /** How something that asks the store tells how it went. */
  _reports (who) {
    const onBack = () => {
      this._health.ok(who)
      this._health.ok('tiles') // if they still fail they will say so again
    }
    return { onError: error => this._health.fail(who, error), onBack }
  },

  /**
   * Asks the store until it answers; undefined when this was removed from the map before.
   * @param {string} who @param {(signal: AbortSignal) => Promise<any>} task
   */
  async _ask (who, task) {
    const { signal } = this._stop
    const { onError, onBack } = this._reports(who)
    try {
      return await persist(() => task(signal), { signal, onError, onDone: onBack })
    } catch (error) {
      if (!signal.aborted) throw error
    }
  },

  async _readLayer () {
    const doc = await this._ask('layer', signal => this._source.layer(this.options.layer, signal))
    if (doc) this._takeLayer(doc)
  },

  // bounds over the antimeridian go on beyond 180 degrees, where Leaflet, which wraps tiles, would not find any
  _tileCoordsToBounds (coords) {
    const tile = prototype._tileCoordsToBounds.call(this, coords)
    if (!this.options.bounds) return tile
    const [west, east] = [tile.getWest() + 360, tile.getEast() + 360]
    return west < L.latLngBounds(this.options.bounds).getEast() ? L.latLngBounds([tile.getSouth(), west], [tile.getNorth(), east]) : tile
  },

  _takeLayer (doc) {
    const { options, _map: map } = this
    if (this._doc && gridOf(doc) !== gridOf(this._doc)) this._removeAllTiles() // they stand in the wrong places
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
