// Compares two times or two layers of one place in Leaflet: with a handle that wipes from one to the other, faded into
// each other, or on two maps beside each other.
import L from './version.js'
import { CompareHandle, compareDefaults } from '../timeline/compare-handle.js'
import { Comparison } from '../timeline/comparison.js'
import { delegate } from '../timeline/delegate.js'
import { element } from '../timeline/dom.js'
import { SideMap } from './side-map.js'

const MOVES = 'move zoom resize viewreset moveend'

// the table of options in docs/client.md is made from this name
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
    this._side = /** @type {SideMap | null} */ (null)
    /** @type {Comparison<L.GridLayer>} */
    this._handle = new Comparison(left, right, this.options, {
      modes: ['swipe', 'fade', 'side'],
      begin: () => this._begin(),
      end: () => this._end(),
      update: () => this._update()
    })
    this._handle.on('splitchange modechange', (/** @type {any} */ event) => { this.fire(event.type, event) })
    // a layer that is added to the map later is clipped then
    this._onLayer = ({ target }) => this._map && this._side === null && this._show(target)
    this._offLayer = ({ target }) => this._whole(target)
  }

  addTo (map) {
    super.addTo(map)
    // over all of the map, below the controls in its corners
    this._container.classList.remove('leaflet-control')
    map._controlContainer.prepend(this._container)
    this._handle.begin()
    return this
  }

  onAdd (map) {
    L.DomEvent.disableClickPropagation(this._handle.element)
    // a clip is relative to the pane, which the map moves. Zooming scales the content of the layer and leaves the pane
    // in place, so that the clip stays right during the animation
    map.on(MOVES, this._update, this)
    return this._handle.element
  }

  onRemove (map) {
    this._handle.end()
    map.off(MOVES, this._update, this)
  }

  /** Sets the layers of both sides. @param {Side} left @param {Side} right */
  setLayers (left, right) {
    this._handle.setLayers(left, right)
    return this
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

  _begin () {
    this._listen('on', this._handle.layers)
    if (this.getMode() === 'side') this._openSide()
  }

  _end () {
    if (this._side) this._closeSide()
    this._listen('off', this._handle.layers)
    for (const layer of this._handle.layers) this._whole(layer)
  }

  _openSide () {
    const label = this._handle.words.otherMap
    const box = element('div', { class: 'tilecouch-compare-other', role: 'region', 'aria-label': label })
    this._container.prepend(box)
    const { x, y } = this._map.getSize()
    this._handle.setSize(x, y) // before the second map is measured
    this._side = new SideMap(this._map, box, () => this._handle._padding)
    for (const layer of this._handle.left) this._move(layer, this._side.map)
  }

  _closeSide () {
    const side = /** @type {SideMap} */ (this._side)
    const box = side.map.getContainer()
    for (const layer of this._handle.left) if (layer._map === side.map) this._move(layer, this._map)
    this._side = null
    side.remove()
    box.remove()
  }

  /** Moves a layer to another map, without handling it as added or removed. */
  _move (layer, map) {
    this._listen('off', [layer])
    layer.remove()
    layer.addTo(map)
    this._listen('on', [layer])
  }

  _update () {
    const { x, y } = this._map.getSize()
    this._handle.setSize(x, y)
    if (!this._side) for (const layer of this._handle.layers) this._show(layer)
  }

  _show (layer) {
    if (this.getMode() !== 'fade') return this._clip(layer)
    const isFaded = this._handle.right.includes(layer) && layer._map === this._map
    if (isFaded) this._handle.fade(layer, layer.options.opacity ?? 1)
  }

  _clip (layer) {
    const container = layer._map === this._map ? layer.getContainer?.() : null
    if (!container) return
    const { x, y } = this._map.getSize()
    const [topLeft, bottomRight] = [[0, 0], [x, y]].map(corner => this._map.containerPointToLayerPoint(corner))
    const middle = Math.round(topLeft.x + this.getSplit() * x)
    const [left, right] = this._handle.left.includes(layer) ? [topLeft.x, middle] : [middle, bottomRight.x]
    const [top, bottom] = [topLeft.y, bottomRight.y]
    const polygon = [[left, top], [right, top], [right, bottom], [left, bottom]].map(point => `${point.join('px ')}px`)
    container.style.clipPath = `polygon(${polygon.join(', ')})`
  }

  /** Removes the clip of a layer, and restores its opacity. */
  _whole (layer) {
    const container = layer.getContainer?.()
    if (container) container.style.clipPath = ''
    this._handle.restore(layer)
  }
}

delegate(CompareControl, CompareHandle, '_handle', ['element'])

/** @param {Side} left @param {Side} right @param {CompareControlOptions} [options] */
export const compare = (left, right, options) => new CompareControl(left, right, options)
