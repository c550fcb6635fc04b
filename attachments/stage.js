// What is to be seen: one layer on the map at the time of the clock, or two times of it side by side, and the timeline.
import L from 'leaflet'
import { Clock } from '../client/clock.js'
import { CompareControl } from '../client/compare-control.js'
import { HistoryLayer } from '../client/history/history-layer.js'
import { TimelineControl } from '../client/timeline/timeline-control.js'
import { time as written, setZone } from './format.js'

const FADE = 180 // milliseconds from version to version
const LAYER_EVENTS = 'changes extent timeload layerload storeerror storeback tileerror tileload tileunload'

/** Fires what its layer fires, and `time`, `range`, `compare` and `zone` when one of these is another. */
export class Stage extends L.Evented {
  clock = new Clock()
  /** @type {any} the history layer on the clock */
  layer = null
  /** @type {import('./store.js').Layer | null} */
  doc = null
  /** Whether two times are shown side by side: the start of the range, and the clock's. */
  comparing = false
  #map
  #container
  #db = ''
  /** @type {any} */
  #timeline = null
  #earlier = new Set() // layers that stay until the next one is drawn, so that nothing flashes
  /** @type {{layer: any, clock: any, control: any} | null} */
  #left = null

  /** @type {any} */
  #offline = null

  /** @param {HTMLElement} container of the timeline */
  constructor (map, container) {
    super()
    this.#map = map
    this.#container = container
    this.clock.on('timechange', () => {
      this.#label()
      this.fire('time')
    })
  }

  get time () {
    return this.clock.getTime()
  }

  /** The OfflineStore that layers read from as well, once there is anything in it. */
  get offline () {
    return this.#offline
  }

  set offline (offline) {
    if (offline === this.#offline) return
    this.#offline = offline
    if (offline && this.doc) this.show(this.#db, this.doc)
  }

  /** @returns {{from: string, to: string} | null} chosen on the timeline */
  get range () {
    return this.#timeline?.getRange() ?? null
  }

  /** @param {{from: string, to: string} | null} range */
  set range (range) {
    this.#timeline?.setRange(range)
  }

  /** A range somewhere in the middle of what the timeline shows. */
  chooseRange () {
    if (!this.range) this.#timeline?.toggleRange()
  }

  /** Whether the picture changes by itself at the moment. */
  get isPlaying () {
    return Boolean(this.#timeline?.player.isPlaying())
  }

  /** Puts a layer on the map, in the place of the one that is there. @param {import('./store.js').Layer} doc */
  show (db, doc) {
    this.#stopComparing()
    this.#retire()
    this.doc = doc
    this.#db = db
    const layer = this.layer = new HistoryLayer(db, { ...this.#reading(), clock: this.clock, live: true, fade: FADE })
    layer.on(LAYER_EVENTS, this.#forward, this)
    layer.once('timeload storeerror', () => this.#dropEarlier())
    layer.addTo(this.#map)
    if (doc.format === 'pbf') this.#dropEarlier() // nothing of it will be drawn
    if (this.#timeline) this.#timeline.setLayers(layer)
    else this.#openTimeline(layer)
    if (this.comparing) this.#startComparing()
  }

  clear () {
    this.compare(false)
    this.range = null
    this.#retire()
    this.#dropEarlier()
    this.layer = this.doc = null
    this.#timeline?.remove()
    this.#timeline = null
  }

  /** Asks again for everything that did not come. A layer that has not even begun begins anew. */
  retry () {
    if (!this.doc) return
    if (this.layer._isReady === false) this.show(this.#db, this.doc)
    else this.layer.retry()
    this.#left?.layer.retry()
  }

  /** @param {boolean} on needs a range: its start goes to the left, and the clock to its end */
  compare (on) {
    const range = this.range
    on &&= Boolean(range)
    if (on === this.comparing) return
    this.comparing = on
    if (on) {
      this.clock.setTime(range?.to)
      this.#startComparing()
    } else this.#stopComparing()
    this.fire('compare')
  }

  // the network first: what the store knows now is what the page tells; images that are here do not come again
  #reading () {
    return { layer: this.doc?.layer, ...(this.#offline && { offline: this.#offline, read: 'network' }) }
  }

  #forward (event) {
    this.fire(event.type, event)
  }

  #openTimeline (layer) {
    const timeline = this.#timeline = new TimelineControl(layer, { container: this.#container })
    timeline.on('rangechange', ({ from, to }) => this.#onRange(from, to))
    timeline.on('zonechange', ({ timeZone }) => {
      setZone(timeZone)
      this.#label()
      this.fire('zone')
    })
    timeline.addTo(this.#map)
  }

  #onRange (from, to) {
    if (!from) this.compare(false)
    else if (this.#left) {
      this.#left.clock.setTime(from)
      if (this.#left.to !== to) this.clock.setTime(to)
      this.#left.to = to
      this.#label()
    }
    this.fire('range')
  }

  #startComparing () {
    const { from, to } = /** @type {{from: string, to: string}} */ (this.range)
    const clock = new Clock({ time: from })
    // below the other one until both can be cut
    const layer = new HistoryLayer(this.#db, { ...this.#reading(), clock, zIndex: 0, fade: FADE, preload: 0 })
    const control = new CompareControl(layer, this.layer)
    this.#left = { layer, clock, control, to }
    layer.once('timeload', () => {
      if (this.#left?.control === control) control.addTo(this.#map)
      this.#label()
    })
    layer.addTo(this.#map)
  }

  #stopComparing () {
    if (!this.#left) return
    const { layer, control } = this.#left
    this.#left = null
    if (control._map) control.remove()
    layer.remove()
  }

  #label () {
    this.#left?.control.setLabels(written(this.#left.clock.getTime()), written(this.time))
  }

  #retire () {
    if (!this.layer) return
    this.layer.off(LAYER_EVENTS, this.#forward, this)
    this.#earlier.add(this.layer)
  }

  #dropEarlier () {
    for (const layer of this.#earlier) layer.remove()
    this.#earlier.clear()
  }
}
