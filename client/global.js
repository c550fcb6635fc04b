// For script tags: hangs the classes and factories on the global L, where Leaflet's plugins are looked for.
import L from 'leaflet'
import * as client from './index.js'

const { TilecouchError, Clock, clock, CouchLayer, couchLayer, HistoryLayer, historyLayer, Player, player } = client

Object.assign(L, { Couch: { TilecouchError, Clock, Player }, couch: { clock, player } })
Object.assign(L.TileLayer, { Couch: Object.assign(CouchLayer, { History: HistoryLayer }) })
Object.assign(L.tileLayer, { couch: Object.assign(couchLayer, { history: historyLayer }) })
