/* global L, document, window -- of the page this is bundled for */
// The code of the test pages: the controls, on Leaflet from a script tag, over a map without a server.
import { clock } from '../../../client/engine/clock.js'
import { compare } from '../../../client/leaflet/compare-control.js'
import { player } from '../../../client/timeline/player.js'
import { timeline } from '../../../client/leaflet/timeline-control.js'
import { CompareHandle } from '../../../client/timeline/compare-handle.js'
import { Timeline } from '../../../client/timeline/timeline.js'

/** A history layer without a store: the test sets its changes, and when its tiles are loaded. */
const FakeLayer = L.GridLayer.extend({
  initialize (options) {
    L.GridLayer.prototype.initialize.call(this, options)
    this.clock = options.clock
    this.title = options.title ?? 'Fake'
    this.slow = false // while true, only arrive() completes the loading of tiles
    this._changes = options.changes ?? null
    this._extent = options.extent ??
      (this._changes?.length ? { first: this._changes[0].time, last: this._changes.at(-1).time } : null)
    this._shown = true
    this.clock.on('timechange', ({ time }) => {
      this._shown = !this.slow
      this.fire('timechange', { time })
      if (this._shown) this.fire('timeload', { time })
    })
  },

  createTile () {
    const tile = document.createElement('div')
    tile.style.background = this.options.colour ?? '#8fb3a0'
    tile.style.boxShadow = 'inset 0 0 0 1px #ffffff66'
    return tile
  },

  changes () {
    return this._changes
  },

  extent () {
    return this._extent
  },

  isShown () {
    return this._shown
  },

  /** Completes the loading of the tiles of the present time. */
  arrive () {
    this._shown = true
    this.fire('timeload', { time: this.clock.getTime() })
  },

  setChanges (changes) {
    this._changes = changes
    if (changes) this.fire('changes', { changes })
  },

  setExtent (extent) {
    this._extent = extent
    this.fire('extent', extent)
  }
})

// the timeline reads this property of the engine of a layer
Object.defineProperty(FakeLayer.prototype, 'isOnMap', { get () { return Boolean(this._map) } })

/** @param {{clock: any, title?: string, changes?: any, extent?: any, colour?: string}} options */
const fakeLayer = options => new FakeLayer(options)

const makeMap = (options = {}) => L.map('map', { center: [20, 10], zoom: 3, fadeAnimation: false, ...options })

/** A map with a layer and its timeline. `times` are [time, tiles] pairs, or null while they are not known. */
function scene ({ times = null, extent = undefined, time = null, options = {}, map: mapOptions = {} } = {}) {
  const changes = times && times.map(([changeTime, tiles]) => ({ time: changeTime, tiles, bytes: tiles * 1000 }))
  const sceneClock = clock({ time })
  const map = makeMap(mapOptions)
  L.control.scale().addTo(map)
  const layer = fakeLayer({ clock: sceneClock, changes, extent }).addTo(map)
  const control = timeline(layer, options).addTo(map)
  const events = []
  sceneClock.on('timechange', event => events.push(event.time))
  control.on('rangechange', ({ from, to }) => events.push(['range', from, to]))
  Object.assign(window, { map, clock: sceneClock, layer, control, said: events })
}

/** The number of listeners of an object of Leaflet, or of one of ours. */
const listeners = ({ _events: leafletEvents = {}, _listeners: ownListeners = new Map() }) =>
  [...Object.values(leafletEvents), ...ownListeners.values()].reduce((sum, list) => sum + (list.length ?? list.size), 0)

Object.assign(window, {
  tilecouch: { CompareHandle, Timeline, clock, compare, player, timeline, fakeLayer, listeners, map: makeMap, scene }
})
