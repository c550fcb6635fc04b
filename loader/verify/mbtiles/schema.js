// What tables and views an MBTiles file has, and what its rows say when all of them are looked at together.
import { cell, textOf } from '../../sources/sqlite/file.js'

const PLACE = 'zoom_level, tile_column, tile_row'

/** What is no whole number comes as a text. @param {string} name */
export const numberOf = name => `iif(typeof(${name}) = 'integer', ${name}, substr(CAST(${name} AS BLOB), 1, 200))`

/**
 * @param {import('../../sources/sqlite/file.js').SqliteFile} db
 * @returns {Promise<Record<string, string[]>>} columns of those tables that matter
 */
export async function readSchema (db) {
  /** @type {Record<string, string[]>} */
  const found = {}
  for await (const [name] of db.rows(`SELECT ${cell('name')} FROM sqlite_schema WHERE type IN ('table', 'view')`)) {
    if (['tiles', 'map', 'images', 'tiles_with_hash'].includes(textOf(name))) found[textOf(name)] = []
  }
  for (const name of Object.keys(found)) {
    try {
      for await (const [column] of db.rows(`SELECT ${cell('name')} FROM pragma_table_info('${name}')`)) found[name].push(textOf(column))
    } catch {
      // a view over what is not there has no columns
    }
  }
  return found
}

/**
 * Takes a look at everything; answers how many tiles there are.
 * @param {import('../../sources/sqlite/file.js').SqliteFile} db
 * @param {Record<string, string[]>} schema
 * @param {import('../report.js').Report} report
 * @param {string} file
 */
export async function checkTables (db, schema, report, file) {
  let total
  const has = (table, ...names) => names.every(name => schema[table]?.includes(name))
  const isDeduplicated = has('map', 'tile_id', 'zoom_level', 'tile_column', 'tile_row') && has('images', 'tile_id', 'tile_data')
  const places = isDeduplicated ? 'map' : 'tiles'
  const place = PLACE.split(', ').map(numberOf).join(', ')
  const where = cells => `${cells.slice(0, 3).map(textOf).join('/')} (its row)`

  await ask(`SELECT ${cell('quick_check')} FROM pragma_quick_check(100)`, ([text]) => { if (text !== 'ok') report.add('damaged-file', file, text) })
  if (has(places, ...PLACE.split(', '))) {
    await ask(`SELECT count(*) FROM ${places}`, ([count]) => { total = count })
    await ask(`SELECT ${place}, count(*) FROM ${places} GROUP BY ${PLACE} HAVING count(*) > 1`, row => report.add('duplicate-tile', where(row), `${row[3]} times`))
  }
  if (isDeduplicated) {
    await ask(`SELECT ${place}, ${cell('tile_id')} FROM map WHERE tile_id IS NULL OR tile_id NOT IN (SELECT tile_id FROM images WHERE tile_id IS NOT NULL)`,
      row => report.add('unreadable-tile', where(row), `there is no image ${row[3]}`))
    await ask(`SELECT ${cell('tile_id')}, count(*) FROM images GROUP BY tile_id HAVING count(*) > 1`, ([id, count]) => report.add('bad-structure', `image ${id}`, `is there ${count} times`))
    await ask(`SELECT ${cell('tile_id')}, length(tile_data) FROM images WHERE tile_id IS NULL OR tile_id NOT IN (SELECT tile_id FROM map WHERE tile_id IS NOT NULL)`,
      ([id, length]) => report.add('unused-bytes', `image ${id}`, `${length} bytes`))
  }
  return total

  async function ask (sql, tell) {
    try {
      for await (const row of db.rows(sql)) tell(row.map(textOf))
    } catch (error) {
      if (error.code === 'ABORTED') throw error
      report.add('damaged-file', file, error.message)
    }
  }
}
