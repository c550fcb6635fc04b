// The view that a layer of OpenLayers has of a HistorySource: the columns of tiles in view on its map, and the tiles
// that its renderer keeps.
import { inView } from 'ol/layer/Layer.js'
import { calculateSourceResolution } from 'ol/reproj.js'
import { equivalent, transformExtent } from 'ol/proj.js'
import { boundingExtent, getBottomLeft, getBottomRight, getCenter, getTopLeft, getTopRight } from 'ol/extent.js'
import { isInColumns, viewColumns } from '../engine/resolve.js'

export class LayerView {
  /** @type {import('ol/Map.js').default | null} */
  map = null
  /** whether the map has another projection than the tiles */
  isReprojected = false
  #layer
  #source
  #listeners
  /** @type {import('ol/Map.js').FrameState | undefined} */
  #frame
  /** the columns that were last drawn in full @type {import('../source/couch-source.js').Column[]} */
  #covered = []
  /** @type {number | undefined} set by limit() */
  #limit

  /**
   * @param {any} layer
   * @param {import('./history-source.js').HistorySource} source
   * @param {{onMap: () => void, onFrame: () => void}} listeners onFrame: before a frame is drawn
   */
  constructor (layer, source, listeners) {
    this.#layer = layer
    this.#source = source
    this.#listeners = listeners
    layer.on('change:map', () => {
      this.#findMap()
      listeners.onMap()
    })
    this.#findMap()
  }

  /** Hides the layer where OpenLayers would ask for the many tiles of a deeper zoom. */
  limit () {
    const grid = /** @type {import('ol/tilegrid/TileGrid.js').default} */ (this.#source.getTileGrid())
    const most = this.#layer.getMaxResolution()
    if (most !== Infinity && most !== this.#limit) return // the caller set it
    const minZoom = grid.getMinZoom()
    this.#limit = minZoom ? grid.getResolution(minZoom) * Math.SQRT2 : Infinity
    this.#layer.setMaxResolution(this.#limit)
  }

  /**
   * The columns in view, and those that the map is moving to.
   * @param {boolean} isStepping add the columns of the previous zoom while it is visible
   */
  columns (isStepping) {
    const frame = this.#frame
    const state = frame?.layerStatesArray.find(({ layer }) => layer === this.#layer)
    if (!frame || !state || !inView(state, frame.viewState)) return []
    const { extent, nextExtent, viewState: { resolution, nextResolution, projection } } = frame
    const columns = this.#columnsOf(extent, resolution, projection)
    if (nextExtent) columns.push(...this.#columnsOf(nextExtent, nextResolution ?? resolution, projection))
    if (this.#source._isCovered(columns)) this.#covered = columns
    else if (isStepping) columns.push(...this.#covered.filter(({ z }) => !columns.some(column => column.z === z)))
    return columns
  }

  /** Repaints in the next frame. @param {Set<import('./history-tile.js').Place>} changed */
  paint (changed) {
    // as OpenLayers does for a new WebGL context: textures are made again from the images of the tiles
    this.#layer.getRenderer()?.tileRepresentationCache?.forEach(entry => {
      if (changed.has(entry.tile.place)) entry.setHelper(entry.helper)
    })
    this.#layer.changed()
  }

  /** Takes tiles of closed places out of the renderer, which would go on showing them. */
  forget () {
    const renderer = this.#layer.getRenderer()
    const cache = renderer?.tileRepresentationCache ?? renderer?.getTileCache()
    if (!cache) return
    const closedKeys = []
    cache.forEach((entry, key) => { if ((entry.tile ?? entry).place?.isClosed) closedKeys.push(key) })
    if (closedKeys.length === cache.getCount()) return cache.clear() // its `remove` leaves the last one
    for (const key of closedKeys) cache.remove(key).dispose()
  }

  #findMap () {
    this.map?.un('precompose', this.#onFrame)
    this.map = this.#layer.getMapInternal()
    this.map?.on('precompose', this.#onFrame)
    this.#frame = undefined
    this.#covered = []
  }

  #onFrame = ({ frameState }) => {
    this.#frame = frameState
    this.isReprojected = !equivalent(/** @type {any} */ (this.#source.getProjection()), frameState.viewState.projection)
    this.#listeners.onFrame()
  }

  #columnsOf (extent, resolution, projection) {
    const { zDirection } = this.#source
    const grid = /** @type {import('ol/tilegrid/TileGrid.js').default} */ (this.#source.getTileGrid())
    const rangeOf = (/** @type {any} */ box, z) => {
      const { minX, minY, maxX, maxY } = grid.getTileRangeForExtentAndZ(box, z)
      const range = { min: { x: minX, y: minY }, max: { x: maxX, y: maxY } }
      return viewColumns(range, z, this.#source._ranges(z), this.#source._wraps)
    }
    if (!this.isReprojected) {
      const z = grid.getZForResolution(resolution, zDirection)
      const levels = Math.min(this.#layer.getPreload(), z - grid.getMinZoom())
      return Array.from({ length: levels + 1 }, (_, up) => rangeOf(extent, z - up)).flat()
    }
    // OpenLayers reprojects whole tiles, and chooses a zoom for each. So these are the places that it asked for, at the
    // zooms of the middle and the corners
    const sourceProjection = /** @type {import('ol/proj/Projection.js').default} */ (this.#source.getProjection())
    const mapGrid = this.#source.getTileGridForProjection(projection)
    const mapZoom = mapGrid.getZForResolution(resolution, zDirection)
    const { minX, minY, maxX, maxY } = mapGrid.getTileRangeForExtentAndZ(extent, mapZoom)
    const ends = [
      mapGrid.getTileCoordExtent([mapZoom, minX, minY]), mapGrid.getTileCoordExtent([mapZoom, maxX, maxY])
    ]
    const whole = boundingExtent(ends.flatMap(tile => [getBottomLeft(tile), getTopRight(tile)]))
    const zooms = [getCenter, getBottomLeft, getBottomRight, getTopLeft, getTopRight]
      .map(placeOf => calculateSourceResolution(sourceProjection, projection, placeOf(whole), resolution))
      .filter(isFinite).map(tileResolution => grid.getZForResolution(tileResolution, zDirection))
    const box = transformExtent(whole, projection, sourceProjection)
    const columns = [...new Set(zooms)].flatMap(z => rangeOf(box, z))
    return [...this.#source._places].filter(({ z, x, y }) => isInColumns(columns, z, x, y))
      .map(({ z, x, y }) => ({ z, x, y0: y, y1: y }))
  }
}
