// A MapLibre layer that shows any time of a layer's past: the time engine, drawn by sources of its own.
import { HistoryEngine, engineDefaults } from '../engine/history-engine.js'
import { owners, register, sourceOf } from './sources.js'
import { vectorLayers } from './vector-layers.js'

export const historyDefaults = {
  ...engineDefaults,
  /** @type {string | undefined} of its source and its layer in the style; the name of the layer unless given */
  id: undefined,
  /** @type {string | undefined} the layer of the style below which it is put; above all of them unless given */
  before: undefined,
  /** @type {Record<string, any>} paint properties of its layer in the style, for images: `raster-opacity`, … */
  paint: {},
  /** @type {any[] | undefined} of vector tiles: layers of a style, without `source`; simple ones unless given */
  layers: undefined
}

/**
 * @typedef {import('maplibre-gl').Map} MapLibreMap
 * @typedef {Omit<Partial<typeof historyDefaults>, 'layer'> & {layer: string}} HistoryLayerOptions
 */

/**
 * The map as it was. Shows for every tile its version as of the clock's time; a step of the clock asks only for what
 * differs, and all tiles change in one frame.
 */
export class HistoryLayer extends HistoryEngine {
  /** the map that it is on @type {MapLibreMap | null} */
  map = null
  /** of its layers in the style @type {string[]} */
  layerIds = []
  /** @type {any} that MapLibre has at present */
  #source = null
  /** @type {{promise: Promise<void>, end: () => void} | null} until the tiles of a step are there */
  #step = null
  #grid = ''

  /** @param {string} db address of the database @param {HistoryLayerOptions} options */
  constructor (db, options) {
    const surface = /** @type {import('../engine/history-engine.js').Surface} */ ({})
    super(db, { ...historyDefaults, ...options }, { drawsVectors: true, decode: (...given) => surface.decode(...given), setLayer () {}, onReady: () => surface.onReady?.(), onTime: () => surface.onTime?.(), paint: () => surface.paint?.() })
    Object.assign(surface, {
      decode: (...given) => this.#source.decode(...given),
      onReady: () => this.#put(),
      onTime: () => this.#beginStep(),
      paint: () => this.#paint()
    })
    /** of its source in the style @readonly @type {string} */
    this.sourceId = options.id ?? options.layer
    this.on('timeload', () => this.#step?.end())
  }

  /** Its time engine: itself. Layers of the other map libraries have one each. */
  get history () {
    return this
  }

  /** The first of its layers in the style, or the one that will be. */
  get layerId () {
    return this.layerIds[0] ?? this.sourceId
  }

  /** Puts it on a map, as soon as the map has a style. It stays there when the style becomes another. @param {MapLibreMap} map */
  addTo (map) {
    this.remove()
    this.map = map
    register()
    owners.set(this.#name, this)
    map.on('style.load', this.#put)
    map.on('remove', this.#forget)
    this.start()
    return this
  }

  /** Takes it off its map. */
  remove () {
    if (!this.map) return this
    this.#take()
    this.#forget()
    return this
  }

  /** @returns {Promise<void> | undefined} the step that is going on */
  _stepped () {
    return this.#step?.promise
  }

  _connect (source) {
    this.#source = source
    source._describe(this.doc)
  }

  _disconnect (source) {
    if (this.#source !== source) return
    this.#source = null
    this.setView([])
  }

  #name = `layer-${++count}`

  #forget = () => {
    this.map?.off('style.load', this.#put)
    this.map?.off('remove', this.#forget)
    this.map = null
    owners.delete(this.#name)
    this.#step?.end()
    this.stop()
  }

  #put = () => {
    const { map, doc } = this
    if (!map || !this.isReady || (map.style && !map.getStyle())) return // the style is not there yet
    const { minzoom, maxzoom, bounds, tileSize, attribution, format } = doc ?? {}
    const grid = JSON.stringify([minzoom, maxzoom, bounds, tileSize, attribution, format])
    if (grid !== this.#grid) this.#take()
    this.#grid = grid
    if (map.getSource(this.sourceId)) return
    const isVector = format === 'pbf'
    map.addSource(this.sourceId, /** @type {any} */ (sourceOf(this.#name, isVector)))
    const { before, paint, layers } = this.options
    const image = { type: 'raster', paint: { 'raster-fade-duration': 0, ...paint } }
    const own = isVector ? layers ?? vectorLayers(doc) : [image]
    this.layerIds = own.map(({ id }, at) => id ?? (at ? `${this.sourceId}-${at}` : this.sourceId))
    const below = before && map.getLayer(before) ? before : undefined
    own.forEach((layer, at) => map.addLayer({ ...layer, id: this.layerIds[at], source: this.sourceId }, below))
  }

  #take () {
    const map = /** @type {MapLibreMap} */ (this.map)
    if (!map.style || !map.getSource(this.sourceId)) return
    for (const id of this.layerIds) if (map.getLayer(id)) map.removeLayer(id)
    map.removeSource(this.sourceId)
  }

  #beginStep () {
    this.#source?._refresh()
    if (this.#step || !this.#source?._isShowing()) return
    let timer
    /** @type {any} */
    const step = {}
    step.promise = new Promise(resolve => {
      step.end = () => {
        clearTimeout(timer)
        this.#step = null
        resolve(undefined)
      }
    })
    timer = setTimeout(step.end, this.options.together)
    this.#step = step
  }

  #paint () {
    this.#step?.end()
    this.#source?._refresh()
  }
}

let count = 0

/**
 * Puts a layer's history on a map.
 * @param {MapLibreMap} map @param {string} db address of the database @param {HistoryLayerOptions} options
 */
export const historyLayer = (map, db, options) => new HistoryLayer(db, options).addTo(map)
