// The exports of `tilecouch-client/openlayers`: history in OpenLayers. OpenLayers comes from the bundle of the page.
import { gridOf } from '../../core/grids/index.js'
import { projectionOf } from './projection.js'

export * from './history.js'
export { registerProj4 } from '../../core/grids/index.js'
export { Player, player } from '../timeline/player.js'
export { Timeline } from '../timeline/timeline.js'
export { CompareControl, compare } from './compare-control.js'
export { TimelineControl, timeline } from './timeline-control.js'

/**
 * The projection of a grid, for the view of a map: `new View({ projection: projection('LV95') })`. A projection that is
 * registered with OpenLayers is used; for others the page must load proj4js.
 * @param {string | {grid?: string | object}} grid its name, or the document of a layer
 * @returns {import('ol/proj/Projection.js').default}
 */
export function projection (grid) {
  return projectionOf(gridOf(typeof grid === 'string' ? { grid } : grid))
}
