// Writes MBTiles 1.3: one SQLite file. Equal images are in it once: `tiles` is a view over `map` and `images`, as most
// programs write it and all read it. With `cache` it is a tile cache like that of martin: each tile has the times at
// which it was fetched and expires.
//
// While the tables are filled they have no index of places: rows come from north to south, which is backwards in
// MBTiles, and an index that grows backwards is twice as large as one made at the end. The column `time` is ours: the
// time of the version of a tile, in seconds since 1970, by which a later run can resume.
import { createHash } from 'node:crypto'
import { lstat, rename, rm, stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import Database from 'libsql'
import { expiryOf, gridOf, toSeconds } from '../../../core/index.js'
import { digestOf } from '../../store/tile.js'
import { syncPath } from '../atomic-file.js'
import { openDatabase } from '../database.js'
import { metadataOf } from '../metadata.js'

export const mbtilesDefaults = {
  tiles: 1000, // committed together at most
  bytes: 16e6, // of tiles committed together at most
  memory: 32000 // kilobytes of pages that SQLite keeps
}

const APPLICATION_ID = 0x4d504258 // "MPBX", says the specification

const PAGE = 100 // tiles read at once for the hash of all of them
const extras = ['-journal', '-wal', '-shm'] // files of SQLite beside a database

/** `tiles` as a view over places and images, which martin calls normalized. */
const deduplicated = {
  tables: `
    CREATE TABLE map (
      zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, tile_id TEXT, time INTEGER);
    CREATE TABLE images (tile_id TEXT NOT NULL PRIMARY KEY, tile_data BLOB);`,
  image: 'INSERT OR IGNORE INTO images VALUES (?, ?)',
  insert: 'INSERT INTO map VALUES (?, ?, ?, ?, ?)',
  values: ({ z, x, row, id, time }) => [z, x, row, id, time],
  rows: 'map',
  bytes: 'SELECT tile_data FROM map JOIN images USING (tile_id) WHERE map.rowid = ?',
  removeUnused: 'DELETE FROM images WHERE tile_id NOT IN (SELECT tile_id FROM map)',
  finish: `
    CREATE UNIQUE INDEX map_index ON map (zoom_level, tile_column, tile_row);
    CREATE VIEW tiles AS
      SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column, map.tile_row AS tile_row,
        images.tile_data AS tile_data
      FROM map JOIN images ON images.tile_id = map.tile_id;
    CREATE VIEW tiles_with_hash AS
      SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column, map.tile_row AS tile_row,
        images.tile_data AS tile_data, images.tile_id AS tile_hash
      FROM map JOIN images ON images.tile_id = map.tile_id;`,
  distinct: 'SELECT count(*) AS contents FROM images'
}

/** One table with the times at which each tile was fetched and expires, as in martin's caches. */
const cached = {
  tables: `
    CREATE TABLE tile_cache (
      zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL,
      fetched INTEGER, expires INTEGER, etag TEXT, tile_data BLOB NOT NULL, time INTEGER);`,
  insert: 'INSERT INTO tile_cache VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  values: ({ z, x, row, fetched, expires, etag, bytes, time }) => [z, x, row, fetched, expires, etag, bytes, time],
  rows: 'tile_cache',
  bytes: 'SELECT tile_data FROM tile_cache WHERE rowid = ?',
  finish: `
    CREATE UNIQUE INDEX tile_cache_index ON tile_cache (zoom_level, tile_column, tile_row);
    CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM tile_cache;`
}

/** @type {import('../../export/target.js').Kind['open']} */
export async function open (file, options) {
  const part = `${file}.part`
  const run = JSON.stringify({ run: options.run, cache: Boolean(options.cache) })
  const schema = options.cache ? cached : deduplicated
  const resumedDb = await isOwnFile(part) ? reopen(part, run, schema) : undefined
  if (resumedDb) return new MbtilesWriter(file, resumedDb, schema, options, true)
  await removePart(part)
  const db = connect(part)
  try {
    db.exec(`BEGIN; ${tablesOf(schema)}`)
    db.prepare('INSERT INTO part VALUES (?)').run(run)
    db.exec('COMMIT')
  } catch (error) {
    db.close()
    throw error
  }
  return new MbtilesWriter(file, db, schema, options, false)
}

class MbtilesWriter {
  #file
  #db
  #schema
  #options
  #sql
  #waiting = { tiles: 0, bytes: 0 }
  #isFinishing = false
  #grid

  constructor (file, db, schema, options, resumed) {
    this.#file = file
    this.#db = db
    this.#schema = schema
    this.#options = options
    this.#grid = gridOf(options.doc)
    this.resumed = resumed
    this.#sql = { tile: db.prepare(schema.insert), ...(schema.image && { image: db.prepare(schema.image) }) }
    if (resumed) {
      this.#sql.had = db.prepare('SELECT time, place FROM had WHERE z = ? AND x = ? AND y = ?')
      this.#sql.met = db.prepare('DELETE FROM had WHERE z = ? AND x = ? AND y = ?')
      this.#sql.bytes = db.prepare(schema.bytes)
      this.#sql.remove = db.prepare(`DELETE FROM ${schema.rows} WHERE rowid = ?`)
    }
    db.exec('BEGIN')
  }

  /** @param {import('../../export/target.js').Known} tile */
  has ({ z, x, y, time, digest }) {
    const row = this.#grid.flipY(z, y)
    const old = this.#sql.had.get(z, x, row)
    const isSame = old?.time === toSeconds(time) && digestOf(this.#sql.bytes.get(old.place).tile_data) === digest
    if (isSame) this.#sql.met.run(z, x, row)
    return isSame
  }

  #replace (z, x, row) {
    const old = this.#sql.had?.get(z, x, row)
    if (!old) return
    this.#sql.remove.run(old.place)
    this.#sql.met.run(z, x, row)
  }

  add (tile) {
    const { z, x, time, bytes } = tile
    const row = this.#grid.flipY(z, tile.y)
    const id = idOf(tile)
    this.#replace(z, x, row)
    this.#sql.image?.run(id, bytes)
    this.#sql.tile.run(...this.#schema.values({
      z,
      x,
      row,
      time: seconds(time),
      id,
      bytes,
      fetched: seconds(tile.stored),
      expires: seconds(expiryOf(tile, this.#options.doc)),
      etag: tile.origin?.etag ?? null
    }))
    this.#waiting.tiles++
    this.#waiting.bytes += bytes.length
    if (this.#waiting.tiles >= mbtilesDefaults.tiles || this.#waiting.bytes >= mbtilesDefaults.bytes) this.#commit()
  }

  #commit () {
    this.#db.exec('COMMIT')
    this.#db.exec('BEGIN')
    this.#waiting = { tiles: 0, bytes: 0 }
  }

  async finish (facts) {
    const { doc, ...options } = this.#options
    this.#commit()
    this.#isFinishing = true
    if (this.resumed) this.#removeMissing()
    this.#db.exec(`DELETE FROM metadata; ${this.#schema.finish} DROP TABLE part;`)
    const insert = this.#db.prepare('INSERT INTO metadata VALUES (?, ?)')
    const fields = metadataOf(doc, facts, { ...options, scheme: undefined })
    const metadata = { agg_tiles_hash: await hashOfTiles(this.#db), ...fields }
    for (const [name, value] of Object.entries(metadata)) insert.run(name, value)
    const distinct = this.#schema.distinct && this.#db.prepare(this.#schema.distinct).get().contents
    this.#db.exec(`PRAGMA application_id = ${APPLICATION_ID}; COMMIT`)
    this.#db.exec('PRAGMA journal_mode = DELETE')
    this.#db.close()
    const part = `${this.#file}.part`
    await syncPath(part, 'r+')
    await rename(part, this.#file)
    return { size: (await stat(this.#file)).size, ...(distinct !== undefined && { distinct }) }
  }

  #removeMissing () {
    this.#db.exec(`DELETE FROM ${this.#schema.rows} WHERE rowid IN (SELECT place FROM had)`)
    if (this.#schema.removeUnused) this.#db.exec(this.#schema.removeUnused)
  }

  async stop () {
    if (!this.#db.open) return
    try {
      if (this.#db.inTransaction) this.#db.exec(this.#isFinishing ? 'ROLLBACK' : 'COMMIT')
    } catch {
      // the disk is full: earlier commits are safe
    }
    this.#db.close()
  }
}

const tablesOf = ({ tables }) =>
  `${tables} CREATE TABLE metadata (name TEXT NOT NULL PRIMARY KEY, value TEXT); CREATE TABLE part (run TEXT);`

/** Whether it is a file: SQLite would follow a link, and create its target. */
const isOwnFile = file => lstat(file).then(stats => stats.isFile(), () => false)

const SCHEMA_TEXT = "SELECT group_concat(type || name || ifnull(sql, '')) " +
  'FROM (SELECT * FROM sqlite_schema ORDER BY type, name)'

/** Whether a file has our tables and nothing else: no view or trigger of others. */
function hasTables (db, schema) {
  const memoryDb = new Database(':memory:')
  try {
    memoryDb.exec(tablesOf(schema))
    const [[storedSchema], [ownSchema]] = [db, memoryDb].map(database => database.prepare(SCHEMA_TEXT).raw().get())
    return storedSchema === ownSchema
  } finally {
    memoryDb.close()
  }
}

const connect = file => openDatabase(file, {
  encoding: '"UTF-8"', journal_mode: 'TRUNCATE', synchronous: 'FULL', cache_size: -mbtilesDefaults.memory
})

/**
 * Opens the file of an earlier run of the same export, if it can be resumed. The table `had` has its tiles: a tile that
 * this run meets leaves the table. The other tiles are no longer in the layer.
 */
function reopen (part, run, schema) {
  let db
  try {
    db = connect(part)
    if (hasTables(db, schema) && db.prepare('SELECT run FROM part').raw().get()?.[0] === run) {
      db.exec(`CREATE TEMP TABLE had (z, x, y, time, place, PRIMARY KEY (z, x, y)) WITHOUT ROWID;
        INSERT INTO had SELECT zoom_level, tile_column, tile_row, time, rowid FROM ${schema.rows}`)
      return db
    }
  } catch {
    // missing, killed before it had tables, damaged, or another file
  }
  db?.close()
}

async function removePart (part) {
  for (const extra of ['', ...extras]) await rm(`${part}${extra}`, { force: true })
}

const seconds = time => time ? toSeconds(time) : null

/** The digest that CouchDB has of a tile, as martin expects it: md5 in capital hexadecimal digits. */
function idOf ({ digest, bytes }) {
  const md5 = /^md5-(.{22}==)$/.exec(digest ?? '')
  const hex = md5 ? Buffer.from(md5[1], 'base64').toString('hex') : createHash('md5').update(bytes).digest('hex')
  return hex.toUpperCase()
}

/**
 * The hash by which martin's tools recognise equal MBTiles files, and without which they do not compare them: the md5
 * of zoom, column, row (as texts) and image of each tile, in this order.
 * @param {any} db with `tiles` and its index
 */
async function hashOfTiles (db) {
  const page = db.prepare(`SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles
    WHERE (zoom_level, tile_column, tile_row) > (?, ?, ?)
    ORDER BY zoom_level, tile_column, tile_row LIMIT ${PAGE}`).raw()
  const hash = createHash('md5')
  let rows
  let last = [-1, -1, -1]
  do {
    rows = page.all(last)
    for (const [z, x, row, data] of rows) {
      hash.update(`${z}${x}${row}`).update(data)
      last = [z, x, row]
    }
    await setImmediate()
  } while (rows.length === PAGE)
  return hash.digest('hex').toUpperCase()
}
