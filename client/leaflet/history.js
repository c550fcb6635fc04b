// One map with its history and nothing else: what `import … from 'tilecouch-client/history'` gives.
export { TilecouchError } from '../../core/index.js'
export { Clock, clock } from '../engine/clock.js'
export { HistoryLayer, historyLayer } from './history-layer.js'
