/* global L, window -- of the page this is bundled for */
// What the test pages hold: the controls, on Leaflet from a script tag, over a map without a server.
import { clock } from '../../../client/engine/clock.js'
import { compare } from '../../../client/leaflet/compare-control.js'
import { player } from '../../../client/timeline/player.js'
import { timeline } from '../../../client/leaflet/timeline-control.js'
import { CompareHandle } from '../../../client/timeline/compare-handle.js'
import { Timeline } from '../../../client/timeline/timeline.js'
import { fakeLayer } from './fake-layer.js'

const makeMap = (options = {}) => L.map('map', { center: [20, 10], zoom: 3, fadeAnimation: false, ...options })

/** A map with a layer and its timeline. `times` are [time, tiles] pairs, or null while they are not known. */
function scene ({ times = null, extent = undefined, time = null, options = {}, map: mapOptions = {} } = {}) {
  const changes = times && times.map(([at, tiles]) => ({ time: at, tiles, bytes: tiles * 1000 }))
  const own = clock({ time })
  const map = makeMap(mapOptions)
  L.control.scale().addTo(map)
  const layer = fakeLayer({ clock: own, changes, extent }).addTo(map)
  const control = timeline(layer, options).addTo(map)
  const said = []
  own.on('timechange', event => said.push(event.time))
  control.on('rangechange', ({ from, to }) => said.push(['range', from, to]))
  Object.assign(window, { map, clock: own, layer, control, said })
}

/** How many listeners one of Leaflet's objects has, or one of ours. */
const listeners = ({ _events: ofLeaflet = {}, _listeners: ours = new Map() }) =>
  [...Object.values(ofLeaflet), ...ours.values()].reduce((sum, list) => sum + (list.length ?? list.size), 0)

Object.assign(window, {
  tilecouch: { CompareHandle, Timeline, clock, compare, player, timeline, fakeLayer, listeners, map: makeMap, scene }
})
