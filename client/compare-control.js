// Two times side by side: one layer left of the handle, another one right of it.
import L from 'leaflet'
import { element, icon, write } from './timeline/dom.js'

// shares of the width
const STEPS = {
  ArrowRight: 0.02, ArrowUp: 0.02, PageUp: 0.1, ArrowLeft: -0.02, ArrowDown: -0.02, PageDown: -0.1, Home: -1, End: 1
}

const MOVES = 'move zoom resize viewreset moveend'

const list = layers => layers ? Array.isArray(layers) ? [...layers] : [layers] : []

export const compareDefaults = {
  /** where the handle is, a share of the width of the map */
  split: 0.5,
  /** what the left side shows; nothing: no label */
  leftLabel: '',
  /** what the right side shows */
  rightLabel: '',
  /** the handle's name for screen readers */
  label: 'Compare: left and right'
}

/**
 * @typedef {Partial<typeof compareDefaults> & L.ControlOptions} CompareControlOptions
 * @typedef {L.GridLayer | L.GridLayer[] | null} Side layers with a container that can be clipped
 *
 * @typedef {object} CompareControlEvents
 * @property {{split: number}} splitchange the handle moved
 */

const Base = /** @type {import('./leaflet.js').Base<L.Control & L.Evented, typeof compareDefaults & L.ControlOptions, CompareControlEvents, typeof L.Control>} */ (
  /** @type {unknown} */ (L.Control.extend({ includes: L.Evented.prototype, options: compareDefaults })))

/** Two sides under a swipe handle. */
export class CompareControl extends Base {
  /** @param {Side} left @param {Side} right @param {CompareControlOptions} [options] */
  constructor (left, right, options) {
    super(options)
    this._left = list(left)
    this._right = list(right)
    this._ended = new AbortController() // of what the handle listens to
    this._labels = /** @type {HTMLElement[]} */ ([])
    this._split = clamp(this.options.split)
    // a layer that is put on the map later is clipped when it is there
    this._onLayer = ({ target }) => this._map && this._clip(target)
    this._offLayer = ({ target }) => unclip(target)
  }

  addTo (map) {
    super.addTo(map)
    // over all of the map, below the controls in its corners
    this._container.classList.remove('leaflet-control')
    map._controlContainer.prepend(this._container)
    this._update()
    return this
  }

  onAdd (map) {
    this._ended = new AbortController()
    this._labels = ['left', 'right'].map(side => element('span', { class: `tilecouch-compare-label tilecouch-compare-${side}` }))
    this._handle = element('div', { class: 'tilecouch-compare-handle', role: 'slider', tabindex: 0, 'aria-label': this.options.label, 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-orientation': 'horizontal' }, [icon('swap')])
    this._divider = element('div', { class: 'tilecouch-compare-divider' }, [...this._labels, this._handle])
    const container = this._container = element('div', { class: 'tilecouch-compare' }, [this._divider])
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
    this._ended.abort()
    map.off(MOVES, this._update, this)
    this._listen('off', this._left.concat(this._right))
    for (const layer of this._left.concat(this._right)) unclip(layer)
  }

  /** Other layers, or the same the other way round. @param {Side} left @param {Side} right */
  setLayers (left, right) {
    const before = this._left.concat(this._right)
    if (this._map) this._listen('off', before)
    this._left = list(left)
    this._right = list(right)
    const after = this._left.concat(this._right)
    for (const layer of before) if (!after.includes(layer)) unclip(layer)
    if (!this._map) return this
    this._listen('on', after)
    return this._update()
  }

  /** What the sides show; an empty text: no label. @param {string} left @param {string} right */
  setLabels (left, right) {
    Object.assign(this.options, { leftLabel: left, rightLabel: right })
    if (this._map) this._writeLabels()
    return this
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
    const share = Math.round(this._split * 100)
    write(this._handle, { 'aria-valuenow': share, 'aria-valuetext': `${leftLabel || 'left'} on ${share} %, ${rightLabel || 'right'} on ${100 - share} % of the map` })
  }

  _update () {
    const { x, y } = this._map.getSize()
    // the container of the controls has no height of its own
    Object.assign(this._container.style, { width: `${x}px`, height: `${y}px` })
    this._divider.style.transform = `translateX(${Math.round(this._split * x)}px)`
    this._value()
    const corners = [this._map.containerPointToLayerPoint([0, 0]), this._map.containerPointToLayerPoint([x, y])]
    for (const layer of this._left.concat(this._right)) this._clip(layer, corners)
    return this
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
      grip = xOf(event) - this._split * this._map.getSize().x
    })
    on('pointermove', event => { if (grip !== null) this.setSplit((xOf(event) - grip) / this._map.getSize().x) })
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

function unclip (layer) {
  const container = layer.getContainer?.()
  if (container) container.style.clipPath = ''
}

/** @param {Side} left @param {Side} right @param {CompareControlOptions} [options] */
export const compare = (left, right, options) => new CompareControl(left, right, options)
