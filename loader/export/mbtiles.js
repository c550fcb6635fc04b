// MBTiles 1.3: one SQLite file. Equal images stand in it once: `tiles` is a view over `map` and `images`, as most programs
// write it and all read it. With `cache` it is a tile cache as martin has it instead, each tile with when it was fetched and expires.
import { digestOf } from '../store/tile.js'
import { createHash } from 'node:crypto'
import { lstat, open as openFile, rename, rm, stat } from 'node:fs/promises'
import Database from 'libsql'
import { TilecouchError, expiryOf, flipY, toSeconds } from '../../core/index.js'
import { hashOfTiles } from './mbtiles-hash.js'
import { metadataOf } from './metadata.js'
import { cached, deduplicated } from './mbtiles-schema.js'

export const mbtilesDefaults = {
  tiles: 1000, // committed together at most
  bytes: 16e6, // of tiles committed together at most
  memory: 32000 // kilobytes of pages that SQLite keeps
}

const APPLICATION_ID = 0x4d504258 // "MPBX", says the specification

const extras = ['-journal', '-wal', '-shm'] // what SQLite has beside a file

/**
 * @param {string} file
 * @param {import('./target.js').TargetOptions} options
 * @returns {Promise<import('./target.js').Target>}
 */
export async function open (file, options) {
  const part = `${file}.part`
  const run = JSON.stringify({ run: options.run, cache: Boolean(options.cache) })
  const schema = options.cache ? cached : deduplicated
  const left = await isOwnFile(part) ? reopen(part, run, schema) : undefined
  if (left) return new MbtilesTarget(file, left, schema, options, true)
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
  return new MbtilesTarget(file, db, schema, options, false)
}

class MbtilesTarget {
  #file
  #db
  #schema
  #options
  #insert
  #waiting = { tiles: 0, bytes: 0 }
  #isFinishing = false

  constructor (file, db, schema, options, resumed) {
    this.#file = file
    this.#db = db
    this.#schema = schema
    this.#options = options
    this.resumed = resumed
    this.#insert = { tile: db.prepare(schema.insert), ...(schema.image && { image: db.prepare(schema.image) }) }
    if (resumed) {
      this.#insert.had = db.prepare('SELECT time, place FROM had WHERE z = ? AND x = ? AND y = ?')
      this.#insert.met = db.prepare('DELETE FROM had WHERE z = ? AND x = ? AND y = ?')
      this.#insert.bytes = db.prepare(schema.bytes)
      this.#insert.remove = db.prepare(schema.remove)
    }
    db.exec('BEGIN')
  }

  /** @param {import('./target.js').Known} tile */
  has ({ z, x, y, time, digest }) {
    const row = flipY(z, y)
    const had = this.#insert.had.get(z, x, row)
    const isSame = had?.time === toSeconds(time) && digestOf(this.#insert.bytes.get(had.place).tile_data) === digest
    if (isSame) this.#insert.met.run(z, x, row)
    return isSame
  }

  #replace (z, x, row) {
    const had = this.#insert.had?.get(z, x, row)
    if (!had) return
    this.#insert.remove.run(had.place)
    this.#insert.met.run(z, x, row)
  }

  /** @param {import('./target.js').TargetTile} tile */
  add (tile) {
    const { z, x, time, bytes } = tile
    const row = flipY(z, tile.y)
    const id = idOf(tile)
    this.#replace(z, x, row)
    this.#insert.image?.run(id, bytes)
    this.#insert.tile.run(...this.#schema.values({
      z, x, row, time: seconds(time), id, bytes, fetched: seconds(tile.stored), expires: seconds(expiryOf(tile, this.#options.doc)), etag: tile.origin?.etag ?? null
    }))
    this.#wrote(bytes.length)
  }

  /** As martin's differences have it: a row without data. @param {{z: number, x: number, y: number}} tile */
  gone ({ z, x, y }) {
    if (!this.#insert.image) throw new TilecouchError('TARGET_UNWRITABLE', { value: this.#file, why: 'a tile cache cannot say that a tile is gone' })
    this.#replace(z, x, flipY(z, y))
    this.#insert.image.run('', null)
    this.#insert.tile.run(z, x, flipY(z, y), '', null)
    this.#wrote(0)
  }

  #wrote (size) {
    this.#waiting.tiles++
    this.#waiting.bytes += size
    if (this.#waiting.tiles >= mbtilesDefaults.tiles || this.#waiting.bytes >= mbtilesDefaults.bytes) this.#commit()
  }

  #commit () {
    this.#db.exec('COMMIT')
    this.#db.exec('BEGIN')
    this.#waiting = { tiles: 0, bytes: 0 }
  }

  /** @param {import('./facts.js').Facts} facts */
  async finish (facts) {
    const { doc, ...options } = this.#options
    this.#commit()
    this.#isFinishing = true
    if (this.resumed) this.#forget()
    this.#db.exec(`DELETE FROM metadata; ${this.#schema.finish} DROP TABLE part;`)
    const insert = this.#db.prepare('INSERT INTO metadata VALUES (?, ?)')
    const metadata = { agg_tiles_hash: await hashOfTiles(this.#db), ...metadataOf(doc, facts, { ...options, scheme: undefined }) }
    for (const [name, value] of Object.entries(metadata)) insert.run(name, value)
    const distinct = this.#schema.distinct && this.#db.prepare(this.#schema.distinct).get().contents
    this.#db.exec(`PRAGMA application_id = ${APPLICATION_ID}; COMMIT`)
    this.#db.exec('PRAGMA journal_mode = DELETE')
    this.#db.close()
    const part = `${this.#file}.part`
    await sync(part)
    await rename(part, this.#file)
    return { size: (await stat(this.#file)).size, ...(distinct !== undefined && { distinct }) }
  }

  #forget () {
    if (this.#db.prepare('SELECT count(*) AS left FROM had').get().left) this.#db.exec(this.#schema.removeRest)
    if (this.#schema.removeUnused) this.#db.exec(this.#schema.removeUnused)
  }

  async stop () {
    if (!this.#db.open) return
    try {
      if (this.#db.inTransaction) this.#db.exec(this.#isFinishing ? 'ROLLBACK' : 'COMMIT')
    } catch {
      // the disk is full: what was committed before is there
    }
    this.#db.close()
  }
}

const tablesOf = ({ tables }) => `${tables} CREATE TABLE metadata (name TEXT NOT NULL PRIMARY KEY, value TEXT); CREATE TABLE part (run TEXT);`

/** Whether what lies there is a file: SQLite would follow a link, and make what it leads to. */
const isOwnFile = file => lstat(file).then(stats => stats.isFile(), () => false)

/** Whether a file has the tables that this makes, and nothing else: no view or trigger that somebody else has put there. */
function hasTables (db, schema) {
  const own = new Database(':memory:')
  try {
    own.exec(tablesOf(schema))
    const [[found], [made]] = [db, own].map(one => one.prepare("SELECT group_concat(type || name || ifnull(sql, '')) FROM (SELECT * FROM sqlite_schema ORDER BY type, name)").raw().get())
    return found === made
  } finally {
    own.close()
  }
}

function connect (file) {
  const db = new Database(file)
  for (const setting of ['encoding = "UTF-8"', 'journal_mode = TRUNCATE', 'synchronous = FULL', `cache_size = -${mbtilesDefaults.memory}`]) db.exec(`PRAGMA ${setting}`)
  return db
}

/**
 * What an earlier run of the same export wrote, if it can be gone on with. What is met again is taken off the list `had`, and what
 * is left of it at the end is in the layer no more.
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
    // there is none, or it was killed before it had tables, or it is damaged, or something else
  }
  db?.close()
}

async function removePart (part) {
  for (const extra of ['', ...extras]) await rm(`${part}${extra}`, { force: true })
}

async function sync (file) {
  const handle = await openFile(file, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const seconds = time => time ? toSeconds(time) : null

/** The digest that CouchDB has of a tile, as martin expects it: md5 in capital hexadecimal digits. */
function idOf ({ digest, bytes }) {
  const md5 = /^md5-(.{22}==)$/.exec(digest ?? '')
  const hex = md5 ? Buffer.from(md5[1], 'base64').toString('hex') : createHash('md5').update(bytes).digest('hex')
  return hex.toUpperCase()
}
