// A source of OpenLayers that shows any time of a layer's past. HistoryEngine decides what each tile shows. The source
// gives the images to the renderers, canvas and WebGL, so that all tiles of a step change in one frame.
import DataTileSource from 'ol/source/DataTile.js'
import { equivalent, get, toLonLat } from 'ol/proj.js'
import { createXYZ } from 'ol/tilegrid.js'
import { VERSION as value } from 'ol/util.js'
import { TilecouchError, isInRanges, tileAt, tileRanges } from '../../core/index.js'
import { HistoryEngine } from '../engine/history-engine.js'
import { LAYER_EVENTS, decodeBitmap, tileWithVersions, withHistoryMethods } from '../engine/layer-methods.js'
import { gridKey } from '../engine/store-link.js'
import { attributionHtml } from '../source/attribution.js'
import { HistoryTile, Place } from './history-tile.js'
import { projectionOf, tileGridOf } from './projection.js'
import { LayerView } from './layer-view.js'

// docs/client.md lists the internals of OpenLayers that this folder uses
if (!/^10\.(1[1-9]|[2-9]\d)/.test(value)) {
  throw new TilecouchError('MAP_VERSION', { needed: 'ol 10.11', value })
}

const SPARE = 64 // places outside the view that keep their image, 16 MB

/**
 * @typedef {object} SourceOptions the first five come from the layer's document by default
 * @property {number} [minzoom]
 * @property {number} [maxzoom] tiles are enlarged beyond it
 * @property {number} [tileSize] pixels
 * @property {[number, number, number, number]} [bounds] west, south, east, north in degrees
 * @property {import('ol/source/Source.js').AttributionLike} [attributions]
 * @property {boolean} [interpolate] smooth images where they are enlarged; default: true
 * @property {boolean} [wrapX] repeat the world to the left and to the right; default: true
 */

/**
 * @template Result
 * @typedef {(type: EventType | EventType[], listener: (event: any) => void) => Result} Listen
 */

/**
 * @typedef {import('../engine/clock.js').Clock} Clock
 * @typedef {import('../engine/history-methods.js').HistoryMethods} HistoryMethods
 * @typedef {import('../engine/history-engine.js').EngineOptions & SourceOptions} HistorySourceOptions
 * @typedef {import('../source/couch-source.js').Column} Column
 * @typedef {import('../source/couch-source.js').Version} Version
 * @typedef {import('ol/layer/BaseTile.js').default<any, any>} TileLayer
 * @typedef {Exclude<keyof import('../engine/history-engine.js').EngineEvents, 'add' | 'remove' | 'loading'>} EventType
 */

/**
 * @typedef {import('ol/events.js').EventsKey} EventsKey
 * @type {new (options: any) => DataTileSource & HistoryMethods &
 *   {on: Listen<EventsKey>, once: Listen<EventsKey>, un: Listen<void>}}
 */
const Base = /* @__PURE__ */ withHistoryMethods(class extends DataTileSource {})

/**
 * A map as of any time, for `ol/layer/Tile` and `ol/layer/WebGLTile`. A step of the clock asks only for the tiles that
 * differ, and shows all of them in one frame.
 */
export class HistorySource extends Base {
  /** z/x/y -> place; the places in view come last @type {Map<string, Place>} */
  #places = new Map()
  /** the views of the layers that show this source @type {Map<TileLayer, LayerView>} */
  #views = new Map()
  /** @type {Column[]} the columns in view in any layer */
  #columns = []
  /** places whose image changed since the last frame @type {Set<Place>} */
  #changed = new Set()
  #isAdding = false
  /** undefined for Web Mercator @type {import('../engine/store-link.js').Grid | undefined} */
  #grid
  #gridKey = ''
  #repaints = 0
  /** reprojected tiles show an earlier time */
  #isOutdated = false
  #options

  /** @param {string} db address of the database @param {HistorySourceOptions} options */
  constructor (db, options) {
    const { attributions, interpolate = true, wrapX = true } = options
    super({ attributions, interpolate, wrapX, transition: 0, state: 'loading', tileGrid: createXYZ() })
    this.#options = options
    /** its time engine @readonly */
    this.history = new HistoryEngine(db, options, {
      // renderers with WebGL multiply the colours with their opacity themselves
      decode: (blob, picture) => decodeBitmap(blob, picture, { premultiplyAlpha: 'none' }),
      setLayer: (doc, _, grid) => this.#setLayer(doc, grid),
      onReady: () => this.setState('ready'),
      onTime: () => this.#onTime(),
      paint: () => this.#paint()
    })
    /** the option `clock`, or its own clock @readonly @type {Clock} */
    this.clock = this.history.clock
    this.history.on('timeload', () => this.#paint())
    this.history.on(`${LAYER_EVENTS} tileload tileerror`, (/** @type {any} */ { tile, isFirst, ...event }) => {
      this.dispatchEvent({ ...event, tile: tile && { z: tile.z, x: tile.x, y: tile.y } })
    })
  }

  /**
   * Connects the source with a layer that shows it, whose view it must know. `historyLayer` does this itself.
   * @param {TileLayer} layer with this source
   */
  follow (layer) {
    if (this.#views.has(layer)) return this
    const view = new LayerView(layer, this, {
      onMap: () => this.#onMap(),
      onFrame: () => { if (this.history.isReady) this.#setView() }
    })
    this.#views.set(layer, view)
    if (this.history.isReady) view.limit()
    this.#onMap()
    return this
  }

  /** @returns {string} the title in the layer's document; until it was read, the layer's name */
  get title () {
    return this.history.title
  }

  /**
   * The tile under a place of the map, with its versions.
   * @param {import('ol/coordinate.js').Coordinate} coordinate
   * @param {import('ol/proj.js').ProjectionLike} [projection] of the coordinate; default: that of the tiles
   * @returns {{z: number, x: number, y: number, versions: Version[], shown: Version | null} | null}
   */
  tileAt (coordinate, projection) {
    const [column] = this.#columns
    if (!column) return null
    const [lon, lat] = toLonLat(coordinate, projection ?? /** @type {any} */ (this.getProjection()))
    const tile = this.#grid?.tileAt(lon, lat, column.z) ?? tileAt(lon, lat, column.z)
    return tileWithVersions(this.history, tile)
  }

  getTile (z, x, y, pixelRatio, projection, tileCache) {
    const sourceProjection = /** @type {import('ol/proj/Projection.js').default} */ (this.getProjection())
    if (projection && !equivalent(sourceProjection, projection)) {
      return this.getReprojTile_(z, x, y, projection, sourceProjection, tileCache)
    }
    const coord = /** @type {[number, number, number] | null} */ (this.getTileCoordForTileUrlFunction([z, x, y]))
    if (!coord || !this.#isWithin(coord)) return null
    const tile = new HistoryTile(this.#place(coord), { tileCoord: [z, x, y], interpolate: this.getInterpolate() })
    tile.key = this.getKey()
    tile.addEventListener('change', /** @type {any} */ (this.handleTileChange_))
    return tile
  }

  /** The parts of a zoom that have tiles. @returns {import('../../core/grid.js').TileRange[] | undefined} */
  _ranges (z) {
    const bounds = this.#options.bounds ?? this.history.doc?.bounds
    if (!this.#grid) return bounds && tileRanges(bounds, z)
    return bounds ? this.#grid.ranges(bounds, z) : [this.#grid.whole(z)]
  }

  /** Whether the world is repeated to the left and to the right. */
  get _wraps () {
    return Boolean(this.getWrapX() && this.getProjection()?.isGlobal())
  }

  /** @returns {Iterable<Place>} the places that OpenLayers asked for */
  get _places () {
    return this.#places.values()
  }

  /** Whether all tiles of these columns show something, or have failed. @param {Column[]} columns */
  _isCovered (columns) {
    return columns.every(({ z, x, y0, y1 }) => {
      for (let y = y0; y <= y1; y++) {
        const place = this.#places.get(`${z}/${x}/${y}`)
        if (!place?.isShown && !place?.isFailed) return false
      }
      return true
    })
  }

  #isWithin ([z, x, y]) {
    const ranges = this._ranges(z)
    return !ranges || isInRanges(ranges, x, y)
  }

  #place ([z, x, y]) {
    const key = `${z}/${x}/${y}`
    let place = this.#places.get(key)
    if (!place) {
      place = new Place({ z, x, y }, (shownPlace, isFirst) => this.#onShow(shownPlace, isFirst))
      this.#places.set(key, place)
      this.#addLater()
    }
    return place
  }

  /** Loads the tiles of a frame together, the middle first: OpenLayers asks for them one by one. */
  #addLater () {
    if (this.#isAdding) return
    this.#isAdding = true
    queueMicrotask(() => {
      this.#isAdding = false
      if (this.history.isOnMap && this.history.isReady) this.#setView({ hasNewPlaces: true })
    })
  }

  #onMap () {
    const isOnMap = [...this.#views.values()].some(view => view.map)
    if (isOnMap && !this.history.isOnMap) this.history.start()
    if (!isOnMap && this.history.isOnMap) {
      this.history.stop()
      this.#drop([...this.#places.values()])
      this.#columns = []
    }
  }

  #setView ({ hasNewPlaces = false } = {}) {
    const columns = [...this.#views.values()].flatMap(view => view.columns(this.history.isStepping))
    const isSame = JSON.stringify(columns) === JSON.stringify(this.#columns)
    if (isSame && !hasNewPlaces) return
    this.#columns = columns
    this.history.setView(columns, () => {
      this.#dropOutside()
      this.#add()
    })
  }

  #add () {
    const middle = this.#columns[this.#columns.length >> 1]
    const distance = ({ x, y }) => Math.hypot(x - middle.x, y - (middle.y0 + middle.y1) / 2)
    const newPlaces = [...this.#places.values()].filter(place => !place.isAdded && this.history.isInView(place))
    for (const place of newPlaces.sort((a, b) => distance(a) - distance(b))) {
      place.isAdded = true
      this.history.add(place)
    }
  }

  /** Drops the places outside the view, except some that are kept for a way back. */
  #dropOutside () {
    const outside = []
    for (const [key, place] of [...this.#places]) {
      if (this.history.isInView(place)) { // places that left the view last are dropped last
        this.#places.delete(key)
        this.#places.set(key, place)
      } else outside.push(place)
    }
    const spare = new Set(outside.filter(place => place.isShown && this.history.isRight(place)).slice(-SPARE))
    this.#drop(outside.filter(place => !spare.has(place)))
  }

  /** @param {Place[]} places */
  #drop (places) {
    if (!places.length) return
    for (const place of places) {
      this.#places.delete(`${place.z}/${place.x}/${place.y}`)
      if (place.isAdded) this.history.remove(place)
      place.close()
    }
    for (const view of this.#views.values()) view.forget()
  }

  #onTime () {
    this.#setView() // the previous zoom changes as well while it is visible
    const outside = [...this.#places.values()].filter(place => !this.history.isInView(place))
    this.#drop(outside.filter(place => !place.isAdded || !this.history.isRight(place)))
  }

  /** @param {Place} place @param {boolean} isFirst */
  #onShow (place, isFirst) {
    if (!isFirst) this.#changed.add(place)
    else place.reveal()
  }

  #paint () {
    const changed = this.#changed
    this.#changed = new Set()
    const views = [...this.#views.values()]
    if (changed.size) for (const view of views) view.paint(changed)
    this.#isOutdated ||= changed.size > 0 && views.some(view => view.isReprojected)
    if (!this.#isOutdated || !this.isShown()) return
    this.#isOutdated = false
    this.setKey(`${++this.#repaints}`) // OpenLayers shows the tiles of the old key until the new ones are made
  }

  #setLayer (doc, grid) {
    const key = gridKey(doc)
    if (key !== this.#gridKey) this.#drop([...this.#places.values()]) // they are in the wrong places
    this.#gridKey = key
    this.projection = grid ? projectionOf(grid) : get('EPSG:3857')
    this.#grid = grid
    this.tileGrid = tileGridFor(this.#options, doc ?? {}, grid)
    if (!this.#options.attributions) this.setAttributions(doc?.attribution && attributionHtml(doc.attribution))
    for (const view of this.#views.values()) view.limit()
  }
}

/** The tiles of a layer: its options replace the fields of its document. */
function tileGridFor (options, doc, grid) {
  const minZoom = options.minzoom ?? doc.minzoom ?? grid?.firstZoom ?? 0
  const maxZoom = options.maxzoom ?? doc.maxzoom ?? grid?.lastZoom ?? 18
  if (grid) return tileGridOf(grid, minZoom, maxZoom)
  return createXYZ({ minZoom, maxZoom, tileSize: options.tileSize ?? doc.tileSize ?? 256 })
}
