// Two times, or two layers, of one place in OpenLayers: under a handle that wipes from one to the other, or faded into
// each other.
import Control from 'ol/control/Control.js'
import { getRenderPixel } from 'ol/render.js'
import { TilecouchError } from '../../core/errors.js'
import { CompareHandle } from '../timeline/compare-handle.js'
import { delegate } from '../timeline/delegate.js'

/**
 * @typedef {import('ol/layer/Layer.js').default<any, any>} Layer
 * @typedef {Layer | Layer[] | null} Side on a canvas or WebGL
 * @typedef {import('../timeline/compare-handle.js').CompareOptions} CompareControlOptions mode: 'swipe' or 'fade'
 */

/** @param {Side} layers */
const list = layers => layers ? [layers].flat() : []

const Base = /** @type {new (options: any) => Control & CompareHandle} */ (/** @type {unknown} */ (Control))

/** Two sides of a map: under a swipe handle, or faded into each other. */
export class CompareControl extends Base {
  /** @param {Side} left @param {Side} right @param {CompareControlOptions} [options] */
  constructor (left, right, options) {
    checkMode(options?.mode)
    const held = new CompareHandle(options)
    super({ element: held.element })
    this._handle = held
    this._left = list(left)
    this._right = list(right)
    /** layer -> its opacity before it was faded */
    this._opacities = new Map()
    held.on('splitchange modechange', (/** @type {any} */ event) => {
      this._update()
      this.dispatchEvent({ ...event })
    })
    this._cut = event => {
      cut(event, this._left.includes(event.target), this.getMode() === 'swipe' ? this.getSplit() : null)
    }
    this._resize = () => {
      const size = this.getMap()?.getSize()
      if (size) this._handle.setSize(size[0], size[1])
    }
  }

  setMap (map) {
    const before = this.getMap()
    before?.un('change:size', this._resize)
    if (before) this._end()
    super.setMap(map)
    if (!map) return
    map.getOverlayContainerStopEvent().prepend(this._handle.element) // below the other controls
    map.on('change:size', this._resize)
    this._resize()
    this._begin()
  }

  /** Other layers, or the same the other way round. @param {Side} left @param {Side} right */
  setLayers (left, right) {
    if (this.getMap()) this._end()
    this._left = list(left)
    this._right = list(right)
    if (this.getMap()) this._begin()
    return this
  }

  /** 'swipe' or 'fade'; another mode throws BAD_OPTION. @param {'swipe' | 'fade'} mode */
  setMode (mode) {
    this._handle.setMode(checkMode(mode))
    return this
  }

  _begin () {
    for (const layer of this._layers()) layer.on(['prerender', 'postrender'], this._cut)
    this._update()
  }

  /** Leaves the layers as they were. */
  _end () {
    for (const layer of this._layers()) layer.un(['prerender', 'postrender'], this._cut)
    this._show(null)
  }

  _update () {
    if (this.getMap()) this._show(this.getMode() === 'fade' ? 1 - this.getSplit() : null)
  }

  /** @param {number | null} share of the right side's opacity */
  _show (share) {
    for (const layer of this._right) {
      if (share !== null && !this._opacities.has(layer)) this._opacities.set(layer, layer.getOpacity())
      if (this._opacities.has(layer)) layer.setOpacity((share ?? 1) * this._opacities.get(layer))
      if (share === null) this._opacities.delete(layer)
    }
    for (const layer of this._layers()) layer.changed()
  }

  /** @returns {any[]} */
  _layers () {
    return [...this._left, ...this._right]
  }
}

delegate(CompareControl, CompareHandle, '_handle')

/**
 * Before a layer is drawn: only its side of the map. After it: all of it again.
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

/** @param {any} mode */
function checkMode (mode) {
  if (mode === 'side') throw new TilecouchError('BAD_OPTION', { option: 'mode', value: mode })
  return mode
}

/** @param {Side} left @param {Side} right @param {CompareControlOptions} [options] */
export const compare = (left, right, options) => new CompareControl(left, right, options)
