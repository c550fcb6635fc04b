// The controls of time for Leaflet: the exports of `tilecouch-client/timeline`. The modules of client/timeline know no
// map library:
//   timeline.js           the bar at the edge of the map: its state, its methods, the events that it listens to
//   toolbar.js            the upper row: buttons, the time in words, settings
//   axis.js               the lower row: bars, ticks, the thumb, the range, the tip; ticks.js says where ticks are
//   axis-input.js         mouse, fingers, wheel and keys on the axis
//   time-scale.js         times to pixels and back
//   player.js             plays a clock; playback.js decides when the next step is due, steps.js where it goes
//   compare-handle.js     the handle between two sides of a map
//   words.js, zones.js    all texts in English, for the option `words` to replace; time zones
//   dom.js                elements, icons, and the strip at the edge of the map
export { CompareControl, compare } from './compare-control.js'
export { TimelineControl, timeline } from './timeline-control.js'
export { Player, player } from '../timeline/player.js'
export { Timeline } from '../timeline/timeline.js'
