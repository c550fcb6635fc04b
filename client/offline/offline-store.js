// Areas of the map on the device: in a browser's IndexedDB, in Node's LevelDB. The page brings its PouchDB.
import { TilecouchError, checkSound, layerId } from '../../core/index.js'
import { HttpCouch } from '../mirror/http.js'
import { Areas } from './areas.js'
import { SpareRoom } from './spare-room.js'
import { BrowseCache } from './browse.js'
import { Device } from './device.js'
import { Edits } from './edits.js'
import { Emitter } from './emitter.js'
import { estimate } from './estimate.js'
import { Follower } from './follower.js'
import { Locks } from './locks.js'
import { checkOffline } from './permission.js'
import { destroyPouch, openPouch } from './pouch.js'
import { roomOf, sizeOf } from './quota.js'
import { Reach } from './reach.js'
import { Registry } from './registry.js'
import { OfflineSource } from './source.js'
import { Tabs } from './tabs.js'
import { Watch } from './watch.js'
import { atMost, within } from './within.js'

export const offlineDefaults = {
  name: 'tilecouch', // of the databases on the device; in Node the path of their folders
  PouchDB: undefined, // as globalThis.PouchDB, unless given
  adapter: undefined, // of PouchDB: idb in browsers, leveldb in Node, unless given
  fetchOptions: {}, // for every request, as fetch takes them: credentials, headers, …
  browse: undefined, // keeps what the map has shown: true, or {size: bytes}
  limits: {} // of transfers
}

const HASTE = 1 // times a question is repeated that somebody waits for
const LASTING = 5 // times others are: after eight seconds a store is away, and a transfer goes on another time
const PARTING = 5000 // milliseconds to stop in
const RECENT = 60000 // milliseconds for which an estimate is believed by who downloads

export class OfflineStore extends Emitter {
  #options
  #tabs
  #watch
  #reach
  #follower
  #databases = /** @type {Map<any, string>} */ (new Map()) // that are open, and what of
  #closing = new AbortController()
  #told = '' // of the areas
  #estimated = /** @type {{key: string, at: number, answer: import('./estimate.js').Estimate} | undefined} */ (undefined)

  /** @param {{remote: string} & Partial<typeof offlineDefaults>} options */
  constructor ({ remote, ...options }) {
    super()
    this.#options = { ...offlineDefaults, ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) }
    const { name, fetchOptions, browse, limits } = this.#options
    this.name = name
    this.limits = limits
    /** For what may take long. */
    this.couch = new HttpCouch(remote, { fetchOptions, retries: LASTING })
    /** For what somebody waits for. */
    this.asking = new HttpCouch(remote, { fetchOptions, retries: HASTE })
    /** Address of the store, without a name and password. */
    this.remote = this.couch.url
    this.locks = new Locks(`tilecouch:${name}`)
    this.registry = new Registry(this)
    this.spareRoom = new SpareRoom(`${name}-spare-room`)
    this.areas = new Areas(this)
    this.browse = browse ? new BrowseCache(`${name}-browse`, browse) : undefined
    this.device = new Device(this)
    this.edits = new Edits(this)
    this.#tabs = new Tabs(`tilecouch:${name}`, message => this.#hear(message))
    this.#watch = new Watch(this)
    this.#reach = new Reach(this.asking, online => {
      this.fire('online', { online })
      this.tell({ kind: 'online', online })
    })
    this.#follower = new Follower(this)
    /** Until then the list of areas is not right. @type {Promise<void>} */
    this.ready = this.#start()
    this.ready.catch(() => {}) // heard by who waits for it
  }

  async #start () {
    await this.areas.read()
    await this.areas.repair()
    await this.edits.open()
    this.tell({ kind: 'hello' })
    this.changed()
  }

  /** For every request, with the name and password of the address. */
  get fetchOptions () {
    return { ...this.#options.fetchOptions, headers: this.couch.headers }
  }

  /** Whether the store answered when it was last asked; undefined before. */
  get isOnline () {
    return this.#reach.isOnline
  }

  get isClosed () {
    return this.#closing.signal.aborted
  }

  /** @param {string} types @param {(event: any) => void} listener */
  on (types, listener) {
    if (/\bonline\b/.test(types) && this.isOnline === undefined) this.#reach.look()
    return super.on(types, listener)
  }

  /** What a layer reads from. @param {Omit<ConstructorParameters<typeof OfflineSource>[0], 'offline'>} options */
  source (options) {
    return new OfflineSource({ offline: this, ...options })
  }

  /**
   * What the device has of a layer, or of all, in the order in which it is to be read.
   * @param {string} [layer]
   * @returns {{db: any, area: import('./area.js').Area | undefined, holds: (z: number, x: number, y: number) => boolean, isComplete: boolean, hasHistory: boolean | string}[]}
   */
  databases (layer) {
    if (this.isClosed) return []
    const areas = this.areas.list().filter(area => (layer === undefined || area.layer === layer) && !['new', 'removing'].includes(area.document.state))
    areas.sort((a, b) => newest(a) < newest(b) ? 1 : -1)
    return [...this.edits.databases(layer), ...areas.map(area => ({
      db: area.db, area, holds: (z, x, y) => area.holds(z, x, y), isComplete: area.isComplete, hasHistory: area.hasHistory
    }))]
  }

  /** How much room there is, in bytes. `ours`: of areas and of what was browsed, as far as it is known; the others only where a browser says so. */
  async storage () {
    const [room, browsed] = await Promise.all([roomOf(), this.browse?.usage()])
    return { ...room, ours: this.areas.list().reduce((sum, area) => sum + sizeOf(area.status()), browsed?.bytes ?? 0) }
  }

  /** Asks the browser not to clear it away when the device is short of room. @returns {Promise<boolean>} */
  async persist () {
    return await globalThis.navigator?.storage?.persist?.() ?? false
  }

  /** Stops everything and lets go of the databases. What was under way rejects ABORTED. */
  async close () {
    if (this.isClosed) return
    this.#closing.abort()
    this.#follower.close()
    this.#reach.close()
    this.#watch.close()
    await atMost(PARTING, () => Promise.allSettled([this.ready, ...this.areas.list().map(area => area.stop('stop'))]))
    this.#tabs.close()
    await atMost(PARTING, () => Promise.allSettled([this.browse?.close(), ...[...this.#databases.keys()].map(db => this.shut(db))]))
  }

  /** Takes everything off the device that it has put there. */
  async destroy () {
    this.check()
    await this.ready.catch(() => {})
    await Promise.allSettled(this.areas.list().map(area => area.remove()))
    this.tell({ kind: 'destroyed' })
    const names = new Set(['', 'edits', ...this.#databases.values()])
    await Promise.allSettled([...names].map(suffix => this.obliterate(suffix)))
    await Promise.allSettled([this.browse?.destroy(), this.spareRoom.drop()])
    await this.close()
  }

  // --- for its parts

  /** A PouchDB of this store, which closes and destroys it. @param {string} suffix @param {{revsLimit?: number}} [options] */
  open (suffix, options) {
    this.check()
    const { name, PouchDB = /** @type {any} */ (globalThis).PouchDB, adapter } = this.#options
    const db = openPouch(PouchDB, suffix ? `${name}-${suffix}` : name, { adapter, ...options })
    this.#databases.set(db, suffix)
    return db
  }

  /** @param {any} db */
  async shut (db) {
    this.#databases.delete(db)
    await db.close().catch(() => {}) // it may be destroyed
  }

  /** Destroys a database and all that stands in it, whoever has it open. @param {string} suffix */
  async obliterate (suffix) {
    const open = [...this.#databases].filter(([, other]) => other === suffix).map(([db]) => db)
    const [db = this.open(suffix)] = open
    await destroyPouch(db)
    for (const one of [db, ...open]) this.#databases.delete(one)
  }

  check () {
    if (this.isClosed) throw new TilecouchError('ABORTED')
  }

  /**
   * @param {import('../../core/mirror/index.js').Selection} selection
   * @param {{signal?: AbortSignal, isRecent?: boolean}} [options] isRecent: one that was made just before will do
   * @returns {Promise<import('./estimate.js').Estimate>}
   */
  async estimate (selection, { signal, isRecent = false } = {}) {
    const { key } = selection
    const last = this.#estimated
    if (isRecent && last?.key === key && Date.now() - last.at < RECENT) return last.answer
    const answer = await this.#asked(signal, stop => estimate(this.asking, selection, { signal: stop }))
    this.#estimated = { key, at: Date.now(), answer }
    return answer
  }

  /** The document of a layer that may be kept. @param {string} layer @param {{permission?: boolean, signal?: AbortSignal}} [options] */
  async layerDocument (layer, { permission, signal } = {}) {
    const doc = await this.#asked(signal, stop => this.asking.find({ path: encodeURIComponent(layerId(layer)), signal: stop }))
    if (!doc) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
    checkOffline(checkSound(doc), permission)
    return doc
  }

  async #asked (signal, task) {
    try {
      const answer = await within([signal, this.#closing.signal], task)
      this.heard(true)
      return answer
    } catch (error) {
      if (error.code === 'UNREACHABLE') this.heard(false)
      throw error
    }
  }

  /** Databases that may have the same tiles. @param {import('./area.js').Area} area */
  lenders (area) {
    return this.databases(area.layer).filter(other => other.area !== area).map(({ db }) => db)
  }

  /** Somebody asked the store for something: whether it answered. @param {boolean} isOnline */
  heard (isOnline) {
    this.#reach.hear(isOnline)
  }

  /** Tells the other tabs. @param {{kind: string, [field: string]: any}} message */
  tell (message) {
    this.#tabs.tell(message)
  }

  /** Something about the areas may be different. */
  changed () {
    const areas = this.areas.list()
    const now = JSON.stringify(areas.map(({ id, name, state, document: { live } }) => [id, name, state, live]))
    if (now === this.#told || this.isClosed) return
    this.#told = now
    this.#follower.update()
    this.fire('areas', { areas })
  }

  /** @param {import('./area.js').Area} area that is transferred here */
  progress (area) {
    const status = area.status()
    this.fire('progress', { area, status })
    const { tiles, versions, bytes, total, failed, rate, remaining } = status
    this.tell({ kind: 'progress', id: area.id, figures: { tiles, versions, bytes, total, failed, rate, remaining } })
  }

  /** Tiles of a layer changed on the device. @param {string} layer @param {import('./area.js').Area} [area] */
  touch (layer, area) {
    this.fire('tiles', { layer, area })
    this.tell({ kind: 'tiles', layer, id: area?.id })
  }

  #hear ({ kind, id, ...said }) {
    const area = this.areas.get(id)
    if (kind === 'areas') this.areas.read().catch(() => {}) // the next who reads is told
    else if (kind === 'tiles') this.fire('tiles', { layer: said.layer, area })
    else if (kind === 'online') this.#reach.hear(said.online)
    else if (kind === 'progress') this.#watch.hear(area, said.figures)
    else if (kind === 'idle') this.#watch.end(area)
    else if (kind === 'hello') this.areas.list().forEach(one => one.isTransferring && this.progress(one))
    else if (kind === 'pause') area?.stop('pause')
    else if (kind === 'remove') area?.stop('stop')
    else if (kind === 'destroyed') this.close()
  }
}

const newest = area => area.document.updated ?? ''
