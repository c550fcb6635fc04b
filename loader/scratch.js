// A folder of one's own for what need not fit into memory, with a small database in it. The files lose their names as soon as
// they are open, so that nothing is left of a process that is killed.
import { closeSync, ftruncateSync, openSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'libsql'
import { TilecouchError } from '../core/index.js'
import { isDiskFull, isRunning } from './system.js'

export const scratchDefaults = {
  cache: 32e6, // bytes of the database that are kept in memory
  page: 8192 // bytes of its pages
}

const PREFIX = 'tilecouch-spool-'
const STALE = 3600e3 // milliseconds: folders younger than this may belong to a process that cannot be seen from here

export class Scratch {
  #folder
  #index
  #closed = false

  /**
   * @template T
   * @param {(scratch: Scratch, folder: string) => T} open makes what uses it, and opens other files in the folder
   * @param {{folder?: string}} [options] folder: where the temporary files lie
   */
  static async open (open, { folder = tmpdir() } = {}) {
    await removeStale(folder)
    let own
    try {
      own = await mkdtemp(path.join(folder, `${PREFIX}${process.pid}-`))
      return open(new Scratch(own), own)
    } catch (error) {
      throw explain(error, folder)
    } finally {
      if (own) await remove(own) // where open files keep their names it stays until close()
    }
  }

  /** Use `Scratch.open`. @param {string} folder of its own */
  constructor (folder) {
    this.#folder = folder
    this.db = new Database(path.join(folder, 'index'))
    const { cache, page } = scratchDefaults
    for (const setting of ['journal_mode = OFF', 'synchronous = OFF', 'locking_mode = EXCLUSIVE', 'temp_store = MEMORY', `page_size = ${page}`, `cache_size = -${cache / 1000}`]) {
      this.db.exec(`PRAGMA ${setting}`)
    }
    this.db.exec('CREATE TABLE opened (once)') // the file is there when there is something in it
    this.#index = openSync(path.join(folder, 'index'), 'r+')
  }

  /**
   * @template T
   * @param {() => T} work with the files
   * @returns {T}
   */
  work (work) {
    if (this.#closed) throw new TilecouchError('INTERNAL', { why: 'the spool is closed' })
    try {
      return work()
    } catch (error) {
      throw explain(error, path.dirname(this.#folder))
    }
  }

  /** Removes everything. @returns {Promise<boolean>} false: it was closed already */
  async close () {
    if (this.#closed) return false
    this.#closed = true
    this.db.close()
    // libsql keeps a database open until its statements are collected as garbage: that may be late, and the file is large
    ftruncateSync(this.#index)
    closeSync(this.#index)
    await remove(this.#folder)
    return true
  }
}

const remove = folder => rm(folder, { recursive: true, force: true }).catch(() => {}) // it is found by removeStale

// what a process left that was killed where files in use keep their names, or in its very first moment
async function removeStale (folder) {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const pid = name.startsWith(PREFIX) ? parseInt(name.slice(PREFIX.length)) : NaN
    if (!pid || isRunning(pid)) continue
    const own = path.join(folder, name)
    const { mtimeMs } = await stat(own).catch(() => ({ mtimeMs: Infinity }))
    if (Date.now() - mtimeMs > STALE) await remove(own)
  }
}

function explain (error, folder) {
  if (error instanceof TilecouchError) return error
  if (isDiskFull(error)) return new TilecouchError('DISK_FULL', { where: `the folder for temporary files ${folder}` }, { cause: error })
  return new TilecouchError('TARGET_UNWRITABLE', { value: folder, why: error.message }, { cause: error })
}
