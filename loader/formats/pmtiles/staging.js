// Stores the tiles of an unfinished archive: one file has their bytes, each content once, and another one an index.
// Both survive the process: all bytes in the index are on disk, so that a later run can resume.
import { open, rm, stat } from 'node:fs/promises'
import { openDatabase } from '../database.js'
import { writeAll } from '../files.js'

const FORMAT = 1 // of these two files; files of another format are discarded

export const stagingDefaults = {
  buffer: 2 ** 20, // bytes gathered before they are written
  tiles: 4096, // entered before they are committed: at most so many are lost if the process is killed
  bytes: 64e6, // of tiles that are not committed
  time: 1000, // milliseconds until they are committed
  page: 5000 // tiles read from the index at once
}

const SCHEMA = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE contents (at INTEGER PRIMARY KEY, length INTEGER, type INTEGER, shared INTEGER, digest TEXT UNIQUE);
  CREATE TABLE tiles (id INTEGER PRIMARY KEY, at INTEGER, time TEXT, seen INTEGER);
  CREATE TABLE placed (at INTEGER PRIMARY KEY, offset INTEGER);`

export const files = base => ({ data: `${base}-data`, index: `${base}-index` })

export async function removeStaged (base) {
  const { data, index } = files(base)
  for (const file of [data, index, `${index}-journal`]) await rm(file, { force: true })
}

export class StagedTiles {
  #db
  #sql
  #data
  #seen
  #end
  /** @type {Uint8Array[]} */
  #chunks = []
  #buffered = 0
  #uncommitted = emptyBatch()
  #busy = /** @type {Promise<void> | undefined} */ (undefined)
  #failed = false // or closed: nothing more is committed

  /** @param {string} run identifies the archive: tiles that were gathered for another one are discarded */
  static async open (base, run) {
    const { data, index } = files(base)
    let db = await reopen(base, run)
    const resumed = Boolean(db)
    try {
      if (!db) {
        await removeStaged(base)
        db = openDatabase(index, SETTINGS)
        db.exec(`${SCHEMA} INSERT INTO facts VALUES ('format', ${FORMAT}), ('seen', 0)`)
        db.prepare("INSERT INTO facts VALUES ('run', ?)").run([run])
      }
      // bytes of a killed process that are not in the index are overwritten
      return new StagedTiles(db, await open(data, resumed ? 'r+' : 'w+'), endOf(db), resumed)
    } catch (error) {
      db?.close()
      throw error
    }
  }

  constructor (db, data, end, resumed) {
    this.#db = db
    this.#data = data
    this.#end = end
    this.resumed = resumed
    // a tile that an earlier run gathered belongs to the archive only when this run meets it, too
    db.exec("UPDATE facts SET value = value + 1 WHERE name = 'seen'")
    this.#seen = fact(db, 'seen')
    const [reading, writing] = [sql => db.prepare(sql).raw(), sql => db.prepare(sql)]
    this.#sql = {
      find: reading('SELECT time, digest FROM tiles JOIN contents USING (at) WHERE id = ?'),
      see: writing('UPDATE tiles SET seen = ? WHERE id = ?'),
      tile: writing('INSERT INTO tiles VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at, time = ' +
        'excluded.time, seen = excluded.seen'),
      content: reading('INSERT INTO contents VALUES (?, ?, ?, 0, ?) ON CONFLICT (digest) DO UPDATE SET shared = 1 ' +
        'RETURNING at'),
      page: reading('SELECT id, at, length, type, shared FROM tiles JOIN contents USING (at) WHERE id > ? AND seen = ' +
        '? ORDER BY id LIMIT ?'),
      placed: reading('SELECT offset FROM placed WHERE at = ?'),
      place: writing('INSERT INTO placed VALUES (?, ?)')
    }
    db.exec('BEGIN')
  }

  get data () {
    return this.#data
  }

  /** Whether there is nothing to resume. */
  get isEmpty () {
    return this.#end === 0
  }

  /** Whether a tile is stored in just this version. Then it belongs to the archive. */
  has (id, time, digest) {
    const row = this.#sql.find.get([id])
    const isSame = row !== undefined && row[0] === time && row[1] === digest
    if (isSame) this.#sql.see.run([this.#seen, id])
    return isSame
  }

  /** @param {number} id @param {{time: string, digest: string, type: number, bytes: Uint8Array}} tile */
  async add (id, { time, digest, type, bytes }) {
    while (this.#busy) await this.#busy
    const [stagedOffset] = this.#sql.content.get([this.#end, bytes.length, type, digest])
    this.#sql.tile.run([id, stagedOffset, time, this.#seen])
    this.#uncommitted.tiles++
    if (stagedOffset === this.#end) {
      this.#end += bytes.length
      this.#chunks.push(bytes)
      this.#buffered += bytes.length
      this.#uncommitted.bytes += bytes.length
    }
    const { tiles, bytes: size, since } = this.#uncommitted
    const { tiles: mostTiles, bytes: mostBytes, time: longest } = stagingDefaults
    const due = tiles >= mostTiles || size >= mostBytes || performance.now() - since >= longest
    if (due || this.#buffered >= stagingDefaults.buffer) await this.#alone(() => due ? this.#commit() : this.#write())
  }

  /** No tile is entered during a write: a commit covers only bytes that are on disk. */
  async #alone (work) {
    this.#busy = work()
    try {
      await this.#busy
    } catch (error) {
      this.#failed = true
      throw error
    } finally {
      this.#busy = undefined
    }
  }

  async #write () {
    const bytes = Buffer.concat(this.#chunks)
    this.#chunks = []
    this.#buffered = 0
    await writeAll(this.#data, bytes, this.#end - bytes.length)
  }

  async #commit () {
    await this.#write()
    await this.#data.datasync() // before the index lists the bytes
    this.#db.exec('COMMIT; BEGIN')
    this.#uncommitted = emptyBatch()
  }

  /** Writes everything to disk. After a failure only the commits before it count. */
  async flush () {
    while (this.#busy) await this.#busy
    if (!this.#failed) await this.#alone(() => this.#commit())
  }

  /**
   * The tiles of this run, by ascending id. Its caller is the only one to use the index meanwhile.
   * @returns {Generator<{id: number, stagedOffset: number, length: number, type: number, shared: boolean}[]>}
   */
  * pages () {
    let rows
    for (let last = -1; ; last = rows.at(-1)[0]) {
      rows = this.#sql.page.all([last, this.#seen, stagingDefaults.page])
      if (rows.length) {
        yield rows.map(([id, stagedOffset, length, type, shared]) =>
          ({ id, stagedOffset, length, type, shared: shared === 1 }))
      }
      if (rows.length < stagingDefaults.page) return
    }
  }

  /** The offset in the archive of a content that several tiles share. `forgetPlaces` discards it. */
  placeOf (stagedOffset) {
    return this.#sql.placed.get([stagedOffset])?.[0]
  }

  place (stagedOffset, offset) {
    this.#sql.place.run([stagedOffset, offset])
  }

  forgetPlaces () {
    this.#db.exec('ROLLBACK; BEGIN')
  }

  async close () {
    if (!this.#db.open) return
    this.#failed = true
    this.#db.exec('ROLLBACK') // closing alone would not end the transaction before its statements are collected
    this.#db.close()
    await this.#data.close()
  }
}

const emptyBatch = () => ({ tiles: 0, bytes: 0, since: performance.now() })

const SETTINGS = { page_size: 8192, journal_mode: 'TRUNCATE', synchronous: 'NORMAL', cache_size: -32000 }

/** The index of an earlier run of the same archive, if it can be resumed. */
async function reopen (base, run) {
  const { data, index } = files(base)
  const sizes = await Promise.all([data, index].map(file => stat(file).then(({ size }) => size, () => 0)))
  if (!sizes[0] || !sizes[1]) return
  let db
  try {
    db = openDatabase(index, SETTINGS)
    if (fact(db, 'format') === FORMAT && fact(db, 'run') === run && endOf(db) <= sizes[0]) return db
  } catch {
    // damaged, or another kind of file
  }
  db?.close()
}

const fact = (db, name) => db.prepare('SELECT value FROM facts WHERE name = ?').get([name])?.value

const endOf = db => db.prepare('SELECT at + length AS ends FROM contents ORDER BY at DESC LIMIT 1').get([])?.ends ?? 0
