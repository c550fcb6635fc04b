// For script tags: adds the classes and factories to the global L, as Leaflet's plugins do.
import L from './leaflet/version.js'
import * as client from './index.js'

const {
  TilecouchError, Clock, CompareControl, CouchLayer, CoverageLayer, HistoryLayer, Mirror, OfflineStore, Player,
  TimelineControl
} = client
const {
  clock, compare, couchLayer, coverageLayer, crs, historyLayer, mirror, player, registerProj4, timeline
} = client

/** @param {import('./index.js').OfflineStoreOptions} options */
const offline = options => new OfflineStore(options)

Object.assign(L.TileLayer, { Couch: Object.assign(CouchLayer, { History: HistoryLayer, Coverage: CoverageLayer }) })
Object.assign(L.tileLayer, { couch: Object.assign(couchLayer, { history: historyLayer, coverage: coverageLayer }) })
Object.assign(L.Control, { Timeline: TimelineControl, Compare: CompareControl })
Object.assign(L.control, { timeline, compare })
Object.assign(L, {
  Couch: { Clock, Mirror, OfflineStore, Player, TilecouchError },
  couch: { clock, crs, mirror, offline, player, registerProj4 }
})
