// Two times, or two layers, of one place: under a handle that wipes from one to the other, faded into each other, or on
// two maps beside each other.
import L from 'leaflet'
import { TilecouchError } from '../../core/errors.js'
import { SideMap } from './side-map.js'
import { element, icon, write } from '../timeline/dom.js'
import { compareWords } from '../timeline/words.js'

// shares of the width
const STEPS = {
  ArrowRight: 0.02, ArrowUp: 0.02, PageUp: 0.1, ArrowLeft: -0.02, ArrowDown: -0.02, PageDown: -0.1, Home: -1, End: 1
}

const TRACK = 320 // pixels of the handle's way while it fades
const MOST_TRACK = 0.6 // of the width of the map

const MOVES = 'move zoom resize viewreset moveend'
const MODES = ['swipe', 'fade', 'side']

const list = layers => layers ? Array.isArray(layers) ? [...layers] : [layers] : []

export const compareDefaults = {
  /**
   * @type {CompareMode} 'swipe': left and right of a handle; 'fade': the right one turns into the left one, which lies
   * below it; 'side': the left one has a map of its own
   */
  mode: 'swipe',
  /** where the handle is: of the width of the map that shows the left side, or of the left side while it fades */
  split: 0.5,
  /** what the left side shows; nothing: no label */
  leftLabel: '',
  /** what the right side shows */
  rightLabel: '',
  /** the handle's name for screen readers */
  label: 'Compare: left and right',
  /** @type {Partial<CompareWords>} its texts in another language: the fields of compareWords that are given */
  words: {}
}

/**
 * @typedef {import('../timeline/words.js').CompareWords} CompareWords
 * @typedef {'swipe' | 'fade' | 'side'} CompareMode how two sides are shown
 * @typedef {Partial<typeof compareDefaults> & L.ControlOptions} CompareControlOptions
 * @typedef {L.GridLayer | L.GridLayer[] | null} Side layers with a container that can be clipped
 *
 * @typedef {object} CompareControlEvents
 * @property {{split: number}} splitchange the handle moved
 * @property {{mode: CompareMode}} modechange `setMode` was called
 */

const Base = /** @type {import('./leaflet.js').Base<L.Control & L.Evented, typeof compareDefaults & L.ControlOptions, CompareControlEvents, typeof L.Control>} */ (
  /** @type {unknown} */ (L.Control.extend({ includes: L.Evented.prototype, options: compareDefaults })))

/** Two sides: under a swipe handle, faded into each other, or on two maps. */
export class CompareControl extends Base {
  /** @param {Side} left @param {Side} right @param {CompareControlOptions} [options] */
  constructor (left, right, options) {
    super(options)
    this._words = /** @type {CompareWords} */ ({ ...compareWords, ...this.options.words })
    this._left = list(left)
    this._right = list(right)
    this._ended = new AbortController() // of what the handle listens to
    this._labels = /** @type {HTMLElement[]} */ ([])
    this._split = clamp(this.options.split)
    this._mode = checkMode(this.options.mode)
    this._side = /** @type {SideMap | null} */ (null)
    /** layer -> its opacity before it was faded */
    this._opacities = new Map()
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
    this._ended = new AbortController()
    this._labels = ['left', 'right'].map(side => element('span', { class: `tilecouch-compare-label tilecouch-compare-${side}` }))
    this._handle = element('div', { class: 'tilecouch-compare-handle', role: 'slider', tabindex: 0, 'aria-label': this.options.label, 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-orientation': 'horizontal' }, [icon('swap')])
    this._divider = element('div', { class: 'tilecouch-compare-divider' }, [...this._labels, this._handle])
    this._track = element('div', { class: 'tilecouch-compare-track' })
    const container = this._container = element('div', { class: 'tilecouch-compare' }, [this._track, this._divider])
    L.DomEvent.disableClickPropagation(this._divider).disableScrollPropagation(this._handle)
    this._listenToHandle(this._ended.signal)
    this._listen('on', this._left.concat(this._right))
    // a clip is laid in the pane, which moves under it. Zooming scales what is inside of the layer and leaves the pane
    // where it is, so that the clip holds while the map flies
    map.on(MOVES, this._update, this)
    this._writeLabels()
    return container
  }

  onRemove (map) {
    this._end()
    this._ended.abort()
    map.off(MOVES, this._update, this)
    this._listen('off', this._left.concat(this._right))
  }

  /** Other layers, or the same the other way round. @param {Side} left @param {Side} right */
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

  /** What the sides show; an empty text: no label. @param {string} left @param {string} right */
  setLabels (left, right) {
    Object.assign(this.options, { leftLabel: left, rightLabel: right })
    if (this._map) this._writeLabels()
    return this
  }

  /** @returns {CompareMode} how the sides are shown */
  getMode () {
    return this._mode
  }

  /** How the sides are shown; another mode throws BAD_OPTION. @param {CompareMode} mode */
  setMode (mode) {
    if (mode === this._mode) return this
    checkMode(mode)
    if (this._map) this._end()
    this._mode = mode
    if (this._map) this._begin()
    return this.fire('modechange', { mode })
  }

  /** @returns {L.Map | null} the map of the left side while the mode is 'side', for a base map or marks */
  getSideMap () {
    return this._side?.map ?? null
  }

  /** @returns {number} where the handle is, a share of the width of the map */
  getSplit () {
    return this._split
  }

  /** A share of the width, 0 to 1. @param {number} split */
  setSplit (split) {
    const next = clamp(split)
    if (next === this._split) return this
    this._split = next
    if (this._map) this._update()
    return this.fire('splitchange', { split: next })
  }

  _listen (onOff, layers) {
    for (const layer of layers) layer[onOff]('add', this._onLayer)[onOff]('remove', this._offLayer)
  }

  /** Shows the layers in the present mode. */
  _begin () {
    for (const mode of MODES) this._container.classList.toggle(`tilecouch-compare-${mode}`, mode === this._mode)
    if (this._mode === 'side') this._openSide()
    return this._update()
  }

  /** Leaves the layers on the map as they were. */
  _end () {
    if (this._side) this._closeSide()
    for (const layer of this._left.concat(this._right)) this._whole(layer)
  }

  _openSide () {
    const box = element('div', { class: 'tilecouch-compare-other', role: 'region', 'aria-label': this._words.otherMap })
    this._container.prepend(box)
    const { x, y } = this._map.getSize()
    Object.assign(this._container.style, { width: `${x}px`, height: `${y}px` }) // before the second map is measured
    this._container.classList.toggle('tilecouch-compare-stacked', y > x)
    this._side = new SideMap(this._map, box)
    for (const layer of this._left) this._move(layer, this._side.map)
  }

  _closeSide () {
    const side = /** @type {SideMap} */ (this._side)
    const box = side.map.getContainer()
    for (const layer of this._left) if (layer._map === side.map) this._move(layer, this._map)
    this._side = null
    side.remove()
    box.remove()
    this._container.classList.remove('tilecouch-compare-stacked')
  }

  /** A layer goes to another map; it is neither new nor gone. */
  _move (layer, map) {
    this._listen('off', [layer])
    layer.remove()
    layer.addTo(map)
    this._listen('on', [layer])
  }

  _writeLabels () {
    const { leftLabel, rightLabel } = this.options
    for (const [index, text] of [leftLabel, rightLabel].entries()) {
      write(this._labels[index], { text: text ?? '' })
      this._labels[index].hidden = !text
    }
    this._value()
  }

  _value () {
    const { leftLabel, rightLabel } = this.options
    const { left, right } = this._words
    const share = Math.round(this._split * 100)
    const text = this._words[this._mode === 'fade' ? 'fade' : 'swipe'](leftLabel || left, share, rightLabel || right, 100 - share)
    write(this._handle, { 'aria-valuenow': share, 'aria-valuetext': text })
  }

  /** Where the handle moves, in pixels of the map. */
  _way () {
    const { x } = this._map.getSize()
    if (this._mode !== 'fade') return { from: 0, length: x }
    const length = Math.min(TRACK, MOST_TRACK * x)
    return { from: (x - length) / 2, length }
  }

  _update () {
    const { x, y } = this._map.getSize()
    // the container of the controls has no height of its own
    Object.assign(this._container.style, { width: `${x}px`, height: `${y}px` })
    const { from, length } = this._way()
    const isStacked = Boolean(this._side) && y > x
    this._container.classList.toggle('tilecouch-compare-stacked', isStacked)
    this._track.style.width = `${length}px`
    const at = this._side ? (isStacked ? 0 : x / 2) : from + this._split * length
    this._divider.style.transform = `translateX(${Math.round(at)}px)`
    this._value()
    const corners = [this._map.containerPointToLayerPoint([0, 0]), this._map.containerPointToLayerPoint([x, y])]
    if (!this._side) for (const layer of this._left.concat(this._right)) this._show(layer, corners)
    return this
  }

  _show (layer, corners) {
    if (this._mode === 'fade') this._fade(layer)
    else this._clip(layer, corners)
  }

  _fade (layer) {
    if (!this._right.includes(layer) || layer._map !== this._map) return
    if (!this._opacities.has(layer)) this._opacities.set(layer, layer.options.opacity ?? 1)
    layer.setOpacity((1 - this._split) * this._opacities.get(layer))
  }

  _clip (layer, corners) {
    const container = layer._map === this._map ? layer.getContainer?.() : null
    if (!container) return
    const { x, y } = this._map.getSize()
    const [topLeft, bottomRight] = corners ??
      [this._map.containerPointToLayerPoint([0, 0]), this._map.containerPointToLayerPoint([x, y])]
    const at = Math.round(topLeft.x + this._split * x)
    const [from, to] = this._left.includes(layer) ? [topLeft.x, at] : [at, bottomRight.x]
    container.style.clipPath = `polygon(${from}px ${topLeft.y}px, ${to}px ${topLeft.y}px, ${to}px ${bottomRight.y}px, ${from}px ${bottomRight.y}px)`
  }

  /** Neither clipped nor faded. */
  _whole (layer) {
    const container = layer.getContainer?.()
    if (container) container.style.clipPath = ''
    if (!this._opacities.has(layer)) return
    layer.setOpacity(this._opacities.get(layer))
    this._opacities.delete(layer)
  }

  _listenToHandle (signal) {
    const handle = this._handle
    let grip = null // where in the handle it was taken, so that it does not jump
    const on = (type, listener) => handle.addEventListener(type, listener, { signal })
    const xOf = event => event.clientX - this._map.getContainer().getBoundingClientRect().left
    on('mousedown', event => event.preventDefault())
    on('pointerdown', event => {
      if (event.button !== 0) return
      handle.setPointerCapture(event.pointerId)
      handle.focus({ preventScroll: true })
      const { from, length } = this._way()
      grip = xOf(event) - from - this._split * length
    })
    on('pointermove', event => {
      if (grip === null) return
      const { from, length } = this._way()
      this.setSplit((xOf(event) - grip - from) / length)
    })
    const release = () => { grip = null }
    on('pointerup', release)
    on('pointercancel', release)
    on('keydown', event => {
      if (event.key === 'Tab' || event.key === 'Escape') return
      event.stopPropagation()
      if (!(event.key in STEPS) || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      this.setSplit(this._split + STEPS[event.key])
    })
    for (const type of ['keyup', 'keypress']) on(type, event => event.stopPropagation())
  }
}

const clamp = share => Math.min(Math.max(Number(share) || 0, 0), 1)

/** @param {any} mode @returns {CompareMode} */
function checkMode (mode) {
  if (!MODES.includes(mode)) throw new TilecouchError('BAD_OPTION', { option: 'mode', value: mode })
  return mode
}

/** @param {Side} left @param {Side} right @param {CompareControlOptions} [options] */
export const compare = (left, right, options) => new CompareControl(left, right, options)
