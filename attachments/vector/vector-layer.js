// A vector layer as of any time, with the interface of Leaflet's HistoryLayer. MapLibre draws it in the style of the
// layer.
import L from 'leaflet'
import { HistoryEngine } from '../../client/engine/history-engine.js'
import { tileWithVersions } from '../../client/engine/layer-methods.js'
import { leafletOptions } from '../../client/leaflet/layer-options.js'
import { attributionHtml } from '../../client/source/attribution.js'
import { HistoryLayer } from '../../client/maplibre/index.js'
import { delegate } from '../../client/timeline/delegate.js'
import { tileAt } from '../../core/index.js'
import { defaultStyle } from '../../core/style.js'
import { ask } from '../requests.js'
import { Differences, repaint } from './differences.js'
import { GlLayer } from './gl-layer.js'
import { Pointer, nameOf } from './pointer.js'

const FORWARDED = 'timechange timeload changes extent layerload storeerror storeback tileerror tileload'
const REACH = 4 // pixels around a place in which features are found
const MOST = 20 // maximum features of one place

export class VectorLayer extends GlLayer {
  #layer
  #doc
  #style
  #dark = matchMedia('(prefers-color-scheme: dark)')
  #stop = new AbortController()
  #differences
  #pointer = new Pointer(this)

  /**
   * @param {string} db
   * @param {any} options of HistoryLayer; `doc`: the layer's document; `style`: see readStyle
   */
  constructor (db, { doc, style, opacity, zIndex, fade, ...options }) {
    super({ ...options, opacity, zIndex })
    this.#doc = doc
    this.#style = style
    this.title = doc.name ?? doc.layer
    this.#layer = new HistoryLayer(db, { ...options, layers: style.layers })
    this.clock = this.#layer.clock
    this.#differences = new Differences(this)
    this.history.on(FORWARDED, ({ type, ...about }) => this.fire(type, about))
  }

  /** its time engine */
  get history () {
    return this.#layer.history
  }

  onAdd (map) {
    super.onAdd(map)
    const { attribution } = this.#doc
    this.options.attribution = attribution && attributionHtml(attribution)
    const { minZoom, maxZoom } = leafletOptions({ ...this.#doc, tileSize: 512 }, this.history.options.overzoom)
    Object.assign(this.options, { minZoom, maxZoom })
    map._addZoomLimit(this)
    this.#layer.addTo(this.gl)
    this.#stop = new AbortController()
    const { signal } = this.#stop
    this.#pointer.follow(map, signal)
    this.#dark.addEventListener('change', () => this.#restyle(), { signal })
    return this
  }

  onRemove (map) {
    this.#stop.abort()
    this.#layer.remove()
    map._removeZoomLimit(this)
    return super.onRemove(map)
  }

  getAttribution () {
    return this.options.attribution
  }

  /** Whether nothing is drawn in view. */
  isEmpty () {
    return !this.gl?.queryRenderedFeatures({ layers: this.#addedLayerIds }).length
  }

  /** Whether the present time is drawn completely. Draws it now, even in a background tab. */
  isDrawn () {
    let isIdle = false
    const onIdle = () => { isIdle = true }
    this.gl.on('idle', onIdle)
    this.gl.redraw()
    this.gl.off('idle', onIdle)
    return isIdle && this.history.changes() !== null && this.history.isShown()
  }

  /**
   * Draws the view of the layer on another canvas.
   * @param {CanvasRenderingContext2D} context
   * @param {{left: number, top: number, scale: number}} place pixels of the canvas where the view begins, and how many
   *   of them one pixel of the map takes
   */
  paint (context, { left, top, scale }) {
    if (this.gl.getPixelRatio() !== scale) this.gl.setPixelRatio(scale)
    this.gl.redraw() // the browser empties the canvas after this task
    context.drawImage(this.gl.getCanvas(), Math.round(left), Math.round(top))
  }

  /** The tile under a place, with its versions. */
  tileAt (place) {
    if (!this.gl) return null
    const { lat, lng } = this._map.wrapLatLng(L.latLng(place))
    const { minzoom = 0, maxzoom = 18 } = this.#doc
    const z = Math.min(Math.max(Math.floor(this.gl.getZoom()), minzoom), maxzoom)
    return tileWithVersions(this.history, tileAt(lng, lat, z))
  }

  /**
   * The features that are drawn at a place, the uppermost first, each feature once.
   * @param {L.LatLngExpression} place
   * @returns {{id: number | undefined, sourceLayer: string, properties: Record<string, any>}[]}
   */
  featuresAt (place) {
    if (!this.gl) return []
    const { lat, lng } = L.latLng(place)
    const { x, y } = this.gl.project([lng, lat])
    const box = [[x - REACH, y - REACH], [x + REACH, y + REACH]]
    const featuresByKey = new Map()
    for (const { id, sourceLayer, properties } of this.gl.queryRenderedFeatures(box, { layers: this.#addedLayerIds })) {
      const key = JSON.stringify([sourceLayer, id, properties])
      if (featuresByKey.size < MOST && !featuresByKey.has(key)) featuresByKey.set(key, { id, sourceLayer, properties })
    }
    return [...featuresByKey.values()]
  }

  /**
   * The names of features in view, and where each is first found.
   * @returns {{name: string, sourceLayer: string, lat: number, lon: number}[]}
   */
  namesInView () {
    if (!this.gl?.getSource(this.#layer.sourceId)) return []
    const view = this._map.getBounds()
    const sourceLayers = new Set(this.#addedLayerIds.map(id => this.gl.getLayer(id).sourceLayer).filter(Boolean))
    const places = new Map()
    for (const sourceLayer of sourceLayers) {
      for (const feature of this.gl.querySourceFeatures(this.#layer.sourceId, { sourceLayer })) {
        const name = nameOf(feature)
        if (!name || places.has(`${sourceLayer} ${name}`)) continue
        const [lon, lat] = middleOf(feature.geometry)
        if (view.contains([lat, lon])) places.set(`${sourceLayer} ${name}`, { name, sourceLayer, lat, lon })
      }
    }
    return [...places.values()]
  }

  /**
   * The features in view that were added, removed or changed between two times.
   * @returns {Promise<import('./differences.js').Differing>}
   */
  differences (from, to, signal) {
    return this.#differences.between(from, to, signal)
  }

  /** Marks features on the map instead of the present ones. @param {any[]} features GeoJSON */
  mark (features) {
    this.#differences.show(features)
  }

  /** Whether the page is dark. */
  get isDark () {
    return this.#dark.matches
  }

  get #addedLayerIds () {
    return this.#layer.layerIds.filter(id => this.gl.getLayer(id))
  }

  _files () {
    const { sprite, glyphs } = this.#style
    return { ...(sprite && { sprite }), ...(glyphs && { glyphs }) }
  }

  /** Reads the style for the dark or light scheme of the page. */
  async #restyle () {
    Object.assign(this.#style, await readStyle(this.#doc)) // layers that are opened later share it
    if (this.gl) repaint(this.gl, this.#style.layers)
    this.#differences.restyle()
  }
}

/** The middle point of a geometry's first line, ring or point. */
function middleOf ({ coordinates }) {
  let part = coordinates
  while (Array.isArray(part[0]?.[0])) [part] = part
  return Array.isArray(part[0]) ? part[part.length >> 1] : part
}

// getTime, changes, preload and the other methods of Leaflet's HistoryLayer
delegate(VectorLayer, HistoryEngine, 'history')

/** @typedef {{layers: any[], sprite?: string, glyphs?: string}} LayerStyle layers of the style, for one source */

/** @param {import('../store.js').Layer} doc @returns {Promise<LayerStyle>} */
export async function readStyle (doc) {
  const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  const address = new URL(`${encodeURIComponent(doc.layer)}/style.json?theme=${theme}`, document.baseURI)
  const style = await ask(address).catch(() => defaultStyle(doc, { theme })) // without a network
  if (!style) return { layers: [] }
  const { sources, layers, sprite, glyphs } = style
  const isOfLayer = ({ source }) => {
    const { url = '', tiles: [tile = ''] = [] } = sources[source] ?? {}
    return source === doc.layer || [url, tile].some(text => layerIn(text) === doc.layer)
  }
  const absolute = text => typeof text === 'string' && text ? unescaped(new URL(text, address).href) : undefined
  return { layers: layers.filter(isOfLayer), sprite: absolute(sprite), glyphs: absolute(glyphs) }
}

/** `…/LAYER@TIME.json`, `couch://LAYER/{z}/{x}/{y}.pbf` → LAYER */
const layerIn = address => /(?:^|\/)([a-z0-9][a-z0-9_-]*)(?:@[^/?]*)?(?:\.json|\/\{z\})/.exec(unescaped(address))?.[1]

/** Placeholders stay as they are. */
const unescaped = address => address.replace(/%7B/gi, '{').replace(/%7D/gi, '}')
