// Compares two times or two layers of one place in OpenLayers: with a handle that wipes from one to the other, or faded
// into each other.
import Control from 'ol/control/Control.js'
import { getRenderPixel } from 'ol/render.js'
import { CompareHandle } from '../timeline/compare-handle.js'
import { Comparison } from '../timeline/comparison.js'
import { delegate } from '../timeline/delegate.js'

/**
 * @typedef {import('ol/layer/Layer.js').default<any, any>} Layer
 * @typedef {Layer | Layer[] | null} Side on a canvas or WebGL
 * @typedef {import('../timeline/compare-handle.js').CompareOptions} CompareControlOptions mode: 'swipe' or 'fade'
 */

const Base = /** @type {new (options: any) => Control & CompareHandle} */ (/** @type {unknown} */ (Control))

/** Compares two sides of a map: with a swipe handle, or by fading. */
export class CompareControl extends Base {
  /** @param {Side} left @param {Side} right @param {CompareControlOptions} [options] */
  constructor (left, right, options) {
    const comparison = new Comparison(left, right, options, {
      modes: ['swipe', 'fade'],
      begin: () => this._begin(),
      end: () => this._end(),
      update: () => this._update()
    })
    super({ element: comparison.element })
    this._handle = comparison
    comparison.on('splitchange modechange', (/** @type {any} */ event) => { this.dispatchEvent({ ...event }) })
    this._cut = event => {
      cut(event, comparison.left.includes(event.target), this.getMode() === 'swipe' ? this.getSplit() : null)
    }
    this._resize = () => {
      const size = this.getMap()?.getSize()
      if (size) this._handle.setSize(size[0], size[1])
    }
  }

  setMap (map) {
    const before = this.getMap()
    before?.un('change:size', this._resize)
    if (before) this._handle.end()
    super.setMap(map)
    if (!map) return
    map.getOverlayContainerStopEvent().prepend(this._handle.element) // below the other controls
    map.on('change:size', this._resize)
    this._resize()
    this._handle.begin()
  }

  /** Sets the layers of both sides. @param {Side} left @param {Side} right */
  setLayers (left, right) {
    this._handle.setLayers(left, right)
    return this
  }

  _begin () {
    for (const layer of this._handle.layers) layer.on(['prerender', 'postrender'], this._cut)
  }

  _end () {
    for (const layer of this._handle.layers) layer.un(['prerender', 'postrender'], this._cut)
    for (const layer of this._handle.right) this._handle.restore(layer)
    this._redraw()
  }

  _update () {
    if (this.getMode() === 'fade') for (const layer of this._handle.right) this._handle.fade(layer, layer.getOpacity())
    this._redraw()
  }

  _redraw () {
    for (const layer of this._handle.layers) layer.changed()
  }
}

delegate(CompareControl, CompareHandle, '_handle')

/**
 * Clips drawing to one side of the map before a layer is drawn, and removes the clip afterwards.
 * @param {any} event @param {boolean} isLeft @param {number | null} split null: nothing is cut
 */
function cut (event, isLeft, split) {
  const { context, type, frameState: { size: [width, height] } } = event
  const isWebGL = 'scissor' in context
  if (type === 'postrender') {
    if (isWebGL) context.disable(context.SCISSOR_TEST)
    else if (event.target.isCut) context.restore()
    event.target.isCut = false
    return
  }
  if (split === null) return
  const [from, to] = isLeft ? [0, split * width] : [split * width, width]
  const corners = [[from, height], [to, height], [to, 0], [from, 0]].map(pixel => getRenderPixel(event, pixel))
  if (isWebGL) {
    const [[left, bottom], , [right, top]] = corners.map(corner => corner.map(Math.round))
    context.enable(context.SCISSOR_TEST)
    context.scissor(left, bottom, right - left, top - bottom)
    return
  }
  event.target.isCut = true
  context.save()
  context.beginPath()
  for (const [x, y] of corners) context.lineTo(x, y)
  context.closePath()
  context.clip()
}

/** @param {Side} left @param {Side} right @param {CompareControlOptions} [options] */
export const compare = (left, right, options) => new CompareControl(left, right, options)
