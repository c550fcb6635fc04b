// Columns of tiles that are listed one by one. maplibre/sources.js has its own copy: a page with one history layer
// would load a chunk more.

/**
 * The columns that contain these tiles and no others: neighbours in a column share one range of rows.
 * @param {{z: number, x: number, y: number}[]} tiles
 */
export function columnsOf (tiles) {
  /** @type {import('../source/couch-source.js').Column[]} */
  const columns = []
  for (const { z, x, y } of [...tiles].sort((a, b) => a.z - b.z || a.x - b.x || a.y - b.y)) {
    const last = columns.at(-1)
    if (last?.z === z && last.x === x && y <= last.y1 + 1) last.y1 = y
    else columns.push({ z, x, y0: y, y1: y })
  }
  return columns
}
