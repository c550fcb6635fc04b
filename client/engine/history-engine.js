// The time engine. It decides which version each tile in view shows at any time, without flicker. It joins these parts:
// StoreLink asks the store, VersionIndex holds the known versions, IndexLoader fills it, ImageCache holds the images,
// Scene decides what each tile shows. It knows no map library: the map library gives it a surface to draw on.
import { Clock } from './clock.js'
import { Emitter } from './emitter.js'
import { ImageCache } from './image-cache.js'
import { IndexLoader } from './index-loader.js'
import { Preloader } from './preloader.js'
import { ancestors, isInColumns, resolve } from './resolve.js'
import { Scene } from './scene.js'
import { StoreLink } from './store-link.js'
import { VersionIndex } from './version-index.js'
import { ignoring } from '../../core/promises.js'
import { afterFree, withSignals } from '../source/wait.js'

const FEED_TIME = 200 // milliseconds that the first read of the index waits for the change feed to begin

export const engineDefaults = {
  /** @type {string | undefined} name of the layer in the store; required */
  layer: undefined,
  /**
   * @type {Time | null | undefined} first time of the clock: a Date, an ISO text (a part such as '2024-03' means its
   * end), or null for the newest
   */
  time: undefined,
  /** @type {Clock | undefined} a clock that other layers share; default: its own */
  clock: undefined,
  /** follow the changes of the store: new versions appear by themselves */
  live: false,
  /** milliseconds in which a tile fades into its next version */
  fade: 0,
  /** milliseconds for which tiles of a step wait for slower ones, to change together */
  together: 400,
  /** changes before and after the present time that are fetched in advance */
  preload: 2,
  /** most bytes that are fetched in advance at a time */
  preloadSize: 4 * 1024 * 1024,
  /** bytes of images kept */
  cacheSize: 64 * 1024 * 1024,
  /** entries of the version index kept */
  versions: 200000,
  /** images fetched at the same time */
  requests: 6,
  /** attempts to fetch an image until `tileerror`; it is tried again later */
  attempts: 3,
  /** how many zooms beyond the layer's last one, or where tiles are missing, show enlarged tiles */
  overzoom: 3,
  /** read the layer's document for zooms, bounds, tile size and attribution */
  tilejson: true,
  /** milliseconds until a request counts as unanswered */
  timeout: 30000,
  /** @type {OfflineStore | undefined} an OfflineStore, to read from the device as well */
  offline: undefined,
  /** @type {'device' | 'network' | 'only'} with `offline`: 'device' first, 'network' first, or 'only' the device */
  read: 'device',
  /** @type {RequestInit} for every request, as fetch takes them: credentials, headers, … */
  fetchOptions: {}
}

/**
 * @typedef {import('./clock.js').Time} Time
 * @typedef {import('./clock.js').ExactTime} ExactTime
 * @typedef {import('./resolve.js').Picture} Picture
 * @typedef {import('./scene.js').Item} Item
 * @typedef {import('./version-index.js').Change} Change
 * @typedef {import('./store-link.js').LayerDocument} LayerDocument
 * @typedef {import('../offline/offline-store.js').OfflineStore} OfflineStore
 * @typedef {import('../source/couch-source.js').Column} Column
 * @typedef {Omit<Partial<typeof engineDefaults>, 'layer'> & {layer: string}} EngineOptions
 *
 * @typedef {object} Surface operations of a map library for the engine
 * @property {(image: Blob, picture: Picture, tile: Item) => Promise<any>} decode makes an image that can be painted in
 *   the next frame; it rejects if the blob is damaged
 * @property {(doc: LayerDocument | null, before: LayerDocument | null, grid?: import('./store-link.js').Grid) => void}
 *   setLayer called when the layer's document was read or has changed: zooms, bounds, tile size, attribution; null:
 *   `tilejson` is false; grid: undefined for Web Mercator. It throws if its map cannot show the layer
 * @property {() => void} [onReady] called after `setLayer` and the event, and at every later start: tiles can be
 *   requested
 * @property {() => void} [onTime] called before tiles change: it must drop tiles out of view that are of another time
 * @property {() => void} [paint] called when some tiles have got another image, or none: repaints them in one frame
 * @property {boolean} [drawsVectors] false: vector tiles are indexed, and not drawn
 *
 * @typedef {object} EngineEvents
 * @property {{time: ExactTime | null}} timechange the clock moved
 * @property {{time: ExactTime | null}} timeload every tile in view shows this time
 * @property {{changes: Change[] | null}} changes the times at which the present view changed are known; null while they
 *   are not
 * @property {{first?: ExactTime, last?: ExactTime}} extent the first and last time of the whole layer
 * @property {{layer: LayerDocument}} layerload the layer's document was read
 * @property {{error: import('../../core/index.js').TilecouchError}} storeerror the store does not answer, or not as it
 *   should; it is asked until it does
 * @property {{}} storeback the store answers again
 * @property {{}} loading a tile was added that shows nothing yet
 * @property {{tile: Item}} tileload
 * @property {{tile: Item, error: Error}} tileerror a tile did not load; it is tried again by itself
 * @property {{}} add it is on a map
 * @property {{}} remove it is on no map any more
 */

/** @extends {Emitter<EngineEvents>} */
export class HistoryEngine extends Emitter {
  isOnMap = false
  #surface
  #link
  #loader
  #preloader
  #scene
  /** @type {Column[]} */
  #columns = []
  /** @type {{first: string, last: string} | null} */
  #extent = null
  /** @type {ExactTime | null} the time that the tiles show */
  #time = null
  /** @type {{columns: Column[], generation: number, list: Change[]} | null} */
  #changes = null
  /** @type {Change[] | null} */
  #reportedChanges = null
  #lacksTiles = false
  /** undefined for Web Mercator @type {import('./store-link.js').Grid | undefined} */
  #grid
  /** ends the wait for the change feed; undefined while there is no wait @type {(() => void) | undefined} */
  #endFeedWait

  /** @param {any} db address of the database, or a source @param {EngineOptions} options @param {Surface} surface */
  constructor (db, options, surface) {
    super()
    /** @type {typeof engineDefaults & {layer: string}} */
    this.options = isComplete(options) ? options : { ...engineDefaults, ...options }
    this.#surface = surface
    this.#link = new StoreLink(db, this.options, {
      fire: (type, about) => this.fire(type, about),
      followsPast: true,
      setLayer: (doc, before, grid) => surface.setLayer(doc, before, this.#grid = grid),
      onReady: () => surface.onReady?.(),
      onFollowing: () => this.#onFollowing(),
      onTilesChanged: tiles => this.#onTilesChanged(tiles),
      onDeviceChanged: () => this.#onDeviceChanged(),
      retry: () => this.retry(),
      refresh: () => this.refresh()
    })
    /** the option `clock`, or its own clock @readonly @type {Clock} */
    this.clock = this.options.clock ?? new Clock()
    if (this.options.time !== undefined) this.clock.setTime(this.options.time)
    /** the known versions @readonly */
    this.index = new VersionIndex({ limit: this.options.versions })
    this.#loader = new IndexLoader(this.source, this.options.layer, this.index, {
      onKnown: () => this.#onKnown(), ...this.#link.reports('index')
    })
    /** the images of versions @readonly */
    this.images = new ImageCache(this.source, this.options)
    this.#preloader = new Preloader(this.images, times => this.#neededAt(times), this.options)
    this.#scene = new Scene(this.images, {
      resolve: tile => this.pictureAt(tile, this.getTime()),
      // during a step, the tiles of the previous zoom count as well, until others cover them
      isCurrent: item => this.isStepping || this.isInView(item),
      decode: surface.decode
    }, this.options, {
      onShown: () => {
        this.fire('timeload', { time: this.getTime() })
        this.#preloader.run(this.changes() ?? [], this.getTime())
      },
      onPaint: () => surface.paint?.(),
      onMissing: () => this.#onMissing(),
      onOutdated: ({ picture }) => { if (picture) this.#onTilesChanged([picture.version]) },
      onError: (item, error, isFirst) => {
        this.#link.onTileTrouble(error)
        if (isFirst) item.ready(error)
        this.fire('tileerror', { tile: item, error, isFirst })
      },
      onLoad: (item, isFirst) => {
        if (item.picture && !item.isFromDevice) this.#link.onTile()
        if (isFirst) item.ready()
        this.fire('tileload', { tile: item, isFirst })
      }
    })
  }

  /** @returns {any} the source that reads the tiles */
  get source () {
    return this.#link.source
  }

  /** @returns {LayerDocument | null} the layer's document, once it was read */
  get doc () {
    return this.#link.doc
  }

  /** @returns {string} the title in the layer's document; until it was read, the layer's name */
  get title () {
    return this.#link.title
  }

  /** @returns {boolean} whether tiles can be requested: the layer's document was read */
  get isReady () {
    return this.#link.isReady
  }

  /** Starts the engine: the layer was put on a map. */
  start () {
    this.isOnMap = true
    this.#time = this.getTime()
    this.clock.on('timechange', this.#onTime)
    if (this.options.live && !this.options.offline) this.#endFeedWait = afterFree(FEED_TIME, () => this.#stopFeedWait())
    this.#link.start()
    this.#readExtent()
    this.fire('add')
  }

  /** Stops the engine: the layer was taken off its map. All requests end, and all tiles are forgotten. */
  stop () {
    this.isOnMap = false
    this.clock.off('timechange', this.#onTime)
    this.#endFeedWait = void this.#endFeedWait?.()
    this.#link.end()
    this.#loader.stop()
    if (this.options.live) this.index.expireAll() // later changes are missed
    this.#preloader.drop()
    this.#scene.close()
    this.#columns = []
    this.fire('remove')
  }

  /**
   * Sets the columns in view.
   * @param {Column[]} columns
   * @param {() => void} [onView] called before tiles change: it may drop the tiles that left the view
   */
  setView (columns, onView) {
    // maps update more often than the view changes
    if (JSON.stringify(columns) !== JSON.stringify(this.#columns)) this.#columns = columns
    onView?.()
    this.#requestIndex()
    this.#onKnown()
  }

  /** Adds a tile that the map shows. @param {Item} tile */
  add (tile) {
    this.#scene.add(tile)
    this.fire('loading')
  }

  /** @param {Item} tile */
  remove (tile) {
    this.#scene.remove(tile)
  }

  /** @param {{z: number, x: number, y: number}} tile */
  isInView (tile) {
    return isInColumns(this.#columns, tile.z, tile.x, tile.y)
  }

  /** Whether a tile shows the version of the present time. @param {Item} tile */
  isRight (tile) {
    return this.#scene.isRight(tile)
  }

  /** @returns {ExactTime | null} the time of the clock; null is the newest */
  getTime () {
    return this.clock.getTime()
  }

  /** Moves the clock and all of its layers. An invalid time throws BAD_TIME. @param {Time | null} time */
  setTime (time) {
    this.clock.setTime(time)
    return this
  }

  /** @returns {Change[] | null} the times at which the present view changed, oldest first; null while unknown */
  changes () {
    if (!this.isOnMap || !this.isReady || !this.index.covers(this.#columns)) return null
    const { generation } = this.index
    if (this.#changes?.columns !== this.#columns || this.#changes.generation !== generation) {
      this.#changes = { columns: this.#columns, generation, list: this.index.changes(this.#columns) }
    }
    return this.#changes.list
  }

  /** @returns {{first: ExactTime, last: ExactTime} | null} times of the layer; null while unknown, or without tiles */
  extent () {
    return this.#extent
  }

  /** @returns {boolean} whether every tile in view shows the clock's time, or has failed */
  isShown () {
    return this.isReady && (!this.isOnMap || this.#time === this.getTime()) && this.#scene.isShown
  }

  /** Whether the clock moved, and tiles in view still show an earlier time. */
  get isStepping () {
    return this.#scene.isStepping
  }

  /**
   * The tiles in view that differ between two times.
   * @param {ExactTime | null} from @param {ExactTime | null} to as a clock has them
   */
  changedTiles (from, to) {
    return this.index.changedTiles(this.#columns, from, to)
  }

  /** How often each tile in view changed after its first version; null while unknown. */
  changesByTile () {
    return this.changes() && this.index.changesByTile(this.#columns)
  }

  /**
   * @param {{z: number, x: number, y: number}} tile @param {ExactTime | null} time
   * @returns {Picture | null | undefined} the picture that it shows then; null: none; undefined: it is not known
   */
  pictureAt (tile, time) {
    if (this.doc?.format === 'pbf' && !this.#surface.drawsVectors) return null
    return resolve(this.index, tile, time, this.ancestry())
  }

  /** The zooms in which an ancestor's image is searched for a tile without one. */
  ancestry () {
    const { overzoom } = this.options
    const hasParts = this.doc?.format !== 'pbf' && this.#grid?.isQuad !== false // four tiles of the next zoom cover it
    const most = hasParts ? Math.max(overzoom, this.source.limits?.enlarged ?? 0) : 0
    return { overzoom: most, minzoom: this.doc?.minzoom ?? 0 }
  }

  /**
   * Fetches the images of the view at these times in the background.
   * @param {(ExactTime | null)[]} times
   * @param {AbortSignal} [signal] ends it early
   */
  async preload (times, signal) {
    if (!this.isOnMap) return
    const signals = [this.#link.stop.signal, signal]
    await withSignals(signals, stop => this.#preloader.load(times, stop)).catch(ignoring('ABORTED'))
  }

  /** Requests failed tiles again. */
  retry () {
    this.#loader.retry()
    this.#scene.retry()
    return this
  }

  /** Reads the present view again, with new versions. Not needed with `live: true`. */
  refresh () {
    if (!this.isOnMap) return this
    if (this.options.tilejson) this.#link.readLayer()
    this.#loader.expireAll()
    this.#requestIndex()
    this.#readExtent()
    return this
  }

  #requestIndex () {
    if (!this.isOnMap || this.#endFeedWait !== undefined) return
    const parents = this.#lacksTiles ? ancestors(this.#columns, this.ancestry()) : []
    this.#loader.want([...this.#columns, ...parents])
  }

  #stopFeedWait () {
    this.#endFeedWait = void this.#endFeedWait?.()
    this.#requestIndex()
  }

  // some tiles of the view are missing: from now on their ancestors are requested as well
  #onMissing () {
    if (this.#lacksTiles || !this.index.covers(this.#columns)) return
    this.#lacksTiles = true
    this.#requestIndex()
  }

  #onKnown () {
    this.#scene.update()
    this.#reportChanges()
  }

  #reportChanges () {
    const changes = this.changes()
    if (changes === this.#reportedChanges) return
    this.#reportedChanges = changes
    this.fire('changes', { changes })
  }

  #onTime = ({ time, previous }) => {
    this.#preloader.drop()
    this.#preloader.forward = time === null || (previous !== null && time > previous)
    this.#scene.beginStep()
    this.#time = this.getTime() // an earlier listener may have moved the clock again
    this.fire('timechange', { time })
    this.#surface.onTime?.()
    this.#scene.update()
  }

  #neededAt (times) {
    const items = [...this.#scene.items].filter(item => this.isInView(item))
    const needed = new Set(times.flatMap(time => items.map(item => this.pictureAt(item, time)?.version)))
    return [...needed].filter(version => version && !this.images.has(version))
  }

  /** Tiles on the device were added, changed or removed. */
  async #onDeviceChanged () {
    const { layer, offline } = /** @type {typeof this.options & {offline: OfflineStore}} */ (this.options)
    await this.#loader.readDevice()
    this.#scene.retry()
    const extent = await offline.device.extent(layer)
    const before = this.#extent
    if (extent && !(before && before.first <= extent.first && before.last >= extent.last)) this.#readExtent()
    const items = [...this.#scene.items].filter(({ picture, shown }) => picture && shown)
    const isLocal = await this.source.holds(layer, items.map(({ picture }) => /** @type {Picture} */ (picture).version))
    items.forEach((item, index) => item.view.note(isLocal[index]))
  }

  async #readExtent () {
    const extent = await this.#link.ask('extent', signal => this.source.extent(this.options.layer, signal))
    if (extent === undefined) return
    this.#extent = extent
    this.fire('extent', { ...extent })
  }

  #onFollowing () {
    if (this.#endFeedWait !== undefined) return this.#stopFeedWait()
    // versions may have changed since the first read
    if (this.index.generation || this.#loader.isBusy) this.refresh()
  }

  #onTilesChanged (tiles) {
    for (const { z, x, y } of tiles) this.#loader.expire(z, x, y)
    this.#requestIndex()
    this.#readExtent()
  }
}

/**
 * Whether options have all fields. Leaflet's options have, and are used without a copy: the layer may change them
 * later.
 * @returns {options is typeof engineDefaults & {layer: string}}
 */
const isComplete = options => Object.keys(engineDefaults).every(name => name in options)
