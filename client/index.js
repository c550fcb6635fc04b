// The client library: everything that `import … from 'tilecouch/client'` gives. Leaflet comes from the page's own bundle.
export { TilecouchError } from '../core/index.js'
export { Clock, clock } from './clock.js'
export { CompareControl, compare } from './compare-control.js'
export { CouchLayer, couchLayer } from './couch-layer.js'
export { HistoryLayer, historyLayer } from './history/history-layer.js'
export { Mirror, mirror } from './mirror/index.js'
export { Player, player } from './player.js'
export { TimelineControl, timeline } from './timeline/index.js'
