// The layers of the map besides the one that is chosen: a base map under all of them, and others over each other, with
// their order and opacity. All of them show the time of the clock; the base map shows the newest.
import L from 'leaflet'
import { CouchLayer } from '../client/couch-layer.js'
import { attributionHtml } from '../client/source/layer-options.js'

const OVERZOOM = 6 // zooms in which a base map is enlarged, beyond its last one
const STEP = 10 // between the z-indexes of two layers: what is compared with one lies right below it

/** Stands for the chosen layer in the order. */
export const CHOSEN = '*'

/**
 * @typedef {{name: string, opacity: number}} Entry name: of a layer, or CHOSEN; opacity: 0 to 1
 */

/** Fires `stack` when there are others, or they lie or look different. */
export class LayerStack extends L.Evented {
  /** The base map: a layer of the store, '' for none, or CHOSEN for the operator's template. */
  base = ''
  #map
  #stage
  /** @type {Entry[]} from the bottom to the top */
  #entries = [{ name: CHOSEN, opacity: 1 }]
  /** @type {Map<string, any>} name -> layer on the map */
  #layers = new Map()
  /** @type {any} */
  #baseLayer = null
  /** @type {import('./store.js').Layer[]} */
  #docs = []
  /** @type {import('../core/settings.js').Settings['base']} of the operator */
  #template

  constructor (map, stage) {
    super()
    this.#map = map
    this.#stage = stage
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

  /** The layers that there are now, and the base map that the operator has chosen. */
  know (docs, template) {
    this.#docs = docs
    this.#template = template
    const gone = this.#entries.filter(({ name }) => name !== CHOSEN && !this.#docOf(name))
    if (gone.length) this.set(this.#entries.filter(entry => !gone.includes(entry)))
    if (this.base && this.base !== CHOSEN && !this.#docOf(this.base)) this.setBase('')
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
    const at = entries.findIndex(entry => entry.name === name)
    const to = at + by
    if (at < 0 || to < 0 || to >= entries.length) return
    entries.splice(to, 0, ...entries.splice(at, 1))
    this.set(entries)
  }

  /** @param {number} opacity 0 to 1 */
  fade (name, opacity) {
    this.set(this.#entries.map(entry => entry.name === name ? { name, opacity } : entry))
  }

  /** @param {Entry[]} entries from the bottom to the top; the chosen layer is among them in any case */
  set (entries) {
    const known = entries.filter(({ name }, at) => entries.findIndex(other => other.name === name) === at &&
      (name === CHOSEN || this.#docOf(name)))
    this.#entries = known.some(({ name }) => name === CHOSEN) ? known : [{ name: CHOSEN, opacity: 1 }, ...known]
    this.apply()
    this.fire('stack')
  }

  /** @param {string} name of a layer, '' for none, CHOSEN for the operator's template */
  setBase (name) {
    if (name === this.base) return
    this.base = name
    this.apply()
    this.fire('stack')
  }

  /** The title of the operator's template; nothing where there is none. */
  get templateName () {
    return typeof this.#template === 'object' ? this.#template.name ?? this.#template.url.replace(/^https?:\/\/|[/?].*$/g, '') : undefined
  }

  /** A base map for another map than this one. */
  makeBase () {
    if (this.base === this.#stage.doc?.layer) return null
    if (this.base === CHOSEN && typeof this.#template === 'object') {
      const { url, attribution, maxzoom = 19 } = this.#template
      return L.tileLayer(url, {
        zIndex: 1, maxNativeZoom: maxzoom, maxZoom: maxzoom + OVERZOOM,
        attribution: attribution && attributionHtml(attribution)
      })
    }
    const doc = this.#docOf(this.base)
    return doc ? new CouchLayer(this.#stage.db, { ...this.#stage.reading(doc), zIndex: 1, overzoom: OVERZOOM }) : null
  }

  /** Brings the map in line: what is wanted is on it, as high and as opaque as wanted. */
  apply () {
    const chosen = this.#stage.doc?.layer
    if (!chosen) return this.clear()
    const wanted = this.#entries.filter(({ name }) => name !== CHOSEN && name !== chosen)
    for (const [name, layer] of this.#layers) {
      if (wanted.some(entry => entry.name === name)) continue
      layer.remove()
      this.#layers.delete(name)
    }
    for (const { name } of wanted) {
      if (this.#layers.has(name)) continue
      const layer = this.#stage.open(this.#docOf(name), { clock: this.#stage.clock, live: true })
      this.#layers.set(name, layer.addTo(this.#map))
    }
    for (const { name, opacity } of this.#entries) {
      const layer = name === CHOSEN ? this.#stage.layer : this.#layers.get(name)
      if (!layer) continue
      layer.setZIndex(this.zIndexOf(name))
      if (layer.options.opacity !== opacity && !(name === CHOSEN && this.#stage.comparing)) layer.setOpacity(opacity)
    }
    this.#applyBase(this.base === chosen ? '' : this.base)
  }

  /** Takes all of it off the map; what is wanted stays known. */
  clear () {
    for (const layer of this.#layers.values()) layer.remove()
    this.#layers.clear()
    this.#applyBase('')
  }

  /** Opens all of it anew: from the device as well, from now on. */
  reopen () {
    this.clear()
    this.apply()
  }

  #applyBase (name) {
    if (this.#baseLayer?.name === name || (!this.#baseLayer && !name)) return
    this.#baseLayer?.layer.remove()
    const layer = name ? this.makeBase() : null
    this.#baseLayer = layer && { name, layer: layer.addTo(this.#map) }
  }

  #docOf (name) {
    return this.#docs.find(({ layer, format }) => layer === name && format !== 'pbf')
  }
}
