// MBTiles for tests, as other programs write them.
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import Database from 'libsql'
import { flipY } from '../../core/index.js'

/**
 * @param {string} file
 * @param {Iterable<{z: number, x: number, y: number, bytes: Uint8Array | null}>} tiles
 * @param {Record<string, string | number>} [metadata]
 */
export function writeMbtiles (file, tiles, metadata = {}) {
  mkdirSync(path.dirname(file), { recursive: true })
  const db = new Database(file)
  db.exec(`CREATE TABLE metadata (name TEXT, value TEXT);
    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB,
      PRIMARY KEY (zoom_level, tile_column, tile_row));
    BEGIN`)
  const insert = db.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)')
  for (const { z, x, y, bytes } of tiles) insert.run(z, x, flipY(z, y), bytes)
  for (const [name, value] of Object.entries(metadata)) {
    db.prepare('INSERT INTO metadata VALUES (?, ?)').run(name, String(value))
  }
  db.exec('COMMIT')
  db.close()
  return file
}
