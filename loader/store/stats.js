// What a layer holds, from reduces alone: the cost does not grow with the number of tiles.
import { checkLayer, fromSeconds, gridOf, layerId } from '../../core/index.js'
import { addUp, emptyCounts } from '../../core/store/layer-stats.js'
import { TilecouchError } from '../errors.js'

export const BY_ZOOM = '_design/versions/_view/by_zoom'

/**
 * As core/store/layer-stats.js counts, with times as text.
 * @typedef {Omit<import('../../core/store/layer-stats.js').Counts, 'first' | 'last'> &
 *   {first: string | null, last: string | null}} Stats
 */

/** @returns {Promise<Stats & {layer: string, zooms: (Stats & {z: number})[]}>} */
export async function layerStats (couch, layer) {
  checkLayer(layer)
  const [rows, doc] = await Promise.all([
    couch.view(BY_ZOOM, { startkey: [layer], endkey: [layer, {}], group_level: 3 }), couch.get(layerId(layer))
  ])
  const found = addUp(rows, () => gridOf(doc)).get(layer)
  if (!found && !doc) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  const { zooms, ...counts } = found ?? emptyCounts()
  return { layer, ...withTimes(counts), zooms: zooms.map(({ x0, y0, x1, y1, ...zoom }) => withTimes(zoom)) }
}

/**
 * @template {import('../../core/store/layer-stats.js').Counts} T
 * @param {T} counts
 * @returns {Omit<T, 'first' | 'last'> & {first: string | null, last: string | null}}
 */
function withTimes ({ first, last, ...counts }) {
  const text = seconds => Number.isFinite(seconds) ? fromSeconds(seconds) : null
  return { ...counts, first: text(first), last: text(last) }
}
