// The exports of `tilecouch-client/maplibre/history`: one map with its history, and nothing else.
export { TilecouchError } from '../../core/errors.js'
export { Clock, clock } from '../engine/clock.js'
export { couchProtocol } from './protocol.js'
export { HistoryLayer, historyLayer } from './history-layer.js'
