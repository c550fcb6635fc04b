// The size of a picture. Its centre is that of the map, and its content has the same size as on the screen.
import { html, useState } from '../html.js'
import { Field } from '../parts.js'
import { takeWords as words } from '../words.js'
import { MAX_EDGE, MIN_EDGE } from './plan.js'

const SMALL = 640 // pixels of the longer edge, also of a preview
const PRESETS = { square: [1080, 1080], wide: [1920, 1080], upright: [1080, 1920] }
const NAMES = ['screen', 'small', ...Object.keys(PRESETS), 'own']

/**
 * @typedef {import('./snapshot.js').Size} Size
 * @typedef {{size: Size, name: string, edges: number[], choose: (choice: {name?: string, edges?: number[]}) => void}}
 *   Choice edges: width and height that were typed
 */

/** @param {L.Map} map @param {string} first name of the size to begin with @returns {Choice} */
export function useSize (map, first) {
  const [choice, setChoice] = useState({ name: first, edges: [1200, 630] })
  const choose = changed => setChoice({ ...choice, ...changed })
  return { ...choice, choose, size: sizeOf(choice.name, choice.edges, map) }
}

/** @param {{map: L.Map, choice: Choice}} props */
export function SizePicker ({ map, choice: { name, edges, choose } }) {
  const textOf = sizeName => {
    const size = sizeOf(sizeName, edges, map)
    return sizeName === 'own' ? words.sizes.own : `${words.sizes[sizeName]}: ${size.width} × ${size.height}`
  }
  const [width, height] = edges
  const edge = (label, value, edgesWith) => html`<input type="number" inputmode="numeric"
    min=${MIN_EDGE} max=${MAX_EDGE} aria-label=${label} defaultValue=${value}
    onChange=${({ target }) => choose({ edges: edgesWith(Number(target.value)) })} />`
  return html`
    <${Field} label=${words.size} value=${name} onChange=${chosen => choose({ name: chosen })}
      options=${NAMES.map(sizeName => [sizeName, textOf(sizeName)])} />
    ${name === 'own' && html`<div class="edges">
      ${edge(words.width, width, typed => [typed, height])}
      <span aria-hidden="true">×</span>
      ${edge(words.height, height, typed => [width, typed])}
    </div>`}`
}

/** The fault of a size, in words. @param {Size} size @returns {string | null} */
export function sizeProblem ({ width, height }, maxPixels) {
  const isValid = edge => Number.isInteger(edge) && edge >= MIN_EDGE && edge <= MAX_EDGE
  if (![width, height].every(isValid)) return words.badSize({ least: String(MIN_EDGE), most: String(MAX_EDGE) })
  return width * height > maxPixels ? words.tooManyPixels(maxPixels / 1e6) : null
}

/** @returns {Size} */
function sizeOf (name, edges, map) {
  const { x: width, y: height } = map.getSize()
  const scale = devicePixelRatio || 1
  const [presetWidth, presetHeight] = name === 'own' ? edges : PRESETS[name] ?? []
  if (presetWidth !== undefined) return { width: presetWidth, height: presetHeight, scale }
  return scaled({ width, height, scale: 1 }, name === 'small' ? Math.min(1, SMALL / Math.max(width, height)) : scale)
}

/** The size of the same picture, larger or smaller. @param {Size} size @param {number} factor @returns {Size} */
function scaled ({ width, height, scale }, factor) {
  const edge = length => Math.max(1, Math.round(length * factor))
  return { width: edge(width), height: edge(height), scale: scale * factor }
}

/** @param {Size} size */
export const previewSize = size => scaled(size, Math.min(1, SMALL / Math.max(size.width, size.height)))
