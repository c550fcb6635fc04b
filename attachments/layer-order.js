// In which order lists show layers, and under which headings.
import { byName } from './format.js'

/** @typedef {import('./store.js').Layer} Layer */

export const MANY = 12 // layers from which on there are a search and groups

/**
 * The heading that a layer stands under: its own, or what its name begins with where others begin so, too.
 * @param {Layer[]} layers
 * @returns {(layer: Layer) => string} '' for none
 */
export function groupsOf (layers) {
  const prefix = ({ layer }) => /^([a-z0-9]+)[-_]/.exec(layer)?.[1] ?? ''
  const counts = new Map()
  for (const layer of layers) counts.set(prefix(layer), (counts.get(prefix(layer)) ?? 0) + 1)
  return layer => layer.group ?? (counts.get(prefix(layer)) > 1 ? prefix(layer) : '')
}

/** Whether lists have headings. @param {Layer[]} layers */
export const isGrouped = layers => layers.length >= MANY || layers.some(({ group }) => group)

/** As people look for them: by their order, then by name; those without a heading first. @param {Layer[]} layers */
export function sortLayers (layers) {
  const titled = ({ name, layer }) => name ?? layer
  const groupOf = isGrouped(layers) ? groupsOf(layers) : () => ''
  const place = ({ order = Infinity }) => order
  const byOrder = (a, b) => place(a) === place(b) ? 0 : place(a) - place(b)
  return [...layers].sort((a, b) => byName(groupOf(a), groupOf(b)) || byOrder(a, b) || byName(titled(a), titled(b)))
}
