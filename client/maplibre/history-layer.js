// A MapLibre layer that shows any time of a layer's past: the time engine, drawn by sources of its own.
import { HistoryEngine, engineDefaults } from '../engine/history-engine.js'
import { METHODS, withHistoryMethods } from '../engine/layer-methods.js'
import { gridKey } from '../engine/store-link.js'
import { TilecouchError } from '../../core/errors.js'
import { owners, register, sourceOf } from './sources.js'

export const historyDefaults = {
  ...engineDefaults,
  /** @type {string | undefined} of its source and its layer in the style; the name of the layer unless given */
  id: undefined,
  /** @type {string | undefined} the layer of the style below which it is put; above all of them unless given */
  before: undefined,
  /** @type {Record<string, any>} paint properties of its layer in the style, for images: `raster-opacity`, … */
  paint: {},
  /**
   * @type {any[] | undefined} for vector tiles: layers of a style, without `source`; those of the default style unless
   * given
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
 * The map as it was. Shows for every tile its version as of the clock's time; a step of the clock asks only for what
 * differs, and all tiles change in one frame. `on`, `once` and `off` listen to its events.
 */
export class HistoryLayer extends Base {
  /** the map that it is on @type {MapLibreMap | null} */
  map = null
  /** of its layers in the style @type {string[]} */
  layerIds = []
  /** @type {any} that MapLibre has at present */
  #source = null
  /** names what the source is made of */
  #sourceKey = ''
  #isPutting = false
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
      onReady: () => this.#put(),
      onTime: () => this.#refresh(),
      paint: () => this.#refresh()
    })
    /** the one given to it, or its own @readonly @type {import('../engine/clock.js').Clock} */
    this.clock = this.history.clock
    /** of its source in the style @readonly @type {string} */
    this.sourceId = this.options.id ?? this.options.layer
  }

  /** @returns {string} of the layer's document; until that is there the layer's name */
  get title () {
    return this.history.title
  }

  /** The first of its layers in the style, or the one that will be. */
  get layerId () {
    return this.layerIds[0] ?? this.sourceId
  }

  /**
   * Puts it on a map, as soon as the map has a style. It stays there when the style becomes another.
   * @param {MapLibreMap} map
   */
  addTo (map) {
    this.remove()
    this.map = map
    register()
    owners.set(this.#name, this)
    map.on('style.load', this.#put)
    map.on('remove', this.#forget)
    this.history.start()
    return this
  }

  /** Takes it off its map. */
  remove () {
    if (!this.map) return this
    this.#take()
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
    this.map?.off('style.load', this.#put)
    this.map?.off('remove', this.#forget)
    this.map = null
    owners.delete(this.#name)
    this.history.stop()
  }

  #put = () => {
    const { map, history: { doc, isReady } } = this
    if (!map || !isReady || (map.style && !map.getStyle())) return // the style is not there yet
    const key = `${gridKey(doc)} ${doc?.format} ${doc?.attribution}`
    if (key !== this.#sourceKey) this.#take()
    this.#sourceKey = key
    const { before, paint, layers, theme } = this.options
    const isVector = doc?.format === 'pbf'
    if (isVector && !layers && this.#defaults?.doc !== doc) return void this.#readDefaults(doc, theme)
    if (this.#isPutting || (map.style && map.getSource(this.sourceId))) return
    this.#isPutting = true // a map without a style gets one now, and says so
    map.addSource(this.sourceId, /** @type {any} */ (sourceOf(this.#name, isVector)))
    this.#isPutting = false
    const image = { type: 'raster', paint: { 'raster-fade-duration': 0, ...paint } }
    const styleLayers = isVector ? layers ?? this.#defaults?.layers ?? [] : [image]
    this.layerIds = styleLayers.map(({ id }, index) => id ?? (index ? `${this.sourceId}-${index}` : this.sourceId))
    const below = before && map.getLayer(before) ? before : undefined
    styleLayers.forEach((layer, index) => {
      map.addLayer({ ...layer, id: this.layerIds[index], source: this.sourceId }, below)
    })
  }

  /** Pages that bring a style do not load this. */
  async #readDefaults (doc, theme) {
    const { defaultStyle } = await import('../../core/style.js')
    const layers = defaultStyle(doc, { theme })?.layers.filter(({ type }) => type !== 'background') ?? []
    this.#defaults = { doc, layers: layers.map(layer => ({ ...layer, id: `${this.sourceId}/${layer.id}` })) }
    this.#put()
  }

  #take () {
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

/**
 * Puts a layer's history on a map.
 * @param {MapLibreMap} map @param {string} db address of the database @param {HistoryLayerOptions} options
 */
export const historyLayer = (map, db, options) => new HistoryLayer(db, options).addTo(map)
