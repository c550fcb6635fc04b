// Reads MBTiles: the tables and views of a SQLite file, and its metadata. Texts come as blobs: a text that is not
// UTF-8 would end the process that reads.
import { isUtf8 } from 'node:buffer'
import { TilecouchError } from '../../errors.js'
import { sourceLimits } from '../reading.js'
import { cell, textOf } from './sqlite.js'

const TILE_COLUMNS = ['zoom_level', 'tile_column', 'tile_row', 'tile_data']
const TABLES = ['tiles', 'metadata'] // that are read

const NAME = 1000 // bytes of the name of a row of metadata; a longer one is cut off
const SMALL = 64e3 // bytes of a value that is read with others
const ROW = 100 // bytes that a row is counted as, besides its value
const SIZE = 'length(CAST(value AS BLOB))'

/**
 * Lists the tables and views that are read, with the names of their columns.
 * @param {import('./sqlite.js').SqliteFile} db
 * @returns {Promise<Record<string, string[]> | undefined>} undefined if none of them can be read
 */
export async function readTables (db, onFault) {
  /** @type {Record<string, string[]>} */
  const tables = {}
  try {
    for await (const [text] of db.rows(`SELECT ${cell('name')} FROM sqlite_schema WHERE type IN ('table', 'view')`)) {
      const name = textOf(text).toLowerCase()
      if (TABLES.includes(name)) tables[name] = []
    }
    for (const [name, columns] of Object.entries(tables)) {
      try {
        for await (const [column] of db.rows(`SELECT ${cell('name')} FROM pragma_table_xinfo('${name}')`)) {
          columns.push(textOf(column).toLowerCase())
        }
        if (await db.isRecursive(name)) {
          return void onFault('bad-structure', name, 'its view is recursive, and may never end: nothing was read')
        }
      } catch (error) {
        // a view over a missing table has no columns
        if (!/^no such (table|column)/.test(error.message)) throw error
      }
    }
  } catch (error) {
    if (error instanceof TilecouchError) throw error
    return void onFault('damaged-file', db.file, error.message, error)
  }
  return tables
}

/**
 * Has SQLite read all pages of the file.
 * @param {import('./sqlite.js').SqliteFile} db @param {import('../reading.js').OnFault} onFault
 */
export async function checkPages (db, onFault) {
  try {
    for await (const [text] of db.rows(`SELECT ${cell('quick_check')} FROM pragma_quick_check(100)`)) {
      const result = textOf(text)
      if (result !== 'ok') onFault('damaged-file', db.file, result)
    }
  } catch (error) {
    if (error instanceof TilecouchError) throw error
    onFault('damaged-file', db.file, error.message)
  }
}

/** Returns why the file can have no tiles, if so. @param {Record<string, string[]>} tables */
export function missingTiles ({ tiles }) {
  if (!tiles) return 'there is no table or view called tiles'
  const missing = TILE_COLUMNS.filter(name => !tiles.includes(name))
  if (missing.length) return `tiles has no column ${missing.join(', ')}`
}

/**
 * @param {import('./sqlite.js').SqliteFile} db
 * @param {Record<string, string[]>} tables
 * @returns {Promise<Record<string, any> | undefined>} names and values; undefined if there is no such table
 */
export async function readMetadata (db, tables, onFault) {
  if (!['name', 'value'].every(name => tables.metadata?.includes(name))) return undefined
  /** @type {Record<string, any>} */
  const values = {}
  for await (const cells of metadataRows(db)) {
    if (cells.some(blob => blob && !isUtf8(blob))) onFault('bad-metadata', 'metadata', 'a text that is no UTF-8')
    const [name, value] = cells.map(textOf)
    if (Object.hasOwn(values, name)) onFault('bad-metadata', 'metadata', `${name} is there more than once`)
    values[name] = value
  }
  return values
}

/**
 * The names and values of the metadata, as blobs.
 * @param {import('./sqlite.js').SqliteFile} db
 * @returns {AsyncGenerator<(Uint8Array | null)[]>}
 */
async function * metadataRows (db) {
  let remaining = sourceLimits.metadata
  const sql = `SELECT substr(CAST(name AS BLOB), 1, ${NAME}), CASE WHEN ${SIZE} <= ${SMALL} THEN CAST(value AS BLOB) ` +
    `END, ${SIZE} FROM metadata`
  for await (const [name, value, size] of db.rows(sql)) {
    remaining -= ROW + (size ?? 0)
    if (remaining < 0) throw new Error(`its metadata have more than ${sourceLimits.metadata} bytes`)
    yield [name, size > SMALL ? await largeValue(db, name, size) : value]
  }
}

async function largeValue (db, name, size) {
  const [row] = await db.get(`SELECT CAST(value AS BLOB) FROM metadata WHERE name = ? AND ${SIZE} = ? ` +
    'LIMIT 1', [[textOf(name), size]])
  if (row instanceof Error) throw row
  return row?.[0] ?? null
}
