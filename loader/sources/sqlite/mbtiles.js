// What loading and verifying an MBTiles file have in common.
import { sourceLimits } from '../limits.js'
import { textOf } from './file.js'

const NAME = 1000 // bytes of the name of a row of metadata; a longer one is nobody's
const SMALL = 64e3 // bytes of a value that is read with others
const ROW = 100 // bytes that a row is counted as, besides its value
const SIZE = 'length(CAST(value AS BLOB))'

/**
 * The names and values of the metadata, as blobs.
 * @param {import('./file.js').SqliteFile} db
 * @returns {AsyncGenerator<(Uint8Array | null)[]>}
 */
export async function * metadataRows (db) {
  let left = sourceLimits.metadata
  for await (const [name, value, size] of db.rows(`SELECT substr(CAST(name AS BLOB), 1, ${NAME}), CASE WHEN ${SIZE} <= ${SMALL} THEN CAST(value AS BLOB) END, ${SIZE} FROM metadata`)) {
    left -= ROW + (size ?? 0)
    if (left < 0) throw new Error(`its metadata have more than ${sourceLimits.metadata} bytes`)
    yield [name, size > SMALL ? await largeValue(db, name, size) : value]
  }
}

async function largeValue (db, name, size) {
  const [row] = await db.get(`SELECT CAST(value AS BLOB) FROM metadata WHERE name = ? AND ${SIZE} = ? LIMIT 1`, [[textOf(name), size]])
  if (row instanceof Error) throw row
  return row?.[0] ?? null
}

/**
 * Which of some tables or views may have no end: they come about by a recursion.
 * @param {import('./file.js').SqliteFile} db
 * @param {string[]} tables
 */
export async function endless (db, tables) {
  for (const table of tables) {
    try {
      if (await db.isRecursive(table)) return table
    } catch (error) {
      if (!/^no such (table|column)/.test(error.message)) throw error
    }
  }
}
