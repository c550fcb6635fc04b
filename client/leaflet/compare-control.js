// Two times, or two layers, of one place in Leaflet: under a handle that wipes from one to the other, faded into each
// other, or on two maps beside each other.
import L from './version.js'
import { CompareHandle, compareDefaults } from '../timeline/compare-handle.js'
import { delegate } from '../timeline/delegate.js'
import { element } from '../timeline/dom.js'
import { SideMap } from './side-map.js'

const MOVES = 'move zoom resize viewreset moveend'

const list = layers => layers ? Array.isArray(layers) ? [...layers] : [layers] : []

export const compareControlDefaults = compareDefaults

/**
 * @typedef {import('../timeline/compare-handle.js').CompareEvents} CompareControlEvents
 * @typedef {import('../timeline/compare-handle.js').CompareOptions & L.ControlOptions} CompareControlOptions
 * @typedef {L.GridLayer | L.GridLayer[] | null} Side layers with a container
 */

/**
 * @type {import('./leaflet.js').Base<L.Control & CompareHandle, typeof compareDefaults & L.ControlOptions,
 *   CompareControlEvents, typeof L.Control>}
 */
const Base = /** @type {any} */ (L.Control.extend({ includes: L.Evented.prototype, options: compareControlDefaults }))

/** Compares two sides: with a swipe handle, by fading, or on two maps. */
export class CompareControl extends Base {
  /** @param {Side} left @param {Side} right @param {CompareControlOptions} [options] */
  constructor (left, right, options) {
    super(options)
    this._left = list(left)
    this._right = list(right)
    this._side = /** @type {SideMap | null} */ (null)
    /** layer -> its opacity before it was faded */
    this._opacities = new Map()
    this._handle = new CompareHandle(this.options)
    this._handle.on('splitchange', event => {
      if (this._map) this._update()
      this.fire('splitchange', event)
    })
    this._handle.on('modechange', event => {
      if (this._map) {
        this._end()
        this._begin()
      }
      this.fire('modechange', event)
    })
    // a layer that is put on the map later is clipped when it is there
    this._onLayer = ({ target }) => this._map && this._side === null && this._show(target)
    this._offLayer = ({ target }) => this._whole(target)
  }

  addTo (map) {
    super.addTo(map)
    // over all of the map, below the controls in its corners
    this._container.classList.remove('leaflet-control')
    map._controlContainer.prepend(this._container)
    this._begin()
    return this
  }

  onAdd (map) {
    L.DomEvent.disableClickPropagation(this._handle.element)
    this._listen('on', this._left.concat(this._right))
    // a clip is laid in the pane, which moves under it. Zooming scales what is inside of the layer and leaves the pane
    // where it is, so that the clip holds while the map flies
    map.on(MOVES, this._update, this)
    return this._handle.element
  }

  onRemove (map) {
    this._end()
    map.off(MOVES, this._update, this)
    this._listen('off', this._left.concat(this._right))
  }

  /** Sets the layers of both sides. @param {Side} left @param {Side} right */
  setLayers (left, right) {
    const before = this._left.concat(this._right)
    if (this._map) {
      this._listen('off', before)
      this._end()
    }
    this._left = list(left)
    this._right = list(right)
    if (!this._map) return this
    this._listen('on', this._left.concat(this._right))
    return this._begin()
  }

  /**
   * Sets the pixels at the edges of the map that something else covers; the comparison uses the rest.
   * @param {{left: number, right: number, bottom: number}} padding
   */
  setPadding (padding) {
    this._handle.setPadding(padding)
    this._side?.align()
    return this
  }

  /** @returns {L.Map | null} the map of the left side while the mode is 'side', for a base map or marks */
  getSideMap () {
    return this._side?.map ?? null
  }

  _listen (onOff, layers) {
    for (const layer of layers) layer[onOff]('add', this._onLayer)[onOff]('remove', this._offLayer)
  }

  /** Shows the layers in the present mode. */
  _begin () {
    if (this.getMode() === 'side') this._openSide()
    return this._update()
  }

  /** Leaves the layers on the map as they were. */
  _end () {
    if (this._side) this._closeSide()
    for (const layer of this._left.concat(this._right)) this._whole(layer)
  }

  _openSide () {
    const label = this._handle.words.otherMap
    const box = element('div', { class: 'tilecouch-compare-other', role: 'region', 'aria-label': label })
    this._container.prepend(box)
    const { x, y } = this._map.getSize()
    this._handle.setSize(x, y) // before the second map is measured
    this._side = new SideMap(this._map, box, () => this._handle._padding)
    for (const layer of this._left) this._move(layer, this._side.map)
  }

  _closeSide () {
    const side = /** @type {SideMap} */ (this._side)
    const box = side.map.getContainer()
    for (const layer of this._left) if (layer._map === side.map) this._move(layer, this._map)
    this._side = null
    side.remove()
    box.remove()
  }

  /** A layer goes to another map; it is neither new nor gone. */
  _move (layer, map) {
    this._listen('off', [layer])
    layer.remove()
    layer.addTo(map)
    this._listen('on', [layer])
  }

  _update () {
    const { x, y } = this._map.getSize()
    this._handle.setSize(x, y)
    const corners = [this._map.containerPointToLayerPoint([0, 0]), this._map.containerPointToLayerPoint([x, y])]
    if (!this._side) for (const layer of this._left.concat(this._right)) this._show(layer, corners)
    return this
  }

  _show (layer, corners) {
    if (this.getMode() === 'fade') this._fade(layer)
    else this._clip(layer, corners)
  }

  _fade (layer) {
    if (!this._right.includes(layer) || layer._map !== this._map) return
    if (!this._opacities.has(layer)) this._opacities.set(layer, layer.options.opacity ?? 1)
    layer.setOpacity((1 - this.getSplit()) * this._opacities.get(layer))
  }

  _clip (layer, corners) {
    const container = layer._map === this._map ? layer.getContainer?.() : null
    if (!container) return
    const { x, y } = this._map.getSize()
    const [topLeft, bottomRight] = corners ??
      [this._map.containerPointToLayerPoint([0, 0]), this._map.containerPointToLayerPoint([x, y])]
    const middle = Math.round(topLeft.x + this.getSplit() * x)
    const [left, right] = this._left.includes(layer) ? [topLeft.x, middle] : [middle, bottomRight.x]
    const [top, bottom] = [topLeft.y, bottomRight.y]
    const polygon = [[left, top], [right, top], [right, bottom], [left, bottom]].map(point => `${point.join('px ')}px`)
    container.style.clipPath = `polygon(${polygon.join(', ')})`
  }

  /** Neither clipped nor faded. */
  _whole (layer) {
    const container = layer.getContainer?.()
    if (container) container.style.clipPath = ''
    if (!this._opacities.has(layer)) return
    layer.setOpacity(this._opacities.get(layer))
    this._opacities.delete(layer)
  }
}

delegate(CompareControl, CompareHandle, '_handle', ['element'])

/** @param {Side} left @param {Side} right @param {CompareControlOptions} [options] */
export const compare = (left, right, options) => new CompareControl(left, right, options)
