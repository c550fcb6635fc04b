// The controls of time for Leaflet: what `import … from 'tilecouch-client/timeline'` gives.
export { CompareControl, compare } from './compare-control.js'
export { TimelineControl, timeline } from './timeline-control.js'
export { Player, Timeline, player } from '../timeline/index.js'
