// A MapLibre layer that shows any time of a layer's past: the time engine, drawn by sources of its own.
import { HistoryEngine, engineDefaults } from '../engine/history-engine.js'
import { METHODS, withHistoryMethods } from '../engine/layer-methods.js'
import { gridKey } from '../engine/store-link.js'
import { TilecouchError } from '../../core/errors.js'
import { owners, register, sourceOf } from './sources.js'

export const historyDefaults = {
  ...engineDefaults,
  /** @type {string | undefined} id of its source and its layer in the style; default: the name of the layer */
  id: undefined,
  /** @type {string | undefined} the layer of the style below which it is put; default: above all layers */
  before: undefined,
  /** @type {Record<string, any>} paint properties of its layer in the style, for images: `raster-opacity`, … */
  paint: {},
  /**
   * @type {any[] | undefined} for vector tiles: layers of a style, without `source`; default: those of the default
   *   style
   */
  layers: undefined,
  /** @type {'light' | 'dark'} of the default style */
  theme: 'light'
}

/**
 * @typedef {import('maplibre-gl').Map} MapLibreMap
 * @typedef {import('../engine/clock.js').Time} Time
 * @typedef {import('../engine/history-engine.js').EngineEvents} EngineEvents
 * @typedef {import('../engine/history-methods.js').HistoryMethods} HistoryMethods
 * @typedef {Omit<Partial<typeof historyDefaults>, 'layer'> & {layer: string}} HistoryLayerOptions
 */

/**
 * @type {new () => HistoryMethods &
 *   Pick<import('../engine/emitter.js').Emitter<EngineEvents>, 'on' | 'once' | 'off'>}
 */
const Base = /* @__PURE__ */ withHistoryMethods(class {}, `${METHODS} on once off`)

/**
 * Shows every tile as of the clock's time. A step of the clock requests only the tiles that differ, and all tiles
 * change in one frame. `on`, `once` and `off` listen to its events.
 */
export class HistoryLayer extends Base {
  /** the map that it is on @type {MapLibreMap | null} */
  map = null
  /** ids of its layers in the style @type {string[]} */
  layerIds = []
  /** @type {any} the source that MapLibre has at present */
  #source = null
  /** key of the fields from which the source was made */
  #sourceKey = ''
  #isAdding = false
  /** @type {{doc: any, layers: any[]} | undefined} layers of the default style */
  #defaults
  #name = `layer-${++count}`

  /** @param {string} db address of the database @param {HistoryLayerOptions} options */
  constructor (db, options) {
    super()
    /** @type {typeof historyDefaults & {layer: string}} */
    this.options = { ...historyDefaults, ...options }
    /** its time engine @readonly */
    this.history = new HistoryEngine(db, this.options, {
      drawsVectors: true,
      decode: (...parameters) => this.#source.decode(...parameters),
      setLayer (doc, _, grid) {
        if (!grid) return
        const { id, crs } = grid
        throw new TilecouchError('MAP_GRID', { layer: doc?.layer, grid: id, crs, why: 'is in Web Mercator' })
      },
      onReady: () => this.#addToStyle(),
      onTime: () => this.#refresh(),
      paint: () => this.#refresh()
    })
    /** the option `clock`, or its own clock @readonly @type {import('../engine/clock.js').Clock} */
    this.clock = this.history.clock
    /** id of its source in the style @readonly @type {string} */
    this.sourceId = this.options.id ?? this.options.layer
  }

  /** @returns {string} the title in the layer's document; until it was read, the layer's name */
  get title () {
    return this.history.title
  }

  /** The id of its first layer in the style, also before it is there. */
  get layerId () {
    return this.layerIds[0] ?? this.sourceId
  }

  /**
   * Puts the layer on a map, as soon as the map has a style. It stays there when the style changes.
   * @param {MapLibreMap} map
   */
  addTo (map) {
    this.remove()
    this.map = map
    register()
    owners.set(this.#name, this)
    map.on('style.load', this.#addToStyle)
    map.on('remove', this.#forget)
    this.history.start()
    return this
  }

  /** Takes the layer off its map. */
  remove () {
    if (!this.map) return this
    this.#removeFromStyle()
    this.#forget()
    return this
  }

  _connect (source) {
    this.#source = source
    source._describe(this.history.doc)
  }

  _disconnect (source) {
    if (this.#source !== source) return
    this.#source = null
    this.history.setView([])
  }

  #forget = () => {
    this.map?.off('style.load', this.#addToStyle)
    this.map?.off('remove', this.#forget)
    this.map = null
    owners.delete(this.#name)
    this.history.stop()
  }

  #addToStyle = () => {
    const { map, history: { doc, isReady } } = this
    if (!map || !isReady || (map.style && !map.getStyle())) return // the style is not loaded yet
    const key = sourceKeyOf(doc)
    if (key !== this.#sourceKey) this.#removeFromStyle()
    this.#sourceKey = key
    const styleLayers = this.#styleLayers(doc)
    if (!styleLayers) return void this.#readDefaults(doc)
    if (this.#isAdding || (map.style && map.getSource(this.sourceId))) return
    this.#isAdding = true // a map without a style gets one now, and fires style.load
    map.addSource(this.sourceId, /** @type {any} */ (sourceOf(this.#name, isVector(doc))))
    this.#isAdding = false
    this.layerIds = styleLayers.map(({ id }, index) => id ?? (index ? `${this.sourceId}-${index}` : this.sourceId))
    const { before } = this.options
    const below = before && map.getLayer(before) ? before : undefined
    styleLayers.forEach((layer, index) => {
      map.addLayer({ ...layer, id: this.layerIds[index], source: this.sourceId }, below)
    })
  }

  /** Its layers in the style, without `source`; undefined until the default style is loaded. */
  #styleLayers (doc) {
    const { paint, layers } = this.options
    if (!isVector(doc)) return [{ type: 'raster', paint: { 'raster-fade-duration': 0, ...paint } }]
    return layers ?? (this.#defaults?.doc === doc ? this.#defaults?.layers : undefined)
  }

  /** Loads the layers of the default style, which pages with their own layers do not need. */
  async #readDefaults (doc) {
    const { theme } = this.options
    const { defaultStyle } = await import('../../core/style.js')
    const layers = defaultStyle(doc, { theme })?.layers.filter(({ type }) => type !== 'background') ?? []
    this.#defaults = { doc, layers: layers.map(layer => ({ ...layer, id: `${this.sourceId}/${layer.id}` })) }
    this.#addToStyle()
  }

  #removeFromStyle () {
    const map = /** @type {MapLibreMap} */ (this.map)
    if (!map.style || !map.getSource(this.sourceId)) return
    for (const id of this.layerIds) if (map.getLayer(id)) map.removeLayer(id)
    map.removeSource(this.sourceId)
  }

  #refresh () {
    this.#source?._refresh()
  }
}

let count = 0

const isVector = doc => doc?.format === 'pbf'

const sourceKeyOf = doc => `${gridKey(doc)} ${doc?.format} ${doc?.attribution}`

/**
 * Puts a layer's history on a map.
 * @param {MapLibreMap} map @param {string} db address of the database @param {HistoryLayerOptions} options
 */
export const historyLayer = (map, db, options) => new HistoryLayer(db, options).addTo(map)
