// The databases of a server: a folder each, opened on first use. A folder holds the documents (PouchDB over
// LevelDB), the view indexes and _security, so that deleting a database is deleting its folder.
import { EventEmitter } from 'node:events'
import { mkdir, readFile, readdir, rename, rm, statfs } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { fingerprint } from '../../core/fingerprint.js'
import { Semaphore, ignoring, pause } from '../../core/promises.js'
import { decodedText } from '../../core/values.js'
import { replaceFile } from '../../loader/formats/atomic-file.js'
import { HttpError } from '../http/errors.js'
import { diskFull, noDatabase, stopping } from './errors.js'
import { guardedLevel } from './level.js'
import { ViewIndexes } from './views/index.js'
import { DesignCache } from './design/runtime.js'

const require = createRequire(import.meta.url)
const PouchDB = require('pouchdb-node')

// bytes free before a full store is opened again: LevelDB rewrites its 4 MB log then
const ROOM_TO_REOPEN = 8 * 1024 * 1024
const DRAIN = 2000 // milliseconds that a closing store waits for its last readers

export class Database extends EventEmitter {
  /** @param {string} name @param {string} dir @param {import('./design/threads.js').DesignThreads} threads */
  constructor (name, dir, threads) {
    super()
    this.setMaxListeners(0) // one listener for every open _changes feed
    this.name = name
    this.dir = dir
    this.security = /** @type {any} */ ({ members: { roles: ['_admin'] }, admins: { roles: ['_admin'] } })
    this.started = '0' // identifies the database: see #open
    this.pouch = /** @type {any} the PouchDB while it is open */ (null)
    this.users = 0 // requests that use the store now
    this.writes = 0
    this.failed = false // a write failed: reopen before the next
    this.deleted = false
    this.closing = false
    this.opening = /** @type {Promise<any> | null} */ (null)
    this.compacting = /** @type {Promise<any> | null} */ (null)
    this.localWrites = new Semaphore(1) // PouchDB refuses two at once
    this.views = new ViewIndexes(this)
    this.designs = new DesignCache(this, threads)
  }

  /** Runs a task with the store open, and keeps it open meanwhile. */
  async use (task) {
    await this.open()
    this.users++
    try {
      return await task()
    } catch (error) {
      throw this.deleted ? noDatabase() : error // its data was deleted
    } finally {
      this.users--
    }
  }

  async open () {
    if (this.deleted) throw noDatabase()
    if (this.closing) throw stopping()
    if (this.pouch && !this.opening) return
    this.opening ??= this.#open().finally(() => { this.opening = null })
    await this.opening
  }

  async #open () {
    await mkdir(this.views.dir, { recursive: true })
    // the file is missing while the security was never set
    const security = await readFile(join(this.dir, 'security.json'), 'utf8').catch(ignoring('ENOENT'))
    if (security !== undefined) this.security = JSON.parse(security)
    const pouch = await openPouch(join(this.dir, 'docs'), () => { this.failed = true })
    try {
      // random since it was created: no other database has it, and a restart does not change it
      this.started = Number.parseInt(fingerprint(await pouch.id()).slice(0, 12), 16).toString()
      await this.views.removeAhead((await pouch.info()).update_seq)
    } catch (error) {
      await pouch.close().catch(() => {}) // the next request opens it again, which its lock would prevent
      throw error
    }
    this.pouch = pouch
    this.failed = false
  }

  /** Removes the bodies of old revisions, in the background as CouchDB does. */
  compact () {
    this.compacting ??= this.use(() => this.pouch.compact()).catch(() => {}).finally(() => { this.compacting = null })
  }

  /** Returns the background tasks, as CouchDB lists them. */
  async tasks () {
    const compactions = this.compacting ? [{ type: 'database_compaction' }] : []
    const database = `shards/00000000-ffffffff/${this.name}.${this.started}`
    return [...await this.views.tasks(), ...compactions].map(task => ({ ...task, database }))
  }

  /** Called before every write. After a failed write, opens the store again as soon as the disk has room. */
  async writable () {
    if (!this.failed) return
    const { bavail, bsize } = await statfs(this.dir)
    if (bavail * bsize < ROOM_TO_REOPEN) throw diskFull()
    await this.#reopen()
  }

  /** Closes and opens the store. The requests that call it do not count in `users` while they wait. */
  async #reopen () {
    this.users--
    try {
      this.opening ??= this.#close().then(() => this.#open()).finally(() => { this.opening = null })
      await this.opening
    } finally {
      this.users++
    }
  }

  async #close () {
    const deadline = Date.now() + DRAIN
    while (this.users > 0 && Date.now() < deadline) await pause(5)
    await this.views.close()
    const pouch = this.pouch
    this.pouch = null
    await pouch?.close().catch(() => {}) // it may be closed already
  }

  async close () {
    this.closing = true
    this.emit('changed')
    await this.opening?.catch(() => {})
    await this.#close()
  }

  async setSecurity (security) {
    await replaceFile(join(this.dir, 'security.json'), JSON.stringify(security), { flush: true })
    this.security = security
  }

  /** Documents were written: wakes the feeds that wait. */
  changed () {
    this.writes++
    this.emit('changed')
  }
}

async function openPouch (path, onFailure) {
  const db = guardedLevel(onFailure, { sync: true })
  const pouch = new PouchDB(path, { adapter: 'leveldb', db, revs_limit: 1000 })
  pouch.setMaxListeners(0) // each running read of changes adds one, and every feed may read
  pouch.on('error', () => {}) // PouchDB also emits errors with which it rejects
  await pouch.info()
  return pouch
}

const isDatabaseName = name => /^[a-z][a-z0-9_$()+/-]{0,199}$/.test(name)

export class Databases {
  /** @param {string} dir @param {import('./design/threads.js').DesignThreads} threads */
  constructor (dir, threads) {
    this.dir = dir
    this.threads = threads
    this.all = /** @type {Map<string, Database>} */ (new Map())
    this.removals = /** @type {Map<string, Promise<void>>} */ (new Map())
  }

  async load () {
    await mkdir(this.dir, { recursive: true })
    for (const folder of await readdir(this.dir)) {
      // left over from an interrupted deletion
      if (folder.startsWith('.')) await rm(join(this.dir, folder), { recursive: true, force: true })
      const name = decodedText(folder)
      if (isDatabaseName(name)) this.#add(name) // other folders are those of other programs
    }
  }

  #add (name) {
    const database = new Database(name, join(this.dir, encodeURIComponent(name)), this.threads)
    this.all.set(name, database)
    return database
  }

  get (name) {
    const database = this.all.get(name)
    if (!database) throw noDatabase()
    return database
  }

  async create (name) {
    if (!isDatabaseName(name)) {
      throw new HttpError(400, 'illegal_database_name', `Name: '${name}'. Only lowercase characters (a-z), digits ` +
        '(0-9), and any of the characters _, $, (, ), +, -, and / are allowed. Must begin with a letter.')
    }
    await this.removals.get(name) // PouchDB would share the store that is being closed
    if (this.all.has(name)) {
      throw new HttpError(412, 'file_exists', 'The database could not be created, the file already exists.')
    }
    const database = this.#add(name)
    try {
      await database.open()
    } catch (error) {
      this.all.delete(name)
      await rm(database.dir, { recursive: true, force: true })
      throw error
    }
  }

  async remove (name) {
    const database = this.get(name)
    database.deleted = true
    this.all.delete(name)
    const removal = this.#erase(database).finally(() => this.removals.delete(name))
    this.removals.set(name, removal.catch(() => {}))
    await removal
  }

  async #erase (database) {
    await database.close()
    const deleted = join(this.dir, `.${randomUUID()}`)
    await rename(database.dir, deleted)
    await rm(deleted, { recursive: true, force: true })
  }

  async close () {
    await Promise.all([...[...this.all.values()].map(database => database.close()), ...this.removals.values()])
  }
}
