// One map with its history and nothing else: what `import … from 'tilecouch-client/openlayers/history'` gives.
export { TilecouchError } from '../../core/index.js'
export { Clock, clock } from '../engine/clock.js'
export { HistorySource } from './history-source.js'
export { historyLayer } from './history-layer.js'
