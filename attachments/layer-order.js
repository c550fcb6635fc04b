// The order of layers in lists, the headings above them, and the search for layers.
import { byName } from './format.js'

/** @typedef {import('./store.js').Layer} Layer */

export const MANY = 12 // layers from which a list has a search field and headings

const titleOf = ({ name, layer }) => name ?? layer

/**
 * The heading of each layer: its own, or the beginning of its name if other names begin with it, too.
 * @param {Layer[]} layers
 * @returns {(layer: Layer) => string} '' for none
 */
export function headingsOf (layers) {
  const isGrouped = layers.length >= MANY || layers.some(({ group }) => group)
  if (!isGrouped) return () => ''
  const prefixOf = ({ layer }) => /^([a-z0-9]+)[-_]/.exec(layer)?.[1] ?? ''
  const counts = new Map()
  for (const layer of layers) counts.set(prefixOf(layer), (counts.get(prefixOf(layer)) ?? 0) + 1)
  return layer => layer.group ?? (counts.get(prefixOf(layer)) > 1 ? prefixOf(layer) : '')
}

/** Sorts by heading, layers without one first; then by their order, then by name. @param {Layer[]} layers */
export function sortLayers (layers) {
  const headingOf = headingsOf(layers)
  const place = ({ order = Number.MAX_SAFE_INTEGER }) => order
  return [...layers].sort((a, b) =>
    byName(headingOf(a), headingOf(b)) || place(a) - place(b) || byName(titleOf(a), titleOf(b)))
}

/**
 * Sorted layers under their headings.
 * @param {Layer[]} layers @param {Layer[]} all layers of the store, which the headings depend on
 * @returns {[heading: string, layers: Layer[]][]}
 */
export function groupLayers (layers, all) {
  const headingOf = headingsOf(all)
  /** @type {Map<string, Layer[]>} */
  const groups = new Map()
  for (const layer of layers) groups.set(headingOf(layer), [...groups.get(headingOf(layer)) ?? [], layer])
  return [...groups]
}

/** Whether a layer has all words of a search. @param {string} query */
export function layerFilter (query) {
  const parts = query.toLowerCase().split(/\s+/)
  return ({ layer, name = '', description = '', group = '' }) => {
    const text = `${layer} ${name} ${description} ${group}`.toLowerCase()
    return parts.every(part => text.includes(part))
  }
}
