// The controls of time: what `import … from 'tilecouch-client/timeline'` gives.
export { CompareControl, compare } from '../compare-control.js'
export { Player, player } from '../player.js'
export { TimelineControl, timeline } from './timeline-control.js'
