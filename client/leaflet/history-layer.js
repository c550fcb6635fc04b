// A Leaflet layer that shows any time of a layer's past. It joins these parts to Leaflet: VersionIndex knows which
// versions there are, IndexLoader fills it, ImageCache holds the images, Scene decides what each tile shows.
import L from 'leaflet'
import { tileAt, tileRanges } from '../../core/index.js'
import { Clock } from '../engine/clock.js'
import { storeMixin } from './store-mixin.js'
import { ImageCache } from '../engine/image-cache.js'
import { IndexLoader } from '../engine/index-loader.js'
import { Preloader } from '../engine/preloader.js'
import { ancestors, resolve, viewColumns } from '../engine/resolve.js'
import { Scene } from '../engine/scene.js'
import { TileView } from './tile-view.js'
import { VersionIndex } from '../engine/version-index.js'

export const historyDefaults = {
  /** @type {string | undefined} name of the layer in the store; required */
  layer: undefined,
  /**
   * @type {Time | null | undefined} where the clock is set: a Date, an ISO text (a part such as '2024-03' means its
   * end), or null for the newest
   */
  time: undefined,
  /** @type {Clock | undefined} a Clock to share with other layers; its own unless given */
  clock: undefined,
  /** follow the changes of the store: new versions appear by themselves */
  live: false,
  /** milliseconds in which a tile turns into its next version; 0 switches at once */
  fade: 0,
  /** milliseconds that tiles of a step wait for the slower ones, so that all change at once */
  together: 400,
  /** changes before and after the present time that are fetched in advance */
  preload: 2,
  /** bytes fetched in advance at most, at one time */
  preloadSize: 4 * 1024 * 1024,
  /** bytes of images kept */
  cacheSize: 64 * 1024 * 1024,
  /** entries of the version index kept */
  versions: 200000,
  /** images fetched at the same time */
  requests: 6,
  /** for an image before it counts as failed; it is tried again later all the same */
  attempts: 3,
  /** zooms in which a tile is enlarged: beyond the layer's last one, and where deeper tiles are missing */
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
 * @typedef {import('../engine/clock.js').Time} Time
 * @typedef {import('../engine/clock.js').ExactTime} ExactTime
 * @typedef {import('../offline/offline-store.js').OfflineStore} OfflineStore
 * @typedef {import('../engine/version-index.js').Change} Change
 * @typedef {import('../source/couch-source.js').Version} Version
 * @typedef {Omit<Partial<typeof historyDefaults>, 'layer'> & {layer: string} & L.GridLayerOptions} HistoryLayerOptions
 *
 * @typedef {object} OwnEvents
 * @property {{time: ExactTime | null}} timechange the clock moved
 * @property {{time: ExactTime | null}} timeload every tile in view shows this time
 * @property {{changes: Change[] | null}} changes the times at which the present view changed are known; null while they
 *   are not
 * @property {{first?: ExactTime, last?: ExactTime}} extent the first and last time of the whole layer
 * @typedef {OwnEvents & import('./store-mixin.js').StoreEvents & import('./store-mixin.js').TileEvents}
 *   HistoryLayerEvents
 */

const Base = /** @type {import('./leaflet.js').Base<L.GridLayer, typeof historyDefaults & {layer: string} & L.GridLayerOptions, HistoryLayerEvents, typeof L.GridLayer>} */ (
  /** @type {unknown} */ (L.GridLayer.extend({ includes: storeMixin, options: historyDefaults, _followsPast: true })))

/**
 * The map as it was. Shows for every tile its version as of the clock's time; a step of the clock asks only for what
 * differs.
 */
export class HistoryLayer extends Base {
  /** @param {string} db address of the database @param {HistoryLayerOptions} options */
  constructor (db, options) {
    super(options)
    /** of the layer's document, once it is there; until then the layer's name @type {string} */
    this.title = options?.layer
    this._openStore(db, options)
    /** the one given to it, or its own @readonly @type {Clock} */
    this.clock = this.options.clock ?? new Clock()
    if (this.options.time !== undefined) this.clock.setTime(this.options.time)
    this._columns = []
    this._extent = this._reportedChanges = null
    this._items = new WeakMap() // element of a tile -> item of the scene
    this._index = new VersionIndex({ limit: this.options.versions })
    this._loader = new IndexLoader(this._source, this.options.layer, this._index, { onKnown: () => this._onKnown(), ...this._reports('index') })
    this._images = new ImageCache(this._source, this.options)
    this._preloader = new Preloader(this._images, times => this._neededAt(times), this.options)
    const pictureOf = tile => this._pictureAt(tile, this.getTime())
    this._scene = new Scene(this._images, pictureOf, item => this._isInView(item), this.options, {
      onShown: () => {
        this.fire('timeload', { time: this.getTime() })
        this._preloader.run(this.changes() ?? [], this.getTime())
      },
      onMissing: () => this._onMissing(),
      onOutdated: ({ picture }) => { if (picture) this._onTilesChanged([picture.version]) },
      onError: (item, error, isFirst) => this._onTileFailed(item, error, isFirst),
      onLoad: (item, isFirst) => this._onTileLoaded(item, isFirst)
    })
  }

  onAdd (map) {
    this._time = this.getTime() // the time that the tiles show
    super.onAdd(map)
    this.clock.on('timechange', this._onTime, this)
    this._startStore()
    this._readExtent()
    return this
  }

  onRemove (map) {
    this.clock.off('timechange', this._onTime, this)
    this._stopStore()
    this._loader.stop()
    this._preloader.drop()
    this._scene.close()
    super.onRemove(map)
    this._columns = []
    return this
  }

  /** @returns {ExactTime | null} the clock's time; null is the newest */
  getTime () {
    return this.clock.getTime()
  }

  /** Moves the clock, and with it every layer on it. An invalid time throws BAD_TIME. @param {Time | null} time */
  setTime (time) {
    this.clock.setTime(time)
    return this
  }

  /** @returns {Change[] | null} when the present view changed, oldest first; null while that is not known */
  changes () {
    if (!this._map || !this._isReady || !this._index.covers(this._columns)) return null
    const { generation } = this._index
    if (this._changes?.columns !== this._columns || this._changes.generation !== generation) {
      this._changes = { columns: this._columns, generation, list: this._index.changes(this._columns) }
    }
    return this._changes.list
  }

  /**
   * @returns {{first: ExactTime, last: ExactTime} | null} of the whole layer; null while unknown, or when it has no
   *   tiles
   */
  extent () {
    return this._extent
  }

  /** @returns {boolean} whether every tile in view shows what it should, or has failed and reported it */
  isShown () {
    return this._isReady && (!this._map || this._time === this.getTime()) && this._scene.isShown
  }

  /**
   * The tiles in view that look different at two times.
   * @param {ExactTime | null} from @param {ExactTime | null} to as a clock has them
   * @returns {import('../engine/version-index.js').ChangedTile[]}
   */
  changedTiles (from, to) {
    return this._index.changedTiles(this._columns, from, to)
  }

  /**
   * How often the tiles in view changed after they first appeared; null while that is not known. Tiles that never were
   * are left out.
   * @returns {{z: number, x: number, y: number, changes: number}[] | null}
   */
  changesByTile () {
    return this.changes() && this._index.changesByTile(this._columns)
  }

  /**
   * What the view shows at a time, to be drawn elsewhere: each tile that has an image then, with its place in pixels of
   * the map. `preload([time])` fetches the images that are not here.
   * @param {ExactTime | null} time
   * @returns {{left: number, top: number, size: number, image: Blob | undefined, up: number, dx: number, dy: number}[]}
   *   image: none while it is not here; up: of an enlarged one only a part is shown, of 2^up columns and rows
   */
  pictures (time) {
    const { _map: map, _tileZoom: zoom } = this
    if (!map || zoom === undefined) return []
    const scale = map.getZoomScale(map.getZoom(), zoom)
    const origin = /** @type {L.Point} */ (map.getPixelBounds().min)
    const { x: size } = this.getTileSize()
    const found = []
    for (const { el, coords, current } of Object.values(this._tiles)) {
      const picture = current && coords.z === zoom ? this._pictureAt(this._items.get(el), time) : null
      if (!picture) continue
      const { version, up, dx, dy } = picture
      const [left, top] = [coords.x * size * scale - origin.x, coords.y * size * scale - origin.y]
      found.push({ left, top, size: size * scale, image: this._images.peek(version), up, dx, dy })
    }
    return found
  }

  /**
   * The tile under a place, with its versions.
   * @param {L.LatLngExpression} place
   * @returns {{z: number, x: number, y: number, versions: Version[], shown: Version | null} | null}
   */
  tileAt (place) {
    if (!this._map || this._tileZoom === undefined) return null
    const { lat, lng } = this._map.wrapLatLng(L.latLng(place))
    const tile = tileAt(lng, lat, this._zoom())
    return { ...tile, versions: this._index.versions(tile.z, tile.x, tile.y), shown: this._index.at(
      tile.z, tile.x, tile.y, this.getTime()
    ) ?? null }
  }

  /**
   * Fetches what the view needs at these times, in the background.
   * @param {(ExactTime | null)[]} times
   * @param {AbortSignal} [signal] ends it early
   */
  async preload (times, signal) {
    if (this._map) await this._preloader.load(times, AbortSignal.any([this._stop.signal, ...(signal ? [signal] : [])]))
  }

  /** Tries again now what failed. */
  retry () {
    this._loader.retry()
    this._scene.retry()
    return this
  }

  /** Asks the store anew for the present view: new versions appear. `live: true` does so by itself. */
  refresh () {
    if (!this._map) return this
    if (this.options.tilejson) this._readLayer()
    this._loader.expireAll()
    this._want()
    this._readExtent()
    return this
  }

  createTile (coords, done) {
    const view = new TileView()
    const item = { view, coords, z: this._zoom(), x: coords.x, y: coords.y, ready: error => done(error, view.el) }
    this._items.set(view.el, item)
    this._scene.add(item)
    return view.el
  }

  _zoom () {
    return this._tileZoom + (this.options.zoomOffset ?? 0)
  }

  _update (center) {
    if (!this._isReady) return
    super._update(center)
    if (!this._map || this._tileZoom === undefined) return this._setColumns([])
    const range = this._pxBoundsToTileRange(this._getTiledPixelBounds(center ?? this._map.getCenter()))
    const bounds = this._given.has('bounds') ? undefined : this._doc?.bounds
    this._setColumns(viewColumns(range, this._zoom(), bounds && tileRanges(bounds, this._zoom())))
  }

  _setColumns (columns) {
    // Leaflet updates more often than the view changes
    const isSame = JSON.stringify(columns) === JSON.stringify(this._columns)
    if (!isSame) this._columns = columns
    this._dropTiles(item => item.shown === undefined)
    this._want()
    this._scene.update()
    this._reportChanges()
  }

  // tiles that Leaflet keeps beside the view for later, and that would be wrong or never finished
  _dropTiles (isUseless) {
    for (const [key, { el }] of Object.entries(this._tiles)) {
      const item = this._items.get(el)
      if (item.z === this._zoom() && !this._isInView(item) && isUseless(item)) this._removeTile(key)
    }
  }

  _isInView (item) {
    return this._columns.some(({ z, x, y0, y1 }) => z === item.z && x === item.x && y0 <= item.y && item.y <= y1)
  }

  _removeTile (key) {
    const item = this._items.get(this._tiles[key]?.el)
    if (item) this._scene.remove(item)
    super._removeTile(key)
  }

  _pictureAt (tile, time) {
    if (this._doc?.format === 'pbf') return null // vector tiles are indexed, and not drawn
    return resolve(this._index, tile, time, this._ancestry())
  }

  _want () {
    this._loader.want(
      this._lacksTiles ? [...this._columns, ...ancestors(this._columns, this._ancestry())] : this._columns
    )
  }

  // some tiles of the view are missing: from now on their ancestors are requested as well
  _onMissing () {
    if (this._lacksTiles || !this._index.covers(this._columns)) return
    this._lacksTiles = true
    this._want()
  }

  _onKnown () {
    this._scene.update()
    this._reportChanges()
  }

  _reportChanges () {
    const changes = this.changes()
    if (changes === this._reportedChanges) return
    this._reportedChanges = changes
    this.fire('changes', { changes })
  }

  _onTime ({ time, previous }) {
    this._preloader.drop()
    this._preloader.forward = time === null || (previous !== null && time > previous)
    this._dropTiles(item => !this._scene.isRight(item))
    this._time = time
    this.fire('timechange', { time })
    this._scene.update({ announce: true })
  }

  _onTileFailed (item, error, isFirst) {
    this._onTileTrouble(error)
    if (!isFirst) return this.fire('tileerror', { coords: item.coords, tile: item.view.el, error })
    item.ready(error)
    item.view.el.classList.add('leaflet-tile-loaded') // the mark of a failed tile has to be seen
  }

  _onTileLoaded (item, isFirst) {
    if (item.picture && !item.isFromDevice) this._health.ok('tiles')
    if (isFirst) item.ready()
    else this.fire('tileload', { tile: item.view.el, coords: item.coords })
  }

  _neededAt (times) {
    const needed = new Set()
    for (const time of times) {
      for (const item of this._scene.items) if (this._isInView(item)) needed.add(this._pictureAt(item, time)?.version)
    }
    return [...needed].filter(version => version && !this._images.has(version))
  }

  /** How far up an image is looked for where a tile has none. */
  _ancestry () {
    const { overzoom } = this.options
    return { overzoom: Math.max(overzoom, this._source.limits?.enlarged ?? 0), minzoom: this._doc?.minzoom ?? 0 }
  }

  /** Tiles came to the device, became others there, or left it. */
  async _onDeviceChanged () {
    const { _source: source, _scene: scene, options: { layer } } = this
    const offline = /** @type {OfflineStore} */ (this.options.offline)
    await this._loader.readDevice()
    scene.retry()
    const extent = await offline.device.extent(layer)
    if (extent && !(this._extent?.first <= extent.first && this._extent?.last >= extent.last)) this._readExtent()
    const items = [...scene.items].filter(({ picture, shown }) => picture && shown)
    const held = await source.holds(layer, items.map(({ picture }) => /** @type {import('../engine/resolve.js').Picture} */ (picture).version))
    items.forEach((item, at) => item.view.note(held[at] || (Boolean(offline.browse) && item.isFromDevice)))
  }

  async _readExtent () {
    const extent = await this._ask('extent', signal => this._source.extent(this.options.layer, signal))
    if (extent === undefined) return
    this._extent = extent
    this.fire('extent', { ...extent })
  }

  _onFollowing () {
    if (this._index.size || this._loader.isBusy) this.refresh() // what changed between the first look and now
  }

  _onTilesChanged (tiles) {
    for (const { z, x, y } of tiles) this._loader.expire(z, x, y)
    this._want()
    this._readExtent()
  }
}

/** @param {string} db address of the database @param {HistoryLayerOptions} options */
export const historyLayer = (db, options) => new HistoryLayer(db, options)
