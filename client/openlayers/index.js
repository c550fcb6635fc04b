// History in OpenLayers: what `import … from 'tilecouch-client/openlayers'` gives. OpenLayers comes from the page's own
// bundle.
export * from './history.js'
export { registerProj4 } from '../../core/grids/index.js'
export { projection } from './grids.js'
export { Player, player } from '../timeline/player.js'
export { Timeline } from '../timeline/timeline.js'
export { CompareControl, compare } from './compare-control.js'
export { TimelineControl, timeline } from './timeline-control.js'
