// The tiles of an archive that is not complete yet: their bytes in one file, each content once, and an index of them in
// another. Both survive the process: what the index says is on disk, so that a later run can resume.
import { open, rm, stat } from 'node:fs/promises'
import Database from 'libsql'
import { writeAll } from '../files.js'

const FORMAT = 1 // of these two files; others are begun again

export const stagingDefaults = {
  buffer: 2 ** 20, // bytes gathered before they are written
  tiles: 4096, // entered before they are committed: what is lost at most when the process is killed
  bytes: 64e6, // of them
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
  #uncommitted = nothing()
  #busy = /** @type {Promise<void> | undefined} */ (undefined)
  #failed = false // or closed: nothing more is committed

  /** @param {string} run what it is an archive of: what was gathered for another one is thrown away */
  static async open (base, run) {
    const { data, index } = files(base)
    let db = await reopen(base, run)
    const resumed = Boolean(db)
    try {
      if (!db) {
        await removeStaged(base)
        db = database(index)
        db.exec(`${SCHEMA} INSERT INTO facts VALUES ('format', ${FORMAT}), ('seen', 0)`)
        db.prepare("INSERT INTO facts VALUES ('run', ?)").run([run])
      }
      // bytes that no index knows, written before the process was killed, are written over
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

  /** Whether a tile is there in just this version; it belongs to the archive then. */
  has (id, time, digest) {
    const row = this.#sql.find.get([id])
    const same = row !== undefined && row[0] === time && row[1] === digest
    if (same) this.#sql.see.run([this.#seen, id])
    return same
  }

  /** @param {number} id @param {{time: string, digest: string, type: number, bytes: Uint8Array}} tile */
  async add (id, { time, digest, type, bytes }) {
    while (this.#busy) await this.#busy
    const [at] = this.#sql.content.get([this.#end, bytes.length, type, digest])
    this.#sql.tile.run([id, at, time, this.#seen])
    this.#uncommitted.tiles++
    if (at === this.#end) {
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

  /** While something is written, nothing is entered: a commit is of what is on disk. */
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
    await this.#data.datasync() // before the index says that it is there
    this.#db.exec('COMMIT; BEGIN')
    this.#uncommitted = nothing()
  }

  /** Brings everything to disk; after a failure only what was there before it counts. */
  async flush () {
    while (this.#busy) await this.#busy
    if (!this.#failed) await this.#alone(() => this.#commit())
  }

  /**
   * The tiles of this run, by ascending id. Its caller is the only one to use the index meanwhile.
   * @returns {Generator<{id: number, at: number, length: number, type: number, shared: boolean}[]>}
   */
  * pages () {
    let rows
    for (let last = -1; ; last = rows.at(-1)[0]) {
      rows = this.#sql.page.all([last, this.#seen, stagingDefaults.page])
      if (rows.length) {
        yield rows.map(([id, at, length, type, shared]) => ({ id, at, length, type, shared: shared === 1 }))
      }
      if (rows.length < stagingDefaults.page) return
    }
  }

  /** Where a content that several tiles share lies in the archive. Forgotten by `forgetPlaces`. */
  placeOf (at) {
    return this.#sql.placed.get([at])?.[0]
  }

  place (at, offset) {
    this.#sql.place.run([at, offset])
  }

  forgetPlaces () {
    this.#db.exec('ROLLBACK; BEGIN')
  }

  async close () {
    if (!this.#db.open) return
    this.#failed = true
    this.#db.exec('ROLLBACK') // closing alone would not give it up before its statements are collected
    this.#db.close()
    await this.#data.close()
  }
}

const nothing = () => ({ tiles: 0, bytes: 0, since: performance.now() })

function database (index) {
  const db = new Database(index)
  const settings = ['page_size = 8192', 'journal_mode = TRUNCATE', 'synchronous = NORMAL', 'cache_size = -32000']
  for (const setting of settings) db.exec(`PRAGMA ${setting}`)
  return db
}

/** The index of an earlier run of the same archive, if it can be resumed. */
async function reopen (base, run) {
  const { data, index } = files(base)
  const sizes = await Promise.all([data, index].map(file => stat(file).then(({ size }) => size, () => 0)))
  if (!sizes[0] || !sizes[1]) return
  let db
  try {
    db = database(index)
    if (fact(db, 'format') === FORMAT && fact(db, 'run') === run && endOf(db) <= sizes[0]) return db
  } catch {
    // damaged, or something else altogether
  }
  db?.close()
}

const fact = (db, name) => db.prepare('SELECT value FROM facts WHERE name = ?').get([name])?.value

const endOf = db => db.prepare('SELECT at + length AS ends FROM contents ORDER BY at DESC LIMIT 1').get([])?.ends ?? 0
