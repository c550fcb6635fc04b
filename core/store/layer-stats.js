// Adds up the view versions/by_zoom, grouped by layer, zoom and kind, to the counts of layers. Commands and viewer use
// it, so that they show the same numbers.
import { cached } from '../cache.js'

/**
 * @typedef {object} Counts
 * @property {number} tiles that exist now
 * @property {number} versions heads and past versions, "gone" included. If a head was restored from a past version,
 *   that version has two documents and counts twice.
 * @property {number} bytes of all versions
 * @property {number} currentBytes of the newest versions
 * @property {number} first time of any version, in seconds; Infinity without any
 * @property {number} last time of any version
 *
 * @typedef {Counts & {z: number, x0?: number, y0?: number, x1?: number, y1?: number}} ZoomCounts the box of the tiles
 *   that exist now
 * @typedef {Counts & {zooms: ZoomCounts[]}} LayerCounts zooms: ascending
 */

/** @returns {Counts} */
const emptyNumbers = () => ({ tiles: 0, versions: 0, bytes: 0, currentBytes: 0, first: Infinity, last: -Infinity })

/** @returns {LayerCounts} */
export const emptyCounts = () => ({ ...emptyNumbers(), zooms: [] })

/**
 * @param {{key: any[], value: any}[]} rows of the view, with group_level 3
 * @returns {Map<string, LayerCounts>} by name of the layer
 */
export function addUp (rows) {
  /** @type {Map<string, LayerCounts>} */
  const layers = new Map()
  for (const { key: [layer, z, kind], value } of rows) {
    const counts = cached(layers, layer, emptyCounts)
    const zoom = counts.zooms.find(entry => entry.z === z) ?? { z, ...emptyNumbers() }
    if (!zoom.versions) counts.zooms.push(zoom)
    add(counts, kind, value)
    add(zoom, kind, value)
    if (kind === 'current') Object.assign(zoom, boxOf(value))
  }
  for (const { zooms } of layers.values()) zooms.sort((a, b) => a.z - b.z)
  return layers
}

// the view emits [bytes, seconds, x, y] under [layer, z, 'current' | 'past' | 'gone']
function add (counts, kind, [size, seconds]) {
  counts.versions += size.count
  counts.bytes += size.sum
  counts.first = Math.min(counts.first, seconds.min)
  counts.last = Math.max(counts.last, seconds.max)
  if (kind !== 'current') return
  counts.tiles += size.count
  counts.currentBytes += size.sum
}

const boxOf = ([, , x, y]) => ({ x0: x.min, y0: y.min, x1: x.max, y1: y.max })
