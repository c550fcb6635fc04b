// History in OpenLayers: what `import … from 'tilecouch-client/openlayers'` gives. OpenLayers comes from the page's own
// bundle.
import { gridOf } from '../../core/grids/index.js'
import { projectionOf } from './projection.js'

export * from './history.js'
export { registerProj4 } from '../../core/grids/index.js'
export { Player, player } from '../timeline/player.js'
export { Timeline } from '../timeline/timeline.js'
export { CompareControl, compare } from './compare-control.js'
export { TimelineControl, timeline } from './timeline-control.js'

/**
 * The projection of a grid, for the view of a map: `new View({ projection: projection('LV95') })`. One that was
 * registered with OpenLayers is used; for the others the page loads proj4js.
 * @param {string | {grid?: string | object}} grid its name, or the document of a layer
 * @returns {import('ol/proj/Projection.js').default}
 */
export function projection (grid) {
  return projectionOf(gridOf(typeof grid === 'string' ? { grid } : grid))
}
