// Compares two times or two layers of one place in MapLibre. A second map lies over the first one and shows the left
// side: cut at a handle, or faded by it. It follows the first map frame by frame.
import { Map as MapLibreMap } from 'maplibre-gl'
import { Emitter } from '../engine/emitter.js'
import { CompareHandle } from '../timeline/compare-handle.js'
import { Comparison } from '../timeline/comparison.js'
import { delegate } from '../timeline/delegate.js'
import { element } from '../timeline/dom.js'
import { isOurs } from './sources.js'

/**
 * @typedef {import('./history-layer.js').HistoryLayer} HistoryLayer
 * @typedef {import('../timeline/compare-handle.js').CompareOptions} CompareControlOptions
 * @typedef {HistoryLayer | HistoryLayer[] | null} Side
 */

/** Declares the methods of CompareHandle, which delegate() below adds. @type {new () => CompareHandle} */
const Held = /** @type {any} */ (Object)

/** Compares two sides of a map: with a swipe handle, or by fading. */
export class CompareControl extends Held {
  /** @type {MapLibreMap | null} */
  #map = null
  /** the map over it @type {MapLibreMap | null} */
  #upper = null
  #box = element('div', { class: 'tilecouch-compare-upper' })
  #place = element('div', { hidden: true }) // MapLibre puts it into a corner

  /**
   * @param {Side} left shown only by the upper map @param {Side} right
   * @param {CompareControlOptions} [options] `mode`: 'swipe' or 'fade'
   */
  constructor (left, right, options) {
    super()
    /** @type {Comparison<HistoryLayer>} */
    this._handle = new Comparison(left, right, options, {
      modes: ['swipe', 'fade'], begin: () => {}, end: () => {}, update: () => this.#cut()
    })
  }

  /** @param {MapLibreMap} map @returns {HTMLElement} */
  onAdd (map) {
    this.#map = map
    const container = map.getContainer()
    container.querySelector('.maplibregl-control-container')?.before(this.#box, this._handle.element)
    const upper = this.#upper = new MapLibreMap({
      container: this.#box, style: this.#style(), interactive: false, attributionControl: false,
      maxPitch: map.getMaxPitch(), minZoom: map.getMinZoom(), maxZoom: map.getMaxZoom(),
      renderWorldCopies: map.getRenderWorldCopies(), pixelRatio: map.getPixelRatio(), ...this.#camera()
    })
    for (const layer of this._handle.left) layer.addTo(upper)
    for (const layer of this._handle.right) if (layer.map !== map) layer.addTo(map)
    map.on('render', this.#follow)
    map.on('resize', this.#cut)
    map.on('style.load', this.#restyle)
    this._handle.begin()
    return this.#place
  }

  onRemove () {
    this._handle.end()
    this.#map?.off('render', this.#follow)
    this.#map?.off('resize', this.#cut)
    this.#map?.off('style.load', this.#restyle)
    for (const layer of this._handle.left) layer.remove()
    this.#upper?.remove()
    this.#map = this.#upper = null
    for (const part of [this.#box, this._handle.element, this.#place]) part.remove()
  }

  getDefaultPosition () {
    return /** @type {const} */ ('top-left')
  }

  /** @returns {MapLibreMap | null} the map of the left side, such as for marks */
  getUpperMap () {
    return this.#upper
  }

  #camera () {
    const map = /** @type {MapLibreMap} */ (this.#map)
    return {
      center: map.getCenter(), zoom: map.getZoom(), bearing: map.getBearing(), pitch: map.getPitch(),
      roll: map.getRoll()
    }
  }

  /** The style of the map, without the layers that come from a store. */
  #style () {
    const mapStyle = /** @type {MapLibreMap} */ (this.#map).getStyle()
    const { sources, layers, terrain, ...style } = mapStyle ?? { version: 8, sources: {}, layers: [] }
    const otherSources = Object.fromEntries(Object.entries(sources).filter(([, source]) => !isOurs(source)))
    const otherLayers = layers.filter(layer => !('source' in layer) || layer.source in otherSources)
    return { ...style, sources: otherSources, layers: otherLayers }
  }

  #restyle = () => { this.#upper?.setStyle(this.#style()) }

  /** Both maps are drawn in the same frame. */
  #follow = () => {
    const upper = /** @type {MapLibreMap} */ (this.#upper)
    const camera = this.#camera()
    const isSame = camera.center.toString() === upper.getCenter().toString() && ['Zoom', 'Bearing', 'Pitch', 'Roll']
      .every(name => upper[`get${name}`]() === camera[name.toLowerCase()])
    if (!isSame) upper.jumpTo(camera).redraw()
  }

  #cut = () => {
    if (!this.#map) return
    const { clientWidth, clientHeight } = this.#map.getContainer()
    this._handle.setSize(clientWidth, clientHeight)
    const isFading = this.getMode() === 'fade'
    const split = this.getSplit()
    const clipPath = isFading ? 'none' : `inset(0 ${100 * (1 - split)}% 0 0)`
    Object.assign(this.#box.style, { opacity: isFading ? split : 1, clipPath })
  }
}

delegate(CompareControl, CompareHandle, '_handle', ['element'])
delegate(CompareControl, Emitter, '_handle')

/** @param {Side} left @param {Side} right @param {CompareControlOptions} [options] */
export const compare = (left, right, options) => new CompareControl(left, right, options)
