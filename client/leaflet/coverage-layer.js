// Marks the tiles that are on the device, over the map. These tiles can be shown without a network.
import L from './version.js'
import { checkLayer } from '../../core/index.js'
import { gridOf } from '../../core/grids/index.js'
import { columnsOf } from '../engine/resolve.js'
import { coverageOf } from '../offline/coverage.js'
import { gridMixin, zoomShift } from './grid-mixin.js'
import { leafletOptions } from './layer-options.js'

const KINDS = ['whole', 'part']
const PAUSE = 700 // milliseconds between two reads during a download

export const coverageDefaults = {
  /** @type {string | undefined} name of the layer; required */
  layer: undefined,
  /** opacity of the marks */
  opacity: 1,
  /** above the layers of tiles */
  zIndex: 50,
  /** class of the container */
  className: 'tilecouch-coverage-layer'
}

/**
 * @typedef {import('../offline/offline-store.js').OfflineStore} OfflineStore
 * @typedef {Omit<Partial<typeof coverageDefaults>, 'layer'> & {layer: string} & L.GridLayerOptions}
 *   CoverageLayerOptions
 *
 * @typedef {object} CoverageCounts numbers of tiles in view
 * @property {number} whole the tile, and all that the areas hold beneath it
 * @property {number} part not all of it: an area is incomplete, or holds only a part of what lies beneath
 *
 * @typedef {object} CoverageLayerEvents
 * @property {{tiles: CoverageCounts}} coverage the tiles in view were counted
 */

/**
 * @type {import('./leaflet.js').Base<L.GridLayer, typeof coverageDefaults & {layer: string} & L.GridLayerOptions,
 *   CoverageLayerEvents, typeof L.GridLayer>}
 */
const Base = /** @type {any} */ (L.GridLayer.extend({ includes: gridMixin, options: coverageDefaults }))

/**
 * Marks the tiles in view that are on the device: whole (with all deeper tiles of the areas) or in part. Follows
 * downloads and removals.
 */
export class CoverageLayer extends Base {
  /** @param {OfflineStore} offline @param {CoverageLayerOptions} options */
  constructor (offline, options) {
    super(options)
    checkLayer(options?.layer)
    this._offline = offline
    this._given = new Set(Object.keys(options)) // options of the caller win over the document
    this._kinds = new Map()
    this._due = 0 // when the next read is due, while there is a timer
    this._onChange = ({ layer, area }) => {
      if ((layer ?? area?.layer ?? this.options.layer) === this.options.layer) this._lookSoon(PAUSE)
    }
  }

  onAdd (map) {
    super.onAdd(map)
    this._offline.on('areas tiles progress', this._onChange)
    this._readLayer()
    return this
  }

  onRemove (map) {
    this._offline.off('areas tiles progress', this._onChange)
    clearTimeout(this._timer)
    this._timer = undefined
    super.onRemove(map)
    return this
  }

  createTile (coords) {
    const tile = L.DomUtil.create('div', 'tilecouch-coverage')
    const place = { z: coords.z + (this.options.zoomOffset ?? 0), x: coords.x, y: coords.y }
    tile.dataset.tile = `${place.z}/${place.x}/${place.y}`
    paint(tile, this._kinds.get(tile.dataset.tile))
    this._lookSoon(0)
    return tile
  }

  /** @returns {CoverageCounts} how many tiles in view are on the device, whole and in part */
  counts () {
    const counts = { whole: 0, part: 0 }
    const tilesInView = Object.values(this._tiles ?? {}).filter(({ current }) => current)
      .map(({ el }) => el.dataset.tile)
    for (const tile of new Set(tilesInView)) { // a wide map shows the world several times
      const kind = this._kinds.get(tile)
      if (kind) counts[kind]++
    }
    return counts
  }

  /** Counts again. Downloads of this device need no call. */
  refresh () {
    this._lookSoon(0)
    return this
  }

  // the first read is at once, the next one after a pause
  _lookSoon (pause) {
    if (!this._map) return
    const due = Math.max(performance.now() + (pause && 50), (this._looked ?? -Infinity) + pause)
    if (this._timer !== undefined && this._due <= due) return
    clearTimeout(this._timer)
    this._due = due
    this._timer = setTimeout(() => {
      this._timer = undefined
      this._look()
    }, Math.max(0, due - performance.now()))
  }

  async _look () {
    const turn = this._turn = {}
    const tiles = Object.values(this._tiles).map(({ el }) => placeOf(el)).filter(({ z, y }) => y >= 0 && y < 2 ** z)
    await this._readLayer()
    const kinds = await coverageOf(this._offline, this.options.layer, columnsOf(tiles), this._doc)
      .catch(() => undefined)
    this._looked = performance.now()
    if (!kinds || !this._map || this._turn !== turn) return // off the map, or another read has begun
    this._kinds = kinds
    for (const { el } of Object.values(this._tiles)) paint(el, kinds.get(`${el.dataset.tile}`))
    this.fire('coverage', { tiles: this.counts() })
  }

  /** Reads the layer's document for the zooms and the size of tiles. It comes to the device with the first area. */
  async _readLayer () {
    const { device } = this._offline
    const doc = await Promise.resolve(device.layer(this.options.layer)).catch(() => undefined)
    if (!doc || doc._rev === this._doc?._rev || !this._map) return
    this._doc = doc
    this._ranges = []
    const { maxNativeZoom, tileSize, zoomOffset } = this._optionsOf(doc)
    for (const [option, value] of Object.entries({ maxNativeZoom, tileSize, zoomOffset })) {
      if (value !== undefined && !this._given.has(option)) this.options[option] = value
    }
    this.redraw()
  }

  /** The document as options of Leaflet; none if the map has another grid than the layer. */
  _optionsOf (doc) {
    const grid = gridOf(doc)
    this._grid = grid.isWebMercator ? undefined : grid
    this._isElsewhere = false
    try {
      const shift = zoomShift(this._map, doc, this._grid) // throws where the tiles do not fit the map
      return leafletOptions(doc, 0, this._grid && { grid, shift })
    } catch {
      this._isElsewhere = true
      return {}
    }
  }

  // where tile layers report MAP_GRID, there is nothing to mark
  _isValidTile (coords) {
    return !this._isElsewhere && super._isValidTile(coords)
  }
}

/** @param {HTMLElement} el */
function placeOf ({ dataset: { tile = '' } }) {
  const [z, x, y] = tile.split('/').map(Number)
  return { z, x, y }
}

function paint (tile, kind) {
  for (const other of KINDS) tile.classList.toggle(`tilecouch-coverage-${other}`, other === kind)
}

/** @param {OfflineStore} offline @param {CoverageLayerOptions} options */
export const coverageLayer = (offline, options) => new CoverageLayer(offline, options)
