// Connects a layer with its store: reads its document, follows its changes and its tiles on the device, and reports
// whether the store answers. It knows no map library.
import { checkLayer, isInWebMercator } from '../../core/index.js'
import { CouchSource } from '../source/couch-source.js'
import { StoreHealth, followLayer } from '../source/follow.js'
import { retry } from '../source/wait.js'

const GATHER_TIME = 300 // milliseconds: a download changes hundreds of tiles, which are handled together

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
 * @property {string | object} [grid] Web Mercator unless it names another: see core/grids
 *
 * @typedef {import('../../core/grids/grid.js').Grid} Grid
 *
 * @typedef {object} LinkOptions
 * @property {string} layer
 * @property {boolean} live
 * @property {boolean} tilejson
 * @property {number} timeout
 * @property {RequestInit} fetchOptions
 * @property {import('../offline/offline-store.js').OfflineStore} [offline]
 * @property {'device' | 'network' | 'only'} read
 * @property {boolean} [newestOnly] with `offline`: past versions are not requested
 *
 * @typedef {object} LinkOwner the layer
 * @property {(type: string, about?: Record<string, any>) => void} fire
 * @property {boolean} [followsPast] follow versions that are loaded for a time in the past as well
 * @property {(doc: LayerDocument | null, before: LayerDocument | null, grid?: Grid) => void} setLayer called when its
 *   document was read or has changed; null: it is not read. grid: undefined for Web Mercator. Its errors are reported,
 *   and no tiles are requested then
 * @property {() => void} [onReady] called after `setLayer` and the event, and at every later start: tiles can be
 *   requested
 * @property {(isLate: boolean) => void} [onFollowing] called when the change feed has begun: later changes are not
 *   missed. isLate: earlier ones may be, because the layer was on a map before, or the feed failed at first
 * @property {(tiles: {z: number, x: number, y: number, rev: string, deleted: boolean}[]) => void} onTilesChanged
 * @property {() => void} [onDeviceChanged] with `offline`: tiles came to the device, changed there, or left it
 * @property {() => void} retry
 * @property {() => void} refresh
 */

/**
 * The key of the places of a layer's tiles. When it changes, the layer needs all tiles again.
 * @param {Partial<LayerDocument> | null} doc
 */
export const gridKey = doc => JSON.stringify([doc?.minzoom, doc?.maxzoom, doc?.bounds, doc?.tileSize, doc?.grid])

export class StoreLink {
  /** the layer's document, once it was read @type {LayerDocument | null} */
  doc = null
  /** Whether `setLayer` was called. */
  isReady = false
  /** Ends everything that runs while the layer is on a map. */
  stop = new AbortController()
  #options
  #owner
  #health
  #reading = new AbortController()
  #isProbing = false
  /** grid of the layer, unless it is Web Mercator @type {Grid | undefined} */
  #grid

  /**
   * @param {any} db an address, or a source; optional with `offline`, which has a store
   * @param {LinkOptions} options @param {LinkOwner} owner
   */
  constructor (db, options, owner) {
    checkLayer(options.layer)
    this.#options = options
    this.#owner = owner
    const { offline, read, layer, newestOnly } = options
    const couch = sourceOf(db, options)
    /** reads the tiles @type {any} */
    this.source = offline ? offline.source({ layer, read, couch, newestOnly }) : couch
    this.#health = new StoreHealth({
      onError: error => owner.fire('storeerror', { error }),
      onBack: () => {
        owner.fire('storeback')
        this.#onBack()
      }
    })
  }

  /** @returns {string} the title in the layer's document; until it was read, the layer's name */
  get title () {
    return this.doc?.name ?? this.#options.layer
  }

  /** Starts the link: the layer was put on a map. */
  start () {
    this.stop = new AbortController()
    const { signal } = this.stop
    const { tilejson, live, layer, offline } = this.#options
    let isLate = this.isReady
    if (this.isReady) this.#setLayer(this.doc) // it may be another map
    if (this.isReady) this.#owner.onReady?.() // it is drawn from memory: the store may be away
    if (tilejson) this.readLayer()
    else this.#setDocument(null)
    if (live) {
      const { onError, onBack } = this.reports('changes')
      followLayer(this.source, layer, {
        signal,
        past: this.#owner.followsPast,
        onStart: () => this.#owner.onFollowing?.(isLate),
        onChanges: changes => {
          if (changes.layer && tilejson) this.readLayer()
          if (changes.tiles.length) this.#owner.onTilesChanged(changes.tiles)
        },
        onError: error => {
          isLate = true
          onError(error)
        },
        onBack
      })
    }
    globalThis.addEventListener('online', () => this.#owner.retry(), { signal })
    if (offline) this.#followDevice(offline, signal)
  }

  end () {
    this.stop.abort()
    this.#reading.abort()
  }

  /** Listeners for a part that asks the store. @param {string} part */
  reports (part) {
    const onBack = () => {
      this.#health.ok(part)
      // tiles that still fail report it again; an answer of the device says nothing about the store
      if (!this.#options.offline || part === 'network' || part === 'changes') this.#health.ok('tiles')
    }
    return { onError: error => this.#health.fail(part, error), onBack }
  }

  /**
   * Asks the store until it answers; undefined if the layer was taken off the map before.
   * @template T
   * @param {string} part @param {(signal: AbortSignal) => Promise<T>} task @param {AbortSignal} [taskSignal]
   */
  async ask (part, task, taskSignal) {
    const signal = taskSignal ?? this.stop.signal
    const { onError, onBack } = this.reports(part)
    try {
      return await retry(() => task(signal), { signal, onError, onDone: onBack })
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** Reads the layer's document. */
  async readLayer () {
    this.#reading.abort()
    this.#reading = new AbortController()
    const ask = signal => this.source.layer(this.#options.layer, signal)
    const doc = await this.ask('layer', ask, this.#reading.signal)
    if (doc) this.#setDocument(doc)
  }

  /** A tile was loaded. */
  onTile () {
    this.#health.ok('tiles')
  }

  /**
   * A tile failed. If most tiles come from the device, no other request would notice that the store is back: ask until
   * it is.
   */
  async onTileTrouble (/** @type {any} */ error) {
    if (error.code !== 'UNREACHABLE') return
    this.#health.fail('tiles', error)
    if (this.#isProbing || !this.source.probe || this.stop.signal.aborted) return
    this.#isProbing = true
    await this.ask('network', signal => this.source.probe(signal))
    this.#isProbing = false
  }

  async #setDocument (doc) {
    const grid = !doc || isInWebMercator(doc) ? undefined : await this.#loadGrid(doc)
    if (grid === null) return
    const before = this.doc
    this.doc = doc
    this.#grid = grid
    this.#setLayer(before)
    if (!this.isReady) return
    if (doc) this.#owner.fire('layerload', { layer: doc })
    this.#owner.onReady?.()
  }

  /**
   * Loads the code of other grids, which most pages do not need.
   * @returns {Promise<Grid | null>} null: the grid is unknown, or the layer is off the map
   */
  async #loadGrid (doc) {
    try {
      const grids = await this.ask('code', () => import('../../core/grids/index.js'))
      return grids ? grids.gridOf(doc) : null
    } catch (error) {
      this.#refuse(error)
      return null
    }
  }

  /** The owner takes the layer's document, or says why its map cannot show the layer. */
  #setLayer (before) {
    try {
      this.#owner.setLayer(this.doc, before, this.#grid)
      this.isReady = true
      this.#health.ok('grid')
    } catch (error) {
      this.#refuse(error)
    }
  }

  #refuse (error) {
    if (!error.code) throw error
    this.isReady = false
    this.#health.fail('grid', error)
  }

  /** The store is back. */
  #onBack () {
    const { offline, read } = this.#options
    if (offline && read === 'network') this.#owner.refresh() // tiles of the device were shown
    this.#owner.retry()
  }

  /** Reads the device again when its tiles change, and asks the store when it is known to answer. */
  #followDevice (offline, signal) {
    let timer
    const readMissing = () => { if (!this.isReady && this.#options.tilejson) this.readLayer() }
    const onTiles = ({ layer }) => {
      if (layer !== undefined && layer !== this.#options.layer) return
      timer ??= setTimeout(() => {
        timer = undefined
        readMissing()
        this.#owner.onDeviceChanged?.()
      }, GATHER_TIME)
    }
    const onOnline = ({ online }) => {
      if (!online) return
      readMissing()
      const { isGood } = this.#health
      for (const part of ['network', 'tiles']) this.#health.ok(part)
      if (isGood || !this.#health.isGood) this.#onBack() // otherwise ok() reported it
    }
    offline.on('tiles', onTiles)
    offline.on('online', onOnline)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      offline.off('tiles', onTiles)
      offline.off('online', onOnline)
    }, { once: true })
  }
}

/** @param {any} db an address, or a source @param {LinkOptions} options */
function sourceOf (db, { timeout, fetchOptions, offline }) {
  if (offline && db == null) return undefined
  return db && typeof db === 'object' ? db : new CouchSource(db, { timeout, fetchOptions })
}
