// How many tiles and bytes a list would give, for progress and estimates. What is now is summed by the index, which
// costs what the columns of the area cost, and not its tiles; what was then has to be listed.
import { heads } from './columns.js'
import { childSignal } from './child-signal.js'
import { listDefaults } from './ranges.js'
import { list } from './list.js'
import { openLayer, walkZoom } from './walk.js'

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
  for (let at = 0; at < ranges.length; at += listDefaults.ranges) {
    const queries = ranges.slice(at, at + listDefaults.ranges).map(([x, y0, y1]) => (
      { startkey: [layer, z, x, y0], endkey: [layer, z, x, y1, {}], reduce: true }
    ))
    const answers = await reader.couch.queries(reader.view, queries, reader.signal)
    for (const [row] of answers) if (row) add(row.value.count, row.value.sum)
  }
}
