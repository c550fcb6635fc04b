// Counts the tiles and bytes of a list, for progress and estimates. The index sums the newest versions: the cost grows
// with the columns of the area, not with its tiles. Older states must be listed.
import { chunks } from '../../core/lists.js'
import { heads } from './columns.js'
import { childSignal } from '../child-signal.js'
import { listDefaults } from './ranges.js'
import { list } from './list.js'
import { openLayer, walkZoom } from './walk.js'
import { checkLayer, fromSeconds, gridOf, layerId } from '../../core/index.js'
import { Extent } from '../../core/store/extent.js'
import { addUp, emptyCounts } from '../../core/store/layer-stats.js'
import { TilecouchError } from '../errors.js'

/**
 * @param {import('./couch.js').Couch} couch
 * @param {string} layer
 * @param {import('./list.js').ListOptions & {time?: string}} [options]
 * @returns {Promise<{tiles: number, bytes: number}>}
 */
export async function countListed (couch, layer, { time, ...options } = {}) {
  const sum = { tiles: 0, bytes: 0 }
  const add = (tiles, bytes) => {
    sum.tiles += tiles
    sum.bytes += bytes
  }
  if (time !== undefined) {
    for await (const { size } of list(couch, layer, { time, ...options })) add(1, size)
    return sum
  }
  const { signal, end } = childSignal(options.signal)
  try {
    const { zooms, reader, columnsOf } = await openLayer(couch, heads, layer, { ...options, signal })
    for (const { z, count, bytes } of zooms) {
      if (options.area) await addArea(reader, await columnsOf(z), add)
      else add(count, bytes)
    }
    return sum
  } finally {
    end()
  }
}

async function addArea (reader, columns, add) {
  let rows = 0
  const ranges = []
  for (const { x, count, runs = [] } of columns.between()) {
    rows += count
    for (const [y0, y1] of runs) ranges.push([x, y0, y1])
  }
  if (rows < listDefaults.sparse * ranges.length) {
    for await (const tile of walkZoom(reader, columns)) add(1, tile.rows[0].value)
    return
  }
  const { layer, z } = columns
  for (const chunk of chunks(ranges, listDefaults.ranges)) {
    const queries = chunk.map(([x, y0, y1]) => (
      { startkey: [layer, z, x, y0], endkey: [layer, z, x, y1, {}], reduce: true }
    ))
    const answers = await reader.couch.queries(reader.view, queries, reader.signal)
    for (const [row] of answers) if (row) add(row.value.count, row.value.sum)
  }
}

// Statistics of a layer, from reduces alone: the cost does not grow with the number of tiles.

export const BY_ZOOM = '_design/versions/_view/by_zoom'

/**
 * The counts of core/store/layer-stats.js, with times as text. bounds: of the tiles that exist now, as a load writes
 * them into the layer
 * @typedef {Omit<import('../../core/store/layer-stats.js').Counts, 'first' | 'last'> &
 *   {first: string | null, last: string | null, bounds: import('../../core/grid.js').Bbox | null}} Stats
 */

/** @returns {Promise<Stats & {layer: string, zooms: (Stats & {z: number})[]}>} */
export async function layerStats (couch, layer) {
  checkLayer(layer)
  const [rows, doc] = await Promise.all([
    couch.view(BY_ZOOM, { startkey: [layer], endkey: [layer, {}], group_level: 3 }), couch.get(layerId(layer))
  ])
  const layerCounts = addUp(rows).get(layer)
  if (!layerCounts && !doc) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  const { zooms, ...counts } = layerCounts ?? emptyCounts()
  const grid = gridOf(doc)
  const perZoom = zooms.map(zoom => {
    const { x0, y0, x1, y1, ...countsOfZoom } = zoom
    return { ...withTimes(countsOfZoom), bounds: boundsOfCounts([zoom], grid) }
  })
  return { layer, ...withTimes(counts), bounds: boundsOfCounts(zooms, grid), zooms: perZoom }
}

/**
 * @param {import('../../core/store/layer-stats.js').ZoomCounts[]} zooms
 * @param {import('../../core/grids/grid.js').Grid} grid
 */
function boundsOfCounts (zooms, grid) {
  const extent = new Extent(grid)
  for (const { z, tiles, x0, y0, x1, y1 } of zooms) {
    if (!tiles || x0 === undefined || !grid.has(z, x0, y0) || !grid.has(z, x1, y1)) continue
    extent.add(z, x0, y0)
    extent.add(z, x1, y1)
  }
  return extent.bounds ?? null
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
