// MBTiles 1.3: one SQLite file. `tiles` may be a table, or a view over `map` and `images` in deduplicated files.
// Rows in the file are always counted from the south. In a diff, a row without bytes says that the tile is gone.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'libsql'
import { TilecouchError, compareInner, compareRows, flipY } from '../../core/index.js'
import { BINARY_DIFFS, DIFF_KEYS } from './gone.js'
import { layerFieldsOf, timeOf } from './metadata.js'

const MAGIC = 'SQLite format 3\0'

export const recognises = (name, stats, begin) =>
  stats.isFile() && (begin.toString('latin1', 0, MAGIC.length) === MAGIC || /\.(mbtiles|sqlite|db)$/i.test(name))

/**
 * @param {string} file
 * @param {import('./index.js').SourceOptions} options scheme: xyz for files whose writer forgot to flip rows
 * @returns {Promise<import('./index.js').Source>}
 */
export async function open (file, { selected, zooms, scheme }) {
  const unreadable = error => new TilecouchError('SOURCE_UNREADABLE', { value: file, why: error.message }, { cause: error })
  const flipped = scheme !== 'xyz'
  let db, metadata, diff, zoomLevels, columnsOf, rowsOf, tileAt
  try {
    // libsql ignores its readonly option; SQLite itself does not
    db = new Database(`file:${pathToFileURL(path.resolve(file)).pathname}?mode=ro`)
    zoomLevels = db.prepare(`SELECT ${safe('z')} FROM (SELECT DISTINCT zoom_level AS z FROM tiles)`).raw()
    columnsOf = db.prepare(`SELECT ${safe('x')} FROM (SELECT DISTINCT tile_column AS x FROM tiles WHERE zoom_level = ?)`).raw()
    metadata = readMetadata(db)
    diff = DIFF_KEYS.some(key => Object.hasOwn(metadata, key))
    rowsOf = db.prepare(`SELECT ${safe('tile_row')}, ${diff ? 'tile_data IS NULL' : '0'} FROM tiles WHERE zoom_level = ? AND tile_column = ?`).raw()
    tileAt = db.prepare('SELECT CAST(tile_data AS BLOB) FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?').raw()
  } catch (error) {
    db?.close()
    throw unreadable(error)
  }
  const binary = diff && tablesOf(db).find(name => BINARY_DIFFS.includes(name))
  if (binary) {
    db.close()
    throw new TilecouchError('ARCHIVE_INVALID', { file, why: `its table ${binary} holds differences within tiles, not tiles: make it with whole ones (--patch-type whole)` })
  }

  async function * tiles () {
    for (const z of numbers(zoomLevels, [], compareInner)) {
      if (zooms && (z < zooms.min || z > zooms.max)) continue
      for (const x of numbers(columnsOf, [z], compareInner)) {
        const rows = all(rowsOf, [z, x]).map(([row, gone]) => ({ row, y: flipped ? flipY(z, row) : row, gone }))
        rows.sort((a, b) => compareRows(a.y, b.y))
        for (const { row, y, gone } of rows) {
          if (selected(z, x, y)) yield gone ? { z, x, y, gone: true } : { z, x, y, read: () => bytesAt(z, x, row) }
        }
      }
    }
  }

  // a row without bytes is a damaged tile: only in a diff does it mean anything
  const bytesAt = (z, x, row) => tileAt.get(z, x, row)?.[0] ?? Buffer.alloc(0)

  const numbers = (statement, parameters, compare) => all(statement, parameters).map(([number]) => number).sort(compare)

  function all (statement, parameters) {
    try {
      return statement.all(parameters).map(row => row.map(textOf))
    } catch (error) {
      throw unreadable(error)
    }
  }

  return {
    name: path.basename(file),
    fields: layerFieldsOf(metadata),
    time: timeOf(metadata),
    diff,
    tiles,
    close () { db.close() }
  }
}

// the binding ends the process where a text is no UTF-8, so that every text is read as bytes
const safe = column => `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) ELSE ${column} END`
const textOf = cell => Buffer.isBuffer(cell) ? cell.toString() : cell

const tablesOf = db => db.prepare(`SELECT ${safe('name')} FROM sqlite_schema WHERE type = 'table'`).raw().all().map(([name]) => textOf(name))

function readMetadata (db) {
  try {
    return Object.fromEntries(db.prepare(`SELECT ${safe('name')}, ${safe('value')} FROM metadata`).raw().all().map(row => row.map(textOf)))
  } catch (error) {
    // some writers leave the table out; one that is there and cannot be read may say that the file is a diff
    if (/^no such (table|column)/.test(error.message)) return {}
    throw error
  }
}
