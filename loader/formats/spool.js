// A list of tiles that need not fit into memory. Tiles are entered in any order, and read in the order of their ids,
// any number of times and by several readers at once. The list is in temporary files, which may also hold bytes of
// tiles. The files lose their names as soon as they are open, so that a killed process leaves no files.
import { closeSync, ftruncateSync, openSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { chunks } from '../../core/lists.js'
import { TilecouchError } from '../errors.js'
import { openDatabase } from './database.js'
import { readAllSync, writeAllSync } from './files.js'
import { isDiskFull, isRunning } from './system.js'

export const spoolDefaults = {
  page: 1000 // tiles read from the index at once
}

const FIELDS = 2 // that a tile may have beside its address
const GROUP = 100 // tiles entered by one statement
const insertion = tiles => `INSERT INTO tiles VALUES ${Array(tiles).fill('(?, ?, ?)')}
  ON CONFLICT DO UPDATE SET a = excluded.a, b = excluded.b`
const PAGE = 'SELECT * FROM tiles WHERE id > ? ORDER BY id LIMIT ?'

/** @typedef {string | number | null | undefined} Field */
/** @typedef {{z: number, x: number, y: number, fields: any[]}} SpooledTile */

export class Spool {
  #scratch
  #insert
  #insertOne
  #page
  /** @type {(string | number | null)[]} */
  #rows = []
  #data

  /** @param {{folder?: string}} [options] folder: where the temporary files lie */
  static open (options) {
    return TemporaryDatabase.open((scratch, folder) => new Spool(scratch, folder), options)
  }

  /** Use `Spool.open`. @param {string} folder of its own */
  constructor (scratch, folder) {
    this.#scratch = scratch
    scratch.db.exec('CREATE TABLE tiles (id TEXT PRIMARY KEY, a, b) WITHOUT ROWID; BEGIN')
    this.#insert = this.#scratch.db.prepare(insertion(GROUP))
    this.#insertOne = this.#scratch.db.prepare(insertion(1))
    this.#page = this.#scratch.db.prepare(PAGE).raw()
    this.#data = openSync(path.join(folder, 'data'), 'wx+', 0o600)
  }

  /**
   * Enters a tile. It replaces an earlier entry of the same tile.
   * @param {...Field} fields up to two, given back as they are
   */
  add (z, x, y, ...fields) {
    if (fields.length > FIELDS) throw new TilecouchError('INTERNAL', { why: `more than ${FIELDS} fields of a tile` })
    const [first = null, second = null] = fields
    this.#rows.push(`${z}:${x}:${y}`, first, second)
    if (this.#rows.length === GROUP * (FIELDS + 1)) {
      this.#scratch.work(() => this.#insert.run(this.#rows))
      this.#rows = []
    }
  }

  /**
   * The tiles in the order of their ids. A tile that is added meanwhile comes too if it lies ahead.
   * @returns {AsyncGenerator<SpooledTile>}
   */
  async * tiles () {
    let last = ''
    while (true) {
      this.#flush()
      const rows = this.#scratch.work(() => this.#page.all(last, spoolDefaults.page))
      for (const [id, ...fields] of rows) {
        const [z, x, y] = id.split(':')
        yield { z: +z, x: +x, y: +y, fields }
      }
      if (rows.length < spoolDefaults.page) return
      last = rows.at(-1)[0]
    }
  }

  /** How many tiles there are. */
  count () {
    this.#flush()
    const { db } = this.#scratch
    const [count] = this.#scratch.work(() => /** @type {any} */ (db.prepare('SELECT count(*) FROM tiles').raw().get()))
    return count
  }

  #flush () {
    if (!this.#rows.length) return
    const rows = this.#rows
    this.#rows = []
    this.#scratch.work(() => {
      for (const chunk of chunks(rows, FIELDS + 1)) this.#insertOne.run(chunk)
    })
  }

  /** Stores bytes at an offset that the caller chooses. Gaps take no disk space. */
  place (offset, bytes) {
    this.#scratch.work(() => writeAllSync(this.#data, bytes, offset))
  }

  /** Returns stored bytes. */
  slice (offset, length) {
    const bytes = Buffer.allocUnsafe(length)
    const read = this.#scratch.work(() => readAllSync(this.#data, bytes, offset))
    if (read < length) throw new TilecouchError('INTERNAL', { why: `the spool has no ${length} bytes at ${offset}` })
    return bytes
  }

  /** Removes everything. */
  async close () {
    if (await this.#scratch.close()) closeSync(this.#data)
  }
}

/* A temporary folder with a small database, for data that may not fit into memory. */

export const temporaryDefaults = {
  cache: 32e6, // bytes of the database that are kept in memory
  page: 8192 // bytes of its pages
}

const PREFIX = 'tilecouch-spool-'
const STALE = 3600e3 // milliseconds: folders younger than this may belong to a process that cannot be seen from here

export class TemporaryDatabase {
  #folder
  #index
  #closed = false

  /**
   * @template T
   * @param {(scratch: TemporaryDatabase, folder: string) => T} open may open other files in the folder
   * @param {{folder?: string}} [options] folder: where the temporary files lie
   */
  static async open (open, { folder = tmpdir() } = {}) {
    await removeStale(folder)
    let scratchFolder
    try {
      scratchFolder = await mkdtemp(path.join(folder, `${PREFIX}${process.pid}-`))
      return open(new TemporaryDatabase(scratchFolder), scratchFolder)
    } catch (error) {
      throw spoolError(error, folder)
    } finally {
      if (scratchFolder) await remove(scratchFolder) // where open files keep their names it stays until close()
    }
  }

  /** Use `TemporaryDatabase.open`. @param {string} folder of its own */
  constructor (folder) {
    this.#folder = folder
    this.db = openDatabase(path.join(folder, 'index'), {
      journal_mode: 'OFF',
      synchronous: 'OFF',
      locking_mode: 'EXCLUSIVE',
      temp_store: 'MEMORY',
      page_size: temporaryDefaults.page,
      cache_size: -temporaryDefaults.cache / 1000
    })
    this.db.exec('CREATE TABLE opened (once)') // the file exists only when it has content
    this.#index = openSync(path.join(folder, 'index'), 'r+')
  }

  /**
   * @template T
   * @param {() => T} action with the files
   * @returns {T}
   */
  work (action) {
    if (this.#closed) throw new TilecouchError('INTERNAL', { why: 'the spool is closed' })
    try {
      return action()
    } catch (error) {
      throw spoolError(error, path.dirname(this.#folder))
    }
  }

  /** Removes everything. @returns {Promise<boolean>} false: it was closed already */
  async close () {
    if (this.#closed) return false
    this.#closed = true
    this.db.close()
    // libsql keeps a database open until its statements are collected as garbage, and the file is large
    ftruncateSync(this.#index)
    closeSync(this.#index)
    await remove(this.#folder)
    return true
  }
}

const remove = folder => rm(folder, { recursive: true, force: true }).catch(() => {}) // removeStale removes it later

// removes folders of killed processes: on systems where open files keep their names, or of a kill right at the start
async function removeStale (folder) {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const pid = name.startsWith(PREFIX) ? parseInt(name.slice(PREFIX.length)) : NaN
    if (!pid || isRunning(pid)) continue
    const scratchFolder = path.join(folder, name)
    const { mtimeMs } = await stat(scratchFolder).catch(() => ({ mtimeMs: Infinity }))
    if (Date.now() - mtimeMs > STALE) await remove(scratchFolder)
  }
}

function spoolError (error, folder) {
  if (error instanceof TilecouchError) return error
  const where = `the folder for temporary files ${folder}`
  if (isDiskFull(error)) return new TilecouchError('DISK_FULL', { where }, { cause: error })
  return new TilecouchError('TARGET_UNWRITABLE', { value: folder, why: error.message }, { cause: error })
}
