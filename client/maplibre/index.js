// History in MapLibre GL JS: what `import … from 'tilecouch-client/maplibre'` gives.
export { TilecouchError } from '../../core/index.js'
export { Clock, clock } from '../engine/clock.js'
export { HistoryLayer, historyLayer } from './history-layer.js'
