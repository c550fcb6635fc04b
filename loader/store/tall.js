// A column of a zoom with more rows than a request should answer. Numbers with equally many digits sort alike as numbers,
// as the view has them, and as strings, as ids have them: at most ten series, each read page by page, are merged.

const DIGITS = 10 // of the greatest row at zoom 30

/** @typedef {{x: number, y: number, rows: import('./ranges.js').Row[]}} TileRows */

/**
 * Rows in the order of the view put together to tiles.
 * @param {Iterable<import('./ranges.js').Row>} rows
 * @returns {Generator<TileRows>}
 */
export function * tilesIn (rows) {
  const gather = gathering()
  for (const row of rows) {
    const tile = gather.add(row)
    if (tile) yield tile
  }
  if (gather.tile) yield gather.tile
}

/** @param {AsyncIterable<import('./ranges.js').Row>} rows */
async function * tilesInPages (rows) {
  const gather = gathering()
  for await (const row of rows) {
    const tile = gather.add(row)
    if (tile) yield tile
  }
  if (gather.tile) yield gather.tile
}

function gathering () {
  return {
    /** @type {TileRows | undefined} */
    tile: undefined,
    /** Answers the tile before, when the row belongs to another one. @returns {TileRows | undefined} */
    add (row) {
      const { tile } = this
      const [, , x, y] = row.key
      if (tile && tile.x === x && tile.y === y) {
        tile.rows.push(row)
        return undefined
      }
      this.tile = { x, y, rows: [row] }
      return tile
    }
  }
}

/**
 * The tiles of a column in the order of ids.
 * @param {import('./ranges.js').RangeReader} reader
 * @param {import('./columns.js').Column} column
 * @param {any[]} prefix layer and zoom
 * @param {number} limit rows of a page
 * @returns {AsyncGenerator<TileRows>}
 */
export async function * tallColumn (reader, { x, runs }, prefix, limit) {
  const series = Array.from({ length: DIGITS }, (_, index) => {
    const [first, last] = [index ? 10 ** index : 0, 10 ** (index + 1) - 1]
    const within = (runs ?? [[0, 2 ** prefix[1] - 1]]).filter(([y0, y1]) => y0 <= last && y1 >= first)
      .map(([y0, y1]) => [Math.max(y0, first), Math.min(y1, last)])
    return { scale: 10 ** (DIGITS - 1 - index), tiles: tilesOfRuns(reader, [...prefix, x], within, limit) }
  })
  const cursors = []
  for (const { scale, tiles } of series) {
    const cursor = { tiles, scale, tile: /** @type {any} */ (undefined), at: 0 }
    if (await advance(cursor)) cursors.push(cursor)
  }
  try {
    while (cursors.length) {
      // 1, 10 and 100 are at the same place: the shortest comes first
      const least = cursors.reduce((best, cursor, index) => cursor.at < cursors[best].at ? index : best, 0)
      yield cursors[least].tile
      if (!await advance(cursors[least])) cursors.splice(least, 1)
    }
  } finally {
    for (const { tiles } of cursors) await tiles.return(undefined)
  }
}

async function advance (cursor) {
  const { done, value } = await cursor.tiles.next()
  if (done) return false
  cursor.tile = value
  cursor.at = value.y * cursor.scale
  return true
}

async function * tilesOfRuns (reader, prefix, runs, limit) {
  for (const [y0, y1] of runs) yield * tilesInPages(reader.rows({ startkey: [...prefix, y0], endkey: [...prefix, y1, {}], limit }))
}
