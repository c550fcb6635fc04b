// Maps of OpenLayers in the coordinate systems of other grids than Web Mercator.
import { gridOf } from '../../core/grids/index.js'
import { projectionOf } from './projection.js'

/**
 * The projection of a grid, for the view of a map: `new View({ projection: projection('LV95') })`. One that was
 * registered with OpenLayers is used; for the others the page loads proj4js.
 * @param {string | {grid?: string | object}} grid its name, or the document of a layer
 * @returns {import('ol/proj/Projection.js').default}
 */
export function projection (grid) {
  return projectionOf(gridOf(typeof grid === 'string' ? { grid } : grid))
}
