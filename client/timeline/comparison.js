// The two sides of a comparison: their layers, and the opacity that a layer had before it was faded. The compare
// control of each map library holds one, and implements the operations on its map.
import { CompareHandle } from './compare-handle.js'

/**
 * @typedef {object} ComparedMap operations of a map library
 * @property {CompareMode[]} modes that it can show
 * @property {() => void} begin shows the layers in the present mode
 * @property {() => void} end leaves the layers as they were
 * @property {() => void} update called when the handle was moved
 * @typedef {import('./compare-handle.js').CompareMode} CompareMode
 */

/** @template Layer of the map library */
export class Comparison extends CompareHandle {
  /** the control is on a map */
  isOnMap = false
  /** layer -> its opacity before it was faded @type {Map<any, number>} */
  #opacities = new Map()
  #map

  /**
   * @param {Layer | Layer[] | null} left @param {Layer | Layer[] | null} right
   * @param {import('./compare-handle.js').CompareOptions | undefined} options @param {ComparedMap} map
   */
  constructor (left, right, options, map) {
    super(options, map.modes)
    this.left = listOf(left)
    this.right = listOf(right)
    this.#map = map
    this.on('splitchange', () => { if (this.isOnMap) map.update() })
    this.on('modechange', () => this.#renew(() => {}))
  }

  /** @returns {any[]} the layers of both sides */
  get layers () {
    return [...this.left, ...this.right]
  }

  /** The control was put on a map. */
  begin () {
    this.isOnMap = true
    this.#map.begin()
    this.#map.update()
  }

  /** The control is taken off its map. */
  end () {
    this.#map.end()
    this.isOnMap = false
  }

  /** Sets the layers of both sides. @param {Layer | Layer[] | null} left @param {any} right */
  setLayers (left, right) {
    this.#renew(() => {
      this.left = listOf(left)
      this.right = listOf(right)
    })
  }

  /** Sets the opacity of a layer by the place of the handle. @param {any} layer @param {number} opacity of the layer */
  fade (layer, opacity) {
    const fullOpacity = this.#opacities.get(layer) ?? opacity
    this.#opacities.set(layer, fullOpacity)
    layer.setOpacity((1 - this.getSplit()) * fullOpacity)
  }

  /** Restores the opacity that a layer had before it was faded. @param {any} layer */
  restore (layer) {
    if (this.#opacities.has(layer)) layer.setOpacity(this.#opacities.get(layer))
    this.#opacities.delete(layer)
  }

  #renew (change) {
    const { isOnMap } = this
    if (isOnMap) this.end()
    change()
    if (isOnMap) this.begin()
  }
}

/** @template Layer @param {Layer | Layer[] | null} layers @returns {Layer[]} */
const listOf = layers => layers ? /** @type {any} */ ([layers].flat()) : []
