// What a seed is about to do: how many tiles, and about how many bytes, before anything is asked.
import { setImmediate as breathe } from 'node:timers/promises'
import { TilecouchError } from '../../core/index.js'

/**
 * @typedef {object} Plan
 * @property {number} tiles
 * @property {number | null} bytes about; null when the layer has no tiles yet to judge by
 * @property {{z: number, tiles: number, bytes: number | null}[]} zooms
 */

/**
 * The part of an area and of a range of zooms that the upstream of a layer has.
 * @param {Record<string, any>} doc the layer
 * @param {Record<string, any>} settings its upstream
 * @param {{area: import('../../core/area.js').Area, zooms: import('../../core/grid.js').Zooms}} wanted
 */
export function clip (doc, settings, { area, zooms }) {
  const min = Math.max(zooms.min, doc.minzoom ?? 0, settings.minzoom ?? 0)
  const max = Math.min(zooms.max, doc.maxzoom ?? 30, settings.maxzoom ?? 30)
  const inside = [doc.bounds, settings.bounds].filter(Boolean).reduce((rest, bounds) => rest.within(bounds), area)
  if (min > max) throw new TilecouchError('BAD_AREA', { why: `the upstream has no tiles of zoom ${zooms.min} to ${zooms.max}` })
  return { area: inside, zooms: { min, max } }
}

/**
 * @param {{area: import('../../core/area.js').Area, zooms: import('../../core/grid.js').Zooms, signal?: AbortSignal}} what
 * @returns {Promise<Map<number, number>>} tiles by zoom
 */
export async function countByZoom ({ area, zooms, signal }) {
  const counts = new Map()
  for (let z = zooms.min; z <= zooms.max; z++) {
    await breathe() // a deep zoom takes a while to count: let Ctrl-C through
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    counts.set(z, area.count({ min: z, max: z }))
  }
  return counts
}

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {Map<number, number>} counts tiles by zoom
 * @returns {Promise<Plan>}
 */
export async function estimate (store, layer, counts) {
  const means = await meanSizes(store, layer)
  const zooms = [...counts].sort(([a], [b]) => a - b).map(([z, tiles]) => {
    const mean = nearest(means, z)
    return { z, tiles, bytes: mean === undefined ? null : Math.round(tiles * mean) }
  })
  const tiles = zooms.reduce((sum, zoom) => sum + zoom.tiles, 0)
  return { tiles, bytes: means.size ? zooms.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0) : null, zooms }
}

/** Mean bytes of a tile, by zoom. A store without indexes, or without the layer, knows none. */
async function meanSizes (store, layer) {
  try {
    const { zooms } = await store.stats(layer)
    return new Map(zooms.filter(zoom => zoom.tiles).map(zoom => [zoom.z, zoom.currentBytes / zoom.tiles]))
  } catch (error) {
    if (error.code === 'INDEX_MISSING' || error.code === 'LAYER_NOT_FOUND') return new Map()
    throw error
  }
}

/** A zoom nobody has seen yet is about like the one nearest to it; of two as near, the deeper. */
function nearest (means, z) {
  const [best] = [...means.keys()].sort((a, b) => Math.abs(a - z) - Math.abs(b - z) || b - a)
  return means.get(best)
}
