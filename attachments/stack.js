// The layers of the map besides the one that is chosen: a base map under all of them, and others over each other, with
// their order and opacity. All of them show the time of the clock; the base map shows the newest. In a comparison on
// two maps, both have them.
import L from 'leaflet'
import { CouchLayer } from '../client/leaflet/couch-layer.js'
import { attributionHtml } from '../client/source/attribution.js'

const OVERZOOM = 6 // zooms in which a base map is enlarged, beyond its last one
const STEP = 10 // between the z-indexes of two layers: what is compared with one lies right below it

/** Stands for the chosen layer in the order. */
export const CHOSEN = '*'

/**
 * @typedef {{name: string, opacity: number}} Entry name: of a layer, or CHOSEN; opacity: 0 to 1
 */

/** What of a stack lies on one map. */
class MapLayers {
  #map
  #open
  #openBase
  /** @type {Map<string, any>} name -> layer on the map */
  #layers = new Map()
  /** @type {{name: string, layer: any} | null} */
  #base = null

  /**
   * @param {{open: (entry: Entry & {zIndex: number}) => any, openBase: (name: string) => any}} layers make layers that
   *   are on no map yet
   */
  constructor (map, { open, openBase }) {
    this.#map = map
    this.#open = open
    this.#openBase = openBase
  }

  /** Brings the map in line. @param {(Entry & {zIndex: number})[]} entries @param {string} base '' for none */
  apply (entries, base) {
    for (const [name, layer] of this.#layers) {
      if (entries.some(entry => entry.name === name)) continue
      layer.remove()
      this.#layers.delete(name)
    }
    for (const entry of entries) {
      const { name, opacity, zIndex } = entry
      const layer = this.#layers.get(name)
      if (!layer) this.#layers.set(name, this.#open(entry).addTo(this.#map))
      else {
        layer.setZIndex(zIndex)
        if (layer.options.opacity !== opacity) layer.setOpacity(opacity)
      }
    }
    if (base === (this.#base?.name ?? '')) return
    this.#base?.layer.remove()
    this.#base = base ? { name: base, layer: this.#openBase(base).addTo(this.#map) } : null
  }
}

/** Fires `stack` when there are others, or they lie or look different. */
export class LayerStack extends L.Evented {
  /** The base map: a layer of the store, '' for none, or CHOSEN for the operator's template. */
  base = ''
  #stage
  /** @type {Entry[]} from the bottom to the top */
  #entries = [{ name: CHOSEN, opacity: 1 }]
  /** @type {Map<any, MapLayers>} map -> what lies on it */
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

  /** The layers that there are now, and the base map that the operator has chosen. */
  know (docs, template) {
    this.#docs = docs
    this.#template = template
    const gone = this.#entries.filter(({ name }) => name !== CHOSEN && !this.#docOf(name))
    if (gone.length) this.set(this.#entries.filter(entry => !gone.includes(entry)))
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

  /** @param {string} name of a layer, '' for none, CHOSEN for the operator's template; what is not there is none */
  setBase (name) {
    const doc = this.#docOf(name)
    const isThere = name === CHOSEN ? typeof this.#template === 'object' : doc && doc.format !== 'pbf'
    const base = isThere ? name : ''
    if (base === this.base) return
    this.base = base
    this.apply()
    this.fire('stack')
  }

  /** The title of the operator's template; nothing where there is none. */
  get templateName () {
    if (typeof this.#template !== 'object') return undefined
    return this.#template.name ?? this.#template.url.replace(/^https?:\/\/|[/?].*$/g, '')
  }

  /** The same lies on another map, too. */
  addMap (map) {
    const layers = new MapLayers(map, { open: entry => this.#open(entry), openBase: name => this.#openBase(name) })
    this.#maps.set(map, layers)
    this.apply()
  }

  removeMap (map) {
    this.#maps.get(map)?.apply([], '')
    this.#maps.delete(map)
  }

  /** Brings all maps in line: what is wanted is on them, as high and as opaque as wanted. */
  apply () {
    const { doc, layer, comparison } = this.#stage
    if (!doc) return this.clear()
    const drawn = this.#entries.filter(({ name }) => name !== CHOSEN && name !== doc.layer && this.#isDrawn(name))
    const others = drawn.map(entry => ({ ...entry, zIndex: this.zIndexOf(entry.name) }))
    for (const layers of this.#maps.values()) layers.apply(others, this.base === doc.layer ? '' : this.base)
    layer.setZIndex(this.zIndexOf())
    if (layer.options.opacity !== this.opacityOf() && !comparison.isFading) layer.setOpacity(this.opacityOf())
  }

  /** Takes all of it off the maps; what is wanted stays known. */
  clear () {
    for (const layers of this.#maps.values()) layers.apply([], '')
  }

  /** Opens all of it anew: from the device as well, from now on. */
  reopen () {
    this.clear()
    this.apply()
  }

  /** Whether a layer can be drawn. If that needs something first, this is asked again when it is there. */
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
