// What martin's tools tell MBTiles files by, and refuse to compare them without: `agg_tiles_hash`, the md5 of zoom, column,
// row (as texts) and image of each tile, in this order.
import { createHash } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'

const PAGE = 100 // tiles read at once

/**
 * @param {any} db with `tiles` and its index
 * @returns {Promise<string>}
 */
export async function hashOfTiles (db) {
  const page = db.prepare(`SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles
    WHERE (zoom_level, tile_column, tile_row) > (?, ?, ?) ORDER BY zoom_level, tile_column, tile_row LIMIT ${PAGE}`).raw()
  const hash = createHash('md5')
  let rows
  let last = [-1, -1, -1]
  do {
    rows = page.all(last)
    for (const [z, x, row, data] of rows) {
      hash.update(`${z}${x}${row}`)
      if (data) hash.update(data)
      last = [z, x, row]
    }
    await breathe()
  } while (rows.length === PAGE)
  return hash.digest('hex').toUpperCase()
}
