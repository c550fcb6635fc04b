// The exports of `tilecouch-client/history`: one map with its history, and nothing else.
export { TilecouchError } from '../../core/index.js'
export { Clock, clock } from '../engine/clock.js'
export { HistoryLayer, historyLayer } from './history-layer.js'
