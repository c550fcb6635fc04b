// The layers of the map besides the chosen one: a base map under all of them, and layers over each other, with their
// order and opacity. They show the time of the clock; the base map shows the newest. A comparison on two maps has them
// on both maps.
import L from 'leaflet'
import { CouchLayer } from '../client/leaflet/couch-layer.js'
import { attributionHtml } from '../client/source/attribution.js'

const OVERZOOM = 6 // zooms beyond the last one of a base map, in which it is enlarged
const STEP = 10 // between the z-indexes of two layers: a compared layer lies right below the chosen one

/** Stands for the chosen layer in the order. */
export const CHOSEN = '*'

/**
 * @typedef {{name: string, opacity: number}} Entry name: of a layer, or CHOSEN; opacity: 0 to 1
 * @typedef {Entry & {zIndex: number, isBase?: boolean}} Placed
 */

/** A layer may be the base map and lie over it. @param {Placed} entry */
const keyOf = ({ name, isBase = false }) => `${name} ${isBase}`

/** The layers of a stack on one map. */
class MapLayers {
  #map
  #open
  /** @type {Map<string, any>} key -> layer on the map */
  #layers = new Map()

  /** @param {(entry: Placed) => any} open makes a layer that is on no map yet */
  constructor (map, open) {
    this.#map = map
    this.#open = open
  }

  /** Brings the map in line. @param {Placed[]} entries */
  apply (entries) {
    for (const [key, layer] of this.#layers) {
      if (entries.some(entry => keyOf(entry) === key)) continue
      layer.remove()
      this.#layers.delete(key)
    }
    for (const entry of entries) {
      const { opacity, zIndex } = entry
      const layer = this.#layers.get(keyOf(entry))
      if (!layer) this.#layers.set(keyOf(entry), this.#open(entry).addTo(this.#map))
      else {
        layer.setZIndex(zIndex)
        if (layer.options.opacity !== opacity) layer.setOpacity(opacity)
      }
    }
  }
}

/** Fires `stack` when the layers, their order or their opacity have changed. */
export class LayerStack extends L.Evented {
  /** The base map: a layer of the store, '' for none, or CHOSEN for the operator's template. */
  base = ''
  #stage
  /** @type {Entry[]} from the bottom to the top */
  #entries = [{ name: CHOSEN, opacity: 1 }]
  /** @type {Map<any, MapLayers>} map -> its layers */
  #maps = new Map()
  /** @type {import('./store.js').Layer[]} */
  #docs = []
  /** @type {import('../core/settings.js').Settings['base']} of the operator */
  #template

  constructor (map, stage) {
    super()
    this.#stage = stage
    this.addMap(map)
  }

  /** From the bottom to the top, with the chosen layer among them. @returns {readonly Entry[]} */
  get entries () {
    return this.#entries
  }

  /** The z-index of a layer. */
  zIndexOf (name = CHOSEN) {
    return STEP * (this.#entries.findIndex(entry => entry.name === name) + 1)
  }

  opacityOf (name = CHOSEN) {
    return this.#entries.find(entry => entry.name === name)?.opacity ?? 1
  }

  /** Sets the layers of the store and the base map of the operator. Removes layers that no longer exist. */
  know (docs, template) {
    this.#docs = docs
    this.#template = template
    const missing = this.#entries.filter(({ name }) => name !== CHOSEN && !this.#docOf(name))
    if (missing.length) this.set(this.#entries.filter(entry => !missing.includes(entry)))
    this.setBase(this.base)
  }

  /** Whether a layer lies over the map, or under it, besides the chosen one. */
  has (name) {
    return this.#entries.some(entry => entry.name === name)
  }

  /** Puts a layer on the top, or takes it off. */
  toggle (name) {
    this.set(this.has(name)
      ? this.#entries.filter(entry => entry.name !== name) : [...this.#entries, { name, opacity: 1 }])
  }

  /** @param {number} by 1 is higher, -1 lower */
  move (name, by) {
    const entries = [...this.#entries]
    const index = entries.findIndex(entry => entry.name === name)
    const to = index + by
    if (index < 0 || to < 0 || to >= entries.length) return
    entries.splice(to, 0, ...entries.splice(index, 1))
    this.set(entries)
  }

  /** @param {number} opacity 0 to 1 */
  fade (name, opacity) {
    this.set(this.#entries.map(entry => entry.name === name ? { name, opacity } : entry))
  }

  /** @param {Entry[]} entries from the bottom to the top; the chosen layer is among them in any case */
  set (entries) {
    const valid = entries.filter(({ name }, index) => entries.findIndex(entry => entry.name === name) === index &&
      (name === CHOSEN || this.#docOf(name)))
    this.#entries = valid.some(({ name }) => name === CHOSEN) ? valid : [{ name: CHOSEN, opacity: 1 }, ...valid]
    this.apply()
    this.fire('stack')
  }

  /** @param {string} name of a layer, '' for none, CHOSEN for the operator's template; none if it is missing */
  setBase (name) {
    const doc = this.#docOf(name)
    const isAvailable = name === CHOSEN ? typeof this.#template === 'object' : doc && doc.format !== 'pbf'
    const base = isAvailable ? name : ''
    if (base === this.base) return
    this.base = base
    this.apply()
    this.fire('stack')
  }

  /** The title of the operator's template; undefined if there is none. */
  get templateName () {
    if (typeof this.#template !== 'object') return undefined
    return this.#template.name ?? this.#template.url.replace(/^https?:\/\/|[/?].*$/g, '')
  }

  /** Shows the same layers on another map, too. */
  addMap (map) {
    this.#maps.set(map, new MapLayers(map, entry => entry.isBase ? this.#openBase(entry.name) : this.#open(entry)))
    this.apply()
  }

  removeMap (map) {
    this.#maps.get(map)?.apply([])
    this.#maps.delete(map)
  }

  /** Brings all maps in line with the entries, their order and their opacity. */
  apply () {
    const { doc, layer, comparison } = this.#stage
    if (!doc) return this.clear()
    const drawn = this.#entries.filter(({ name }) => name !== CHOSEN && name !== doc.layer && this.#isDrawn(name))
    const placed = drawn.map(entry => ({ ...entry, zIndex: this.zIndexOf(entry.name) }))
    const base = { name: this.base, opacity: 1, zIndex: 1, isBase: true }
    const all = this.base && this.base !== doc.layer ? [...placed, base] : placed
    for (const layers of this.#maps.values()) layers.apply(all)
    layer.setZIndex(this.zIndexOf())
    if (layer.options.opacity !== this.opacityOf() && !comparison.isFading) layer.setOpacity(this.opacityOf())
  }

  /** Removes all layers from the maps. The entries stay. */
  clear () {
    for (const layers of this.#maps.values()) layers.apply([])
  }

  /** Opens all layers again, for example to read from the device too. */
  reopen () {
    this.clear()
    this.apply()
  }

  /** Whether a layer can be drawn. If code has to be loaded first, apply() runs again afterwards. */
  #isDrawn (name) {
    const doc = this.#docOf(name)
    if (!doc || this.#stage.draws(doc)) return Boolean(doc)
    this.#stage.prepare(doc).then(() => { if (this.#stage.draws(doc)) this.apply() }, () => {})
    return false
  }

  #open ({ name, opacity, zIndex }) {
    return this.#stage.open(this.#docOf(name), { clock: this.#stage.clock, live: true, opacity, zIndex })
  }

  #openBase (name) {
    if (name === CHOSEN && typeof this.#template === 'object') {
      const { url, attribution, maxzoom = 19 } = this.#template
      return L.tileLayer(url, {
        zIndex: 1, maxNativeZoom: maxzoom, maxZoom: maxzoom + OVERZOOM,
        attribution: attribution && attributionHtml(attribution)
      })
    }
    const { db } = this.#stage
    return new CouchLayer(db, { ...this.#stage.reading(this.#docOf(name)), zIndex: 1, overzoom: OVERZOOM })
  }

  #docOf (name) {
    return this.#docs.find(doc => doc.layer === name)
  }
}
