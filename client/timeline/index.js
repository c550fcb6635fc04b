// The controls of time, without a map library; client/leaflet/timeline.js has those of Leaflet. The bar at the edge of
// the map is made of
//   timeline.js           its state, its methods, what it listens to; layers.js: what it asks of layers
//   toolbar.js            the upper row: buttons, the time in words, settings
//   axis.js               the lower row: bars, ticks, the thumb, the range, the tip; ticks.js says where ticks are
//   axis-input.js         mouse, fingers, wheel and keys on the axis
//   time-scale.js         times to pixels and back
//   steps.js              steps from change to change
//   words.js, zones.js    all texts in English, for the option `words` to replace; time zones
//   dom.js                elements, icons, and the strip at the edge of the map
// playback.js is the player's: it decides when the next step is due.
// compare-handle.js is between two sides of a map.
export { Player, player } from './player.js'
export { Timeline } from './timeline.js'
