// How large a picture is. Its middle is that of the map, and everything in it is as large as on the screen.
import { element } from '../../client/timeline/dom.js'
import { LEAST_EDGE, MOST_EDGE } from './plan.js'

const SMALL = 640 // pixels of the longer edge
const PREVIEW = 640 // the same of a preview
const PRESETS = { square: [1080, 1080], wide: [1920, 1080], upright: [1080, 1920] }

/** @typedef {import('./parts.js').Size} Size */

export class SizePicker {
  #words
  #map
  #mostPixels
  #select
  #options
  #own

  /**
   * @param {{words: any, map: L.Map, mostPixels: number, size?: string, onChange: () => void}} options
   *   size: the one to begin with
   */
  constructor ({ words, map, mostPixels, size = 'screen', onChange }) {
    this.#words = words
    this.#map = map
    this.#mostPixels = mostPixels
    const names = ['screen', 'small', ...Object.keys(PRESETS), 'own']
    this.#options = names.map(name => element('option', { value: name, selected: name === size }))
    const changed = () => {
      this.refresh()
      onChange()
    }
    this.#select = element('select', { on: { change: changed } }, ...this.#options)
    const edge = (name, value) => element('input', {
      type: 'number',
      inputmode: 'numeric',
      min: LEAST_EDGE,
      max: MOST_EDGE,
      value,
      'aria-label': words[name],
      on: { change: changed }
    })
    const [width, height] = [edge('width', 1200), edge('height', 630)]
    this.#own = {
      width,
      height,
      node: element(
        'div', { class: 'edges', hidden: true }, width, element('span', { 'aria-hidden': 'true' }, '×'), height
      )
    }
    this.node = element(
      'div', { class: 'size' }, element('label', null, element('span', null, words.size), this.#select), this.#own.node
    )
    this.refresh()
  }

  /** @returns {Size} */
  get value () {
    return this.#sizeOf(this.#select.value)
  }

  /** What is wrong with it, in words. @returns {string | null} */
  get problem () {
    const edges = [this.value.width, this.value.height]
    const isRight = edges.every(edge => Number.isInteger(edge) && edge >= LEAST_EDGE && edge <= MOST_EDGE)
    if (!isRight) return this.#words.badSize({ least: String(LEAST_EDGE), most: String(MOST_EDGE) }) // as one types it
    return edges[0] * edges[1] > this.#mostPixels ? this.#words.tooManyPixels(this.#mostPixels / 1e6) : null
  }

  /** Says again how large each is: the map may have another size now. */
  refresh () {
    this.#own.node.hidden = this.#select.value !== 'own'
    for (const option of this.#options) {
      const { width, height } = this.#sizeOf(option.value)
      const name = this.#words.sizes[option.value]
      option.textContent = option.value === 'own' ? name : `${name}: ${width} × ${height}`
    }
  }

  /** @returns {Size} */
  #sizeOf (name) {
    const { x: width, y: height } = this.#map.getSize()
    const scale = devicePixelRatio || 1
    if (name === 'own') return { width: Number(this.#own.width.value), height: Number(this.#own.height.value), scale }
    if (Object.hasOwn(PRESETS, name)) return { width: PRESETS[name][0], height: PRESETS[name][1], scale }
    return scaled({ width, height, scale: 1 }, name === 'small' ? Math.min(1, SMALL / Math.max(width, height)) : scale)
  }
}

/** The same picture, larger or smaller. @param {Size} size @param {number} factor @returns {Size} */
function scaled ({ width, height, scale }, factor) {
  const edge = length => Math.max(1, Math.round(length * factor))
  return { width: edge(width), height: edge(height), scale: scale * factor }
}

/** @param {Size} size */
export const previewSize = size => scaled(size, Math.min(1, PREVIEW / Math.max(size.width, size.height)))
