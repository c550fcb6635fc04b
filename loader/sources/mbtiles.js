// MBTiles 1.3: one SQLite file. `tiles` may be a table, or a view over `map` and `images` in deduplicated files.
// Rows in the file are always counted from the south.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'libsql'
import { TilecouchError, compareInner, compareRows, flipY } from '../../core/index.js'
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
  let db, metadata, zoomLevels, columnsOf, rowsOf, tileAt
  try {
    // libsql ignores its readonly option; SQLite itself does not
    db = new Database(`file:${pathToFileURL(path.resolve(file)).pathname}?mode=ro`)
    zoomLevels = db.prepare('SELECT DISTINCT zoom_level AS z FROM tiles')
    columnsOf = db.prepare('SELECT DISTINCT tile_column AS x FROM tiles WHERE zoom_level = ?')
    rowsOf = db.prepare('SELECT tile_row AS y FROM tiles WHERE zoom_level = ? AND tile_column = ?')
    tileAt = db.prepare('SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?').raw()
    metadata = readMetadata(db)
  } catch (error) {
    db?.close()
    throw unreadable(error)
  }

  async function * tiles () {
    for (const z of numbers(zoomLevels, [], 'z', compareInner)) {
      if (zooms && (z < zooms.min || z > zooms.max)) continue
      for (const x of numbers(columnsOf, [z], 'x', compareInner)) {
        const rows = numbers(rowsOf, [z, x], 'y').map(row => ({ row, y: flipped ? flipY(z, row) : row }))
        rows.sort((a, b) => compareRows(a.y, b.y))
        for (const { row, y } of rows) {
          if (selected(z, x, y)) yield { z, x, y, read: () => tileAt.get(z, x, row)?.[0] }
        }
      }
    }
  }

  function numbers (statement, parameters, column, compare) {
    try {
      const found = statement.all(...parameters).map(row => row[column])
      return compare ? found.sort(compare) : found
    } catch (error) {
      throw unreadable(error)
    }
  }

  return {
    name: path.basename(file),
    fields: layerFieldsOf(metadata),
    time: timeOf(metadata),
    tiles,
    close () { db.close() }
  }
}

function readMetadata (db) {
  try {
    return Object.fromEntries(db.prepare('SELECT name, value FROM metadata').all().map(({ name, value }) => [name, value]))
  } catch {
    return {} // some writers leave the table out
  }
}
