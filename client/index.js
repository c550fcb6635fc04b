// The exports of `tilecouch-client`. Leaflet comes from the bundle of the page. A page that needs only a part imports
// tilecouch-client/history, /timeline, /offline or /mirror.
export { TilecouchError } from '../core/index.js'
export { registerProj4 } from '../core/grids/index.js'
export { Clock, clock } from './engine/clock.js'
export { CouchLayer, couchLayer } from './leaflet/couch-layer.js'
export { CoverageLayer, coverageLayer } from './leaflet/coverage-layer.js'
export { crs } from './leaflet/crs.js'
export { HistoryLayer, historyLayer } from './leaflet/history-layer.js'
export { Mirror, mirror } from './mirror/index.js'
export { OfflineStore } from './offline/index.js'
export { CompareControl, Player, Timeline, TimelineControl, compare, player, timeline } from './leaflet/timeline.js'

/**
 * @typedef {import('./engine/clock.js').Time} Time
 * @typedef {import('./engine/clock.js').ExactTime} ExactTime
 * @typedef {import('./engine/clock.js').TimeRange} TimeRange
 * @typedef {import('./engine/clock.js').ClockOptions} ClockOptions
 * @typedef {import('./source/couch-source.js').Version} Version
 * @typedef {import('./source/couch-source.js').Column} Column
 * @typedef {import('./engine/version-index.js').Change} Change
 * @typedef {import('./engine/version-index.js').ChangedTile} ChangedTile
 * @typedef {import('./engine/store-link.js').LayerDocument} LayerDocument
 * @typedef {import('./leaflet/couch-layer.js').CouchLayerOptions} CouchLayerOptions
 * @typedef {import('./leaflet/history-layer.js').HistoryLayerOptions} HistoryLayerOptions
 * @typedef {import('./leaflet/coverage-layer.js').CoverageLayerOptions} CoverageLayerOptions
 * @typedef {import('./leaflet/coverage-layer.js').CoverageCounts} CoverageCounts
 * @typedef {import('./timeline/player.js').PlayerOptions} PlayerOptions
 * @typedef {import('./timeline/player.js').TimedLayer} TimedLayer
 * @typedef {import('./timeline/timeline.js').TimelineOptions} TimelineOptions
 * @typedef {import('./timeline/timeline.js').TimeZone} TimeZone
 * @typedef {import('./leaflet/timeline-control.js').TimelineControlOptions} TimelineControlOptions
 * @typedef {import('./timeline/words.js').TimelineWords} TimelineWords
 * @typedef {import('./timeline/words.js').CompareWords} CompareWords
 * @typedef {import('./leaflet/compare-control.js').CompareControlOptions} CompareControlOptions
 * @typedef {import('./timeline/compare-handle.js').CompareMode} CompareMode
 * @typedef {import('./leaflet/compare-control.js').Side} Side
 * @typedef {import('./mirror/index.js').MirrorOptions} MirrorOptions
 * @typedef {import('./mirror/index.js').MirrorStatus} MirrorStatus
 * @typedef {import('./offline/offline-store.js').OfflineStoreOptions} OfflineStoreOptions
 * @typedef {import('./offline/offline-store.js').PouchConstructor} PouchConstructor
 * @typedef {import('./offline/offline-store.js').TransferLimits} TransferLimits
 * @typedef {import('./offline/areas.js').Areas} Areas
 * @typedef {import('./offline/areas.js').AreaRequest} AreaRequest
 * @typedef {import('./offline/area.js').Area} Area
 * @typedef {import('./offline/area.js').AreaState} AreaState
 * @typedef {import('./offline/area.js').AreaStatus} AreaStatus
 * @typedef {import('./offline/area-spec.js').AreaSpec} AreaSpec
 * @typedef {import('./offline/estimate.js').Estimate} AreaEstimate
 * @typedef {import('./offline/device.js').Device} Device
 * @typedef {import('./offline/storage.js').StorageRoom} StorageRoom
 */
