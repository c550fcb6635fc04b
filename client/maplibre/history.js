// One map with its history and nothing else: what `import … from 'tilecouch-client/maplibre/history'` gives.
export { TilecouchError } from '../../core/errors.js'
export { Clock, clock } from '../engine/clock.js'
export { couchProtocol } from './protocol.js'
export { HistoryLayer, historyLayer } from './history-layer.js'
