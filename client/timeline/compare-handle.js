// The handle between two sides of a map, with their labels. It is a plain element over all of the map, and lets
// pointers through where there is no handle. It fires its position; the comparison of each map library cuts or fades
// its layers there:
//   const handle = new CompareHandle({ leftLabel: '2020', rightLabel: 'now' })
//   container.append(handle.element)
//   handle.setSize(800, 600).on('splitchange', ({ split }) => cut(split * 800))
import { TilecouchError } from '../../core/errors.js'
import { Emitter } from '../engine/emitter.js'
import { element, icon, keepFromMap, slider, write } from './dom.js'
import { compareWords } from './words.js'

// steps of the keys, as shares of the width
const STEPS = {
  ArrowRight: 0.02, ArrowUp: 0.02, PageUp: 0.1, ArrowLeft: -0.02, ArrowDown: -0.02, PageDown: -0.1, Home: -1, End: 1
}

const TRACK = 320 // pixels: length of the handle's track in the mode 'fade'
const MOST_TRACK = 0.6 // share of the width of the map

const MODES = /** @type {CompareMode[]} */ (['swipe', 'fade', 'side'])

export const compareDefaults = {
  /**
   * @type {CompareMode} 'swipe': left and right of a handle; 'fade': the right one above the left one; 'side': on two
   * maps
   */
  mode: 'swipe',
  /** place of the handle, 0 to 1: the share of the left side */
  split: 0.5,
  /** label of the left side */
  leftLabel: '',
  /** label of the right side */
  rightLabel: '',
  /** name of the handle for screen readers */
  label: 'Compare: left and right',
  /** @type {Partial<CompareWords>} texts in another language: any fields of `compareWords` */
  words: {}
}

/**
 * @typedef {import('./words.js').CompareWords} CompareWords
 * @typedef {'swipe' | 'fade' | 'side'} CompareMode how two sides are shown
 * @typedef {Partial<typeof compareDefaults>} CompareOptions
 *
 * @typedef {object} CompareEvents
 * @property {{split: number}} splitchange the handle moved
 * @property {{mode: CompareMode}} modechange `setMode` was called
 */

/**
 * The handle between two sides of a map, and their labels.
 * @extends {Emitter<CompareEvents>}
 */
export class CompareHandle extends Emitter {
  /** @param {CompareOptions} [options] @param {CompareMode[]} [modes] that can be shown */
  constructor (options, modes = MODES) {
    super()
    this._modes = modes
    const { mode, split, label, words, leftLabel, rightLabel } = { ...compareDefaults, ...options }
    this.words = /** @type {CompareWords} */ ({ ...compareWords, ...words })
    this._mode = this._checkMode(mode)
    this._split = clamp(split)
    this._size = { x: 0, y: 0 }
    this._padding = { left: 0, right: 0, bottom: 0 }
    this._labels = ['left', 'right']
      .map(side => element('span', { class: `tilecouch-compare-label tilecouch-compare-${side}` }))
    this._handle = slider('tilecouch-compare-handle', label, icon('swap'))
    write(this._handle, { 'aria-valuemin': 0, 'aria-valuemax': 100 })
    this._divider = element('div', { class: 'tilecouch-compare-divider' }, this._labels, this._handle)
    this._track = element('div', { class: 'tilecouch-compare-track' })
    /** @type {HTMLElement} */
    this.element = element('div', { class: 'tilecouch-compare' }, this._track, this._divider)
    keepFromMap(this._divider)
    this._listenToHandle()
    this.setLabels(leftLabel, rightLabel)
  }

  // the size of the map in pixels
  setSize (width, height) {
    this._size = { x: width, y: height }
    return this._draw()
  }

  /**
   * Sets the pixels at the edges of the map that something else covers; the comparison uses the rest.
   * @param {{left: number, right: number, bottom: number}} padding
   */
  setPadding (padding) {
    this._padding = padding
    return this._draw()
  }

  /** Sets the labels of both sides; an empty text is no label. @param {string} left @param {string} right */
  setLabels (left, right) {
    this._texts = [left, right]
    for (const [index, text] of this._texts.entries()) {
      write(this._labels[index], { text: text ?? '' })
      this._labels[index].hidden = !text
    }
    return this._draw()
  }

  /** @returns {CompareMode} how the sides are shown */
  getMode () {
    return this._mode
  }

  /** Sets how the sides are shown. @param {CompareMode} mode */
  setMode (mode) {
    if (mode === this._mode) return this
    this._mode = this._checkMode(mode)
    return this._draw().fire('modechange', { mode })
  }

  /** @returns {number} where the handle is, a share of the width of the map */
  getSplit () {
    return this._split
  }

  /** Moves the handle, 0 to 1. @param {number} split */
  setSplit (split) {
    const next = clamp(split)
    if (next === this._split) return this
    this._split = next
    return this._draw().fire('splitchange', { split: next })
  }

  /** @param {any} mode @returns {CompareMode} */
  _checkMode (mode) {
    if (!this._modes.includes(mode)) throw new TilecouchError('BAD_OPTION', { option: 'mode', value: mode })
    return mode
  }

  _draw () {
    const { x, y } = this._size
    const isSide = this._mode === 'side'
    const isStacked = isSide && y > x
    const middle = this._middle()
    for (const axis of ['x', 'y']) this.element.style.setProperty(`--tilecouch-middle-${axis}`, `${middle[axis]}px`)
    Object.assign(this.element.style, { width: `${x}px`, height: `${y}px` }) // its parent may have no size of its own
    for (const mode of MODES) this.element.classList.toggle(`tilecouch-compare-${mode}`, mode === this._mode)
    this.element.classList.toggle('tilecouch-compare-stacked', isStacked)
    const { from, length } = this._way()
    const sideX = isStacked ? 0 : middle.x
    const dividerX = isSide ? sideX : from + this._split * length
    this._track.style.width = `${length}px`
    this._divider.style.transform = `translateX(${Math.round(dividerX)}px)`
    const [left, right] = this._texts ?? []
    const share = Math.round(this._split * 100)
    const describe = this.words[this._mode === 'fade' ? 'fade' : 'swipe']
    write(this._handle, {
      'aria-valuenow': share,
      'aria-valuetext': describe(left || this.words.left, share, right || this.words.right, 100 - share)
    })
    return this
  }

  /** The middle of the map without its padding, in pixels of the map. */
  _middle () {
    const { left, right, bottom } = this._padding
    return { x: (left + this._size.x - right) / 2, y: (this._size.y - bottom) / 2 }
  }

  /** The track of the handle, in pixels of the map. */
  _way () {
    const { x } = this._size
    if (this._mode !== 'fade') return { from: 0, length: x }
    const length = Math.min(TRACK, MOST_TRACK * x)
    return { from: this._middle().x - length / 2, length }
  }

  _listenToHandle () {
    const handle = this._handle
    let grip = 0 // pixels from the handle's place to the pointer, so that it does not jump
    const on = (type, listener) => handle.addEventListener(type, listener)
    const xOf = event => event.clientX - this.element.getBoundingClientRect().left
    on('mousedown', event => event.preventDefault())
    on('pointerdown', event => {
      if (event.button !== 0) return
      handle.setPointerCapture(event.pointerId)
      handle.focus({ preventScroll: true })
      const { from, length } = this._way()
      grip = xOf(event) - from - this._split * length
    })
    on('pointermove', event => {
      if (!handle.hasPointerCapture(event.pointerId)) return
      const { from, length } = this._way()
      this.setSplit((xOf(event) - grip - from) / length)
    })
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
