// The exports of `tilecouch-client/maplibre`: history in MapLibre GL JS.
export * from './history.js'
export { Player, player } from '../timeline/player.js'
export { Timeline } from '../timeline/timeline.js'
export { CompareControl, compare } from './compare-control.js'
export { TimelineControl, timeline } from './timeline-control.js'
