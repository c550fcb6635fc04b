// The state of the viewer's map: the chosen layer at the time of the clock, the layers under and over it, the
// comparison and the timeline.
import L from 'leaflet'
import { Clock } from '../client/engine/clock.js'
import { HistoryLayer } from '../client/leaflet/history-layer.js'
import { leafletOptions } from '../client/leaflet/layer-options.js'
import { TimelineControl } from '../client/leaflet/timeline-control.js'
import { Comparison } from './comparison.js'
import { loadScript } from './device.js'
import { setZone, timelineWords, zoneId } from './format.js'
import { isInOtherGrid } from './other-grid.js'
import { LayerStack } from './stack.js'

const FADE = 180 // milliseconds from version to version
const PRELOAD = 2 // changes before and after the present time to fetch in advance, once the user has changed the time
const LAYER_EVENTS = 'changes extent timeload layerload storeerror storeback tileerror tileload tileunload'

/**
 * Fires the events of its layer, `time`, `range`, `compare`, `split`, `stack`, `zone` when one of these changes, `show`
 * when another layer is chosen, and `pause` when a playback stops.
 */
export class Stage extends L.Evented {
  clock = new Clock()
  /** @type {any} the history layer on the clock */
  layer = null
  /** @type {import('./store.js').Layer | null} */
  doc = null
  /** Address of the database. */
  db = ''
  #map
  #container
  /** @type {any} */
  #timeline = null
  #previous = new Set() // layers that stay until the next one is drawn, so that the map does not flash
  /** @type {any} */
  #offline = null
  #preload = 0
  /** @type {any} the bundle that draws vector layers, once it is loaded */
  #vectors = null
  /** @type {Map<string, any>} vector layer -> its style */
  #styles = new Map()
  /** @type {boolean | undefined} undefined: not known yet */
  #hasWebGL
  #comparisons = 0 // number of the last call of compare()

  /** @param {HTMLElement} container of the timeline */
  constructor (map, container) {
    super()
    this.#map = map
    this.#container = container
    /** The layers under and over the chosen one. */
    this.stack = new LayerStack(map, this)
    /** The comparison of the chosen layer. */
    this.comparison = new Comparison(map, this)
    this.stack.on('stack', () => {
      this.comparison.onStack()
      this.fire('stack')
    })
    this.clock.on('timechange', () => {
      // images are only loaded in advance after the user has changed the time
      if (this.layer) this.layer.history.options.preload = this.#preload = PRELOAD
      this.comparison.label()
      this.fire('time')
    })
    this.on('storeback', () => this.#prepareAgain())
  }

  get time () {
    return this.clock.getTime()
  }

  /** Whether two times or layers are shown beside or over each other. */
  get comparing () {
    return this.comparison.left !== null
  }

  /** The first and the last time of the layer; null while they are unknown. */
  get extent () {
    return this.layer?.extent() ?? null
  }

  /** Whether the layer has no second time to compare with. */
  get hasOneEdition () {
    const { extent } = this
    return extent !== null && extent.first === extent.last
  }

  /** The player of the timeline; undefined before there is one. */
  get player () {
    return this.#timeline?.player
  }

  /** The OfflineStore that layers also read from, once it has areas. */
  get offline () {
    return this.#offline
  }

  set offline (offline) {
    if (offline === this.#offline) return
    this.#offline = offline
    if (!offline || !this.doc) return
    this.show(this.db, this.doc)
    this.stack.reopen()
  }

  /** @returns {{from: string, to: string} | null} chosen on the timeline */
  get range () {
    return this.#timeline?.getRange() ?? null
  }

  /** @param {{from: string, to: string} | null} range */
  set range (range) {
    this.#timeline?.setRange(range)
  }

  /** The zone of all times of the page. @param {string} name 'utc' or 'local' */
  setZone (name) {
    if (name === zoneId()) return
    setZone(name)
    this.#timeline?.setTimeZone(name)
    this.comparison.label()
    this.fire('zone')
  }

  /** Whether the timeline is playing. */
  get isPlaying () {
    return Boolean(this.player?.isPlaying())
  }

  /** Whether a layer can be drawn: vector tiles only after their style was loaded. */
  draws (doc) {
    const { layer, format } = doc
    return !isInOtherGrid(doc) && (format !== 'pbf' || this.#styles.has(layer))
  }

  /** Whether the browser can draw vector tiles. */
  get hasWebGL () {
    this.#hasWebGL ??= Boolean(document.createElement('canvas').getContext('webgl2'))
    return this.#hasWebGL
  }

  /** Loads the code and style that a layer needs. Without WebGL, vector tiles are not drawn. */
  async prepare (doc) {
    if (this.draws(doc) || isInOtherGrid(doc) || !this.hasWebGL) return
    this.#vectors ??= await import(await loadScript('vector-script'))
    this.#styles.set(doc.layer, await this.#vectors.readStyle(doc))
  }

  /** Shows a layer on the map instead of the present one. @param {import('./store.js').Layer} doc */
  show (db, doc) {
    if (!this.draws(doc)) this.compare(null)
    this.comparison.pause()
    this.#retire()
    this.doc = doc
    this.db = db
    const layer = this.layer = this.open(doc, {
      clock: this.clock, live: true, zIndex: this.stack.zIndexOf(), opacity: this.stack.opacityOf()
    })
    layer.on(LAYER_EVENTS, this.#forward, this)
    layer.once('timeload storeerror', () => this.#dropPrevious())
    if (!isInOtherGrid(doc)) layer.addTo(this.#map)
    if (!this.draws(doc)) this.#dropPrevious()
    if (this.#timeline) this.#timeline.setLayers(layer)
    else this.#openTimeline(layer)
    this.stack.apply()
    this.comparison.resume()
    this.fire('show')
  }

  clear () {
    this.compare(null)
    this.range = null
    this.#retire()
    this.#dropPrevious()
    this.layer = this.doc = null
    this.stack.clear()
    this.#timeline?.remove()
    this.#timeline = null
    this.fire('show')
  }

  /** Requests everything again that failed. A layer that is not ready is opened again. */
  retry () {
    if (!this.doc) return
    if (!this.layer.history.isReady) this.show(this.db, this.doc)
    else this.layer.retry()
    this.comparison.retry()
    this.#prepareAgain()
  }

  /** Draws the layer if its code did not load when it was chosen. */
  async #prepareAgain () {
    const { doc, layer } = this
    if (!doc || this.draws(doc)) return
    await this.prepare(doc).catch(() => {}) // the next call tries again
    if (this.layer === layer && this.doc && this.draws(this.doc)) this.show(this.db, this.doc)
  }

  /**
   * Compares the layer with another time of it, or with another layer; null: ends the comparison. Two times of one
   * layer are also the range of the timeline.
   * @param {import('./comparison.js').Left | null} left
   */
  compare (left) {
    const attempt = ++this.#comparisons
    if (!left && !this.comparing) return
    if (left?.doc && !this.draws(left.doc)) {
      const { doc } = left
      this.prepare(doc).then(() => {
        if (attempt === this.#comparisons && this.draws(doc)) this.compare(left) // not chosen anew or ended meanwhile
      }, () => {})
      return
    }
    this.comparison.set(left && this.doc && this.draws(this.doc) && this.draws(left.doc ?? this.doc) ? left : null)
    this.fire('compare')
  }

  /** Creates a layer of the store that is not on the map yet. */
  open (doc, options) {
    const layerOptions = { ...this.reading(doc), fade: FADE, preload: this.#preload, ...options }
    const style = this.#styles.get(doc.layer)
    if (style) return new this.#vectors.VectorLayer(this.db, { ...layerOptions, doc, style })
    const layer = new HistoryLayer(this.db, layerOptions)
    // the map allows these zooms before the layer has read its document
    const { minZoom, maxZoom } = leafletOptions(doc, layer.options.overzoom)
    L.setOptions(layer, { minZoom, maxZoom })
    return layer
  }

  /** Creates small pictures of the layer, which has vector tiles. @param {AbortSignal} signal closes it */
  openPictures (signal) {
    return new this.#vectors.VectorPictures(this, signal)
  }

  /**
   * The options for the source of a layer: the network first, because the page shows the present state of the store.
   * Images that are on the device are not downloaded again.
   */
  reading ({ layer }) {
    return { layer, ...(this.#offline && { offline: this.#offline, read: 'network' }) }
  }

  #forward (event) {
    this.fire(event.type, event)
  }

  #openTimeline (layer) {
    const timeline = this.#timeline = new TimelineControl(layer, {
      container: this.#container, words: timelineWords, timeZone: zoneId()
    })
    timeline.on('rangechange', ({ from, to }) => {
      this.comparison.onRange(from, to)
      this.fire('range')
    })
    timeline.player.on('pause', () => this.fire('pause'))
    timeline.on('zonechange', ({ timeZone }) => this.setZone(timeZone))
    timeline.addTo(this.#map)
  }

  #retire () {
    if (!this.layer) return
    this.layer.off(LAYER_EVENTS, this.#forward, this)
    this.#previous.add(this.layer)
  }

  #dropPrevious () {
    for (const layer of this.#previous) layer.remove()
    this.#previous.clear()
  }
}
