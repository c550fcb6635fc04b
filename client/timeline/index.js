// The controls of time: what `import … from 'tilecouch-client/timeline'` gives. The bar at the edge of the map is made
// of
//   timeline-control.js   the control: its state, its methods, what it listens to
//   toolbar.js            the upper row: buttons, the time in words, settings
//   axis.js               the lower row: bars, ticks, the thumb, the range, the tip; ticks.js says where ticks are
//   axis-input.js         mouse, fingers, wheel and keys on the axis
//   time-scale.js         times to pixels and back
//   steps.js              steps from change to change
//   words.js, zones.js    all texts in English, for the option `words` to replace; time zones
//   dom.js                elements, icons, and the strip at the edge of the map
// playback.js is the player's: it decides when the next step is due.
export { CompareControl, compare } from '../leaflet/compare-control.js'
export { Player, player } from './player.js'
export { TimelineControl, timeline } from './timeline-control.js'
