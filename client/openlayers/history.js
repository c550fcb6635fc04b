// The exports of `tilecouch-client/openlayers/history`: one map with its history, and nothing else.
import TileLayer from 'ol/layer/Tile.js'
import WebGLTileLayer from 'ol/layer/WebGLTile.js'
import { HistorySource } from './history-source.js'

export { TilecouchError } from '../../core/index.js'
export { Clock, clock } from '../engine/clock.js'
export { HistorySource } from './history-source.js'

/** Options of the layer in OpenLayers; all others are options of the source. */
const LAYER_OPTIONS = [
  'className', 'opacity', 'visible', 'extent', 'zIndex', 'minResolution', 'maxResolution', 'minZoom', 'maxZoom',
  'background', 'properties', 'style'
]

/**
 * @typedef {import('ol/layer/BaseTile.js').Options<any>} TileLayerOptions
 * @typedef {import('./history-source.js').HistorySourceOptions & {webgl?: boolean, style?:
 *   import('ol/layer/WebGLTile.js').Style} & Pick<TileLayerOptions, 'className' | 'opacity' | 'visible' | 'extent' |
 *   'zIndex' | 'minResolution' | 'maxResolution' | 'minZoom' | 'maxZoom' | 'background' | 'properties'>}
 *   HistoryLayerOptions
 */

/**
 * Makes a layer of OpenLayers that shows the history of a layer of the store. Its source is a HistorySource.
 * @param {import('ol/Map.js').default | null} map the layer is added to it
 * @param {string} db address of the database
 * @param {HistoryLayerOptions} options webgl: a WebGLTile layer instead of one on a canvas
 * @returns {import('ol/layer/BaseTile.js').default<HistorySource, any>}
 */
export function historyLayer (map, db, { webgl = false, ...options }) {
  const entries = Object.entries(options)
  const pick = isOfLayer => Object.fromEntries(entries.filter(([name]) => LAYER_OPTIONS.includes(name) === isOfLayer))
  const source = new HistorySource(db, /** @type {any} */ (pick(false)))
  const Layer = /** @type {any} */ (webgl ? WebGLTileLayer : TileLayer)
  const layer = new Layer({ ...pick(true), source })
  source.follow(layer)
  map?.addLayer(layer)
  return layer
}
