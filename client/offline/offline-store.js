// Keeps parts of the map on the device: in IndexedDB in browsers, in LevelDB in Node. The page provides PouchDB.
import { TilecouchError, checkSound, layerId } from '../../core/index.js'
import { shared } from '../../core/promises.js'
import { HttpCouch } from '../mirror/http.js'
import { Areas } from './areas.js'
import { StorageReserve, destroyPouch, openPouch, storageRoom, storageSize } from './storage.js'
import { Device } from './device.js'
import { Emitter } from '../engine/emitter.js'
import { estimate } from './estimate.js'
import { AreaFollower } from './area-follower.js'
import { Locks, OtherTabs, openChannel } from './tabs.js'
import { checkOffline } from './area-spec.js'
import { Connection } from './connection.js'
import { AreaRegistry } from './area-registry.js'
import { OfflineSource } from './offline-source.js'
import { withinTime, withSignals } from '../source/wait.js'

export const offlineDefaults = {
  /** of the databases on the device: two stores of a page need two names. In Node, the path of their folders */
  name: 'tilecouch',
  /** @type {PouchConstructor | undefined} default: globalThis.PouchDB; without both: `NO_POUCHDB` */
  PouchDB: undefined,
  /** @type {string | undefined} of PouchDB. Default: idb in browsers, leveldb in Node */
  adapter: undefined,
  /** @type {RequestInit} for every request, as fetch takes them: credentials, headers, … */
  fetchOptions: {},
  /** @type {Partial<TransferLimits>} limits of transfers */
  limits: {}
}

/**
 * @typedef {new (name: string, options?: any) => any} PouchConstructor the class PouchDB
 * @typedef {typeof import('./transfer.js').transferDefaults} TransferLimits
 * @typedef {{remote: string} & Partial<typeof offlineDefaults>} OfflineStoreOptions remote: address of the store,
 *   absolute or relative to the page; may hold a name and password
 * @typedef {import('./area.js').Area} Area
 *
 * @typedef {object} OfflineStoreEvents
 * @property {{areas: Area[]}} areas an area was added, removed, renamed, or changed its state
 * @property {{area: Area, status: import('./area.js').AreaStatus}} progress during a transfer, at most ten times a
 *   second
 * @property {{area?: Area, error: TilecouchError}} failure an error in the background
 * @property {{online: boolean}} online the store answers, or does not any more
 * @property {{layer: string, area?: Area}} tiles tiles of a layer on the device changed
 */

const ASKING_RETRIES = 1 // repetitions of a request that a user waits for
const TRANSFER_RETRIES = 5 // repetitions of a transfer's request: after eight seconds the store counts as away
const CLOSE_TIMEOUT = 5000 // milliseconds for transfers to stop, and for databases to close

/** Areas of the map on a device. @extends {Emitter<OfflineStoreEvents>} */
export class OfflineStore extends Emitter {
  #options
  #tabs
  #otherTabs
  #connection
  #follower
  #databases = /** @type {Map<any, string>} */ (new Map()) // open PouchDBs -> suffixes of their names
  #closing = new AbortController()
  #ready = shared(() => this.#start())
  #reportedAreas = '' // JSON of the areas in the last event

  /** @param {OfflineStoreOptions} options */
  constructor ({ remote, ...options }) {
    super()
    this.#options = {
      ...offlineDefaults, ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
    }
    const { name, fetchOptions, limits } = this.#options
    this.name = name
    this.limits = limits
    /** For transfers and the change feed. */
    this.couch = new HttpCouch(remote, { fetchOptions, retries: TRANSFER_RETRIES })
    /** For requests that a user waits for. */
    this.asking = new HttpCouch(remote, { fetchOptions, retries: ASKING_RETRIES })
    /** Address of the store, without a name and password. */
    this.remote = this.couch.url
    this.locks = new Locks(`tilecouch:${name}`)
    this.registry = new AreaRegistry(this)
    this.reserve = new StorageReserve(`${name}-spare-room`)
    this.areas = new Areas(this)
    this.device = new Device(this)
    this.#tabs = openChannel(`tilecouch:${name}`, message => this.#onMessage(message))
    this.#otherTabs = new OtherTabs(this)
    this.#connection = new Connection(this.asking, online => {
      this.fire('online', { online })
      this.broadcast({ kind: 'online', online })
    })
    this.#follower = new AreaFollower(this)
    this.ready.catch(() => {}) // callers that wait for it get the error
  }

  /** Resolves when the list of areas was read. If that failed, the next use reads it again. */
  get ready () {
    return this.#ready()
  }

  async #start () {
    await this.areas.read()
    await this.areas.repair()
    this.broadcast({ kind: 'hello' })
    this.changed()
  }

  /** Options for every request, with the name and password of the address. */
  get fetchOptions () {
    return { ...this.#options.fetchOptions, headers: this.couch.headers }
  }

  /** Whether the store answered the last request; undefined before the first. */
  get isOnline () {
    return this.#connection.isOnline
  }

  get isClosed () {
    return this.#closing.signal.aborted
  }

  /**
   * @template {string} K
   * @param {K} types
   * @param {(event: import('../engine/emitter.js').EventOf<OfflineStoreEvents, K>) => void} listener
   * @param {any} [context]
   */
  on (types, listener, context) {
    if (/\bonline\b/.test(types) && this.isOnline === undefined) this.#connection.probe()
    return super.on(types, listener, context)
  }

  /** Creates the source of a layer. @param {Omit<ConstructorParameters<typeof OfflineSource>[0], 'offline'>} options */
  source (options) {
    return new OfflineSource({ offline: this, ...options })
  }

  /**
   * The databases of a layer, or of all layers, the last updated first.
   * @param {string} [layer]
   * @returns {{db: any, area: import('./area.js').Area, holds: (z: number, x: number, y: number) => boolean,
   *   isComplete: boolean, hasHistory: boolean | string}[]}
   */
  databases (layer) {
    if (this.isClosed) return []
    const areas = this.areas.list()
      .filter(area => layer === undefined || area.layer === layer)
      .filter(({ document: { state } }) => state !== 'new' && state !== 'removing')
      .sort((a, b) => updatedOf(a) < updatedOf(b) ? 1 : -1)
    return areas.map(area => {
      const { db, isComplete, hasHistory } = area
      return { db, area, holds: (z, x, y) => area.holds(z, x, y), isComplete, hasHistory }
    })
  }

  /**
   * Storage in bytes. `ours`: used by areas, as far as known. Only some browsers tell the other figures.
   */
  async storage () {
    const ours = this.areas.list().reduce((sum, area) => sum + storageSize(area.status()), 0)
    return { ...await storageRoom(), ours }
  }

  /** Asks the browser to keep the data when the device is short of room. @returns {Promise<boolean>} */
  async persist () {
    return await globalThis.navigator?.storage?.persist?.() ?? false
  }

  /** Stops everything and closes the databases. Running calls reject with ABORTED. */
  async close () {
    if (this.isClosed) return
    this.#closing.abort()
    this.#follower.close()
    this.#connection.close()
    this.#otherTabs.close()
    const stopAll = () => Promise.allSettled([this.ready, ...this.areas.list().map(area => area.stop('stop'))])
    await withinTime(CLOSE_TIMEOUT, stopAll)
    this.#tabs?.close()
    this.#tabs = undefined
    const closeAll = () => Promise.allSettled([...this.#databases.keys()].map(db => this.closeDatabase(db)))
    await withinTime(CLOSE_TIMEOUT, closeAll)
  }

  /** Removes everything that this store has put on the device. */
  async destroy () {
    this.check()
    await this.ready.catch(() => {})
    await Promise.allSettled(this.areas.list().map(area => area.remove()))
    this.broadcast({ kind: 'destroyed' })
    // earlier versions kept tiles in `edits` that were edited on the device
    const names = new Set(['', 'edits', ...this.#databases.values()])
    await Promise.allSettled([...names].map(suffix => this.destroyDatabase(suffix)))
    await this.reserve.release().catch(() => {})
    await this.close()
  }

  // --- for its parts

  /** A PouchDB of this store, which closes and destroys it. @param {string} suffix */
  open (suffix) {
    this.check()
    const { name, PouchDB = /** @type {any} */ (globalThis).PouchDB, adapter } = this.#options
    const db = openPouch(PouchDB, suffix ? `${name}-${suffix}` : name, adapter)
    this.#databases.set(db, suffix)
    return db
  }

  /** @param {any} db */
  async closeDatabase (db) {
    this.#databases.delete(db)
    await db.close().catch(() => {}) // it may be destroyed already
  }

  /** Destroys a database, even if it is open. @param {string} suffix */
  async destroyDatabase (suffix) {
    const openDatabases = [...this.#databases].filter(([, openSuffix]) => openSuffix === suffix).map(([db]) => db)
    const [db = this.open(suffix)] = openDatabases
    await destroyPouch(db)
    for (const database of [db, ...openDatabases]) this.#databases.delete(database)
  }

  check () {
    if (this.isClosed) throw new TilecouchError('ABORTED')
  }

  /**
   * @param {import('../../core/mirror/index.js').Selection} selection
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<import('./estimate.js').Estimate>}
   */
  estimate (selection, { signal } = {}) {
    return this.#ask(signal, stop => estimate(this.asking, selection, { signal: stop }))
  }

  /**
   * The document of a layer that permits offline use.
   * @param {string} layer @param {{permission?: boolean, signal?: AbortSignal}} [options]
   */
  async layerDocument (layer, { permission, signal } = {}) {
    const doc =
      await this.#ask(signal, stop => this.asking.find({ path: encodeURIComponent(layerId(layer)), signal: stop }))
    if (!doc) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
    checkOffline(checkSound(doc), permission)
    return doc
  }

  #ask (signal, task) {
    return this.watch(() => withSignals([signal, this.#closing.signal], task))
  }

  /** Databases that may have the same tiles. @param {import('./area.js').Area} area */
  otherDatabases (area) {
    return this.databases(area.layer).filter(other => other.area !== area).map(({ db }) => db)
  }

  /** Reports whether the store answered a request. @param {boolean} isOnline */
  reportOnline (isOnline) {
    this.#connection.report(isOnline)
  }

  /**
   * Runs a request to the store and reports whether the store answered.
   * @template T
   * @param {() => Promise<T>} task @param {AbortSignal} [signal]
   * @param {(error: any) => boolean} [isAway] whether an error says that the store does not answer
   * @returns {Promise<T>}
   */
  watch (task, signal, isAway) {
    return this.#connection.watch(task, signal, isAway)
  }

  /** Tells the other tabs. @param {{kind: string, [field: string]: any}} message */
  broadcast (message) {
    this.#tabs?.postMessage(message)
  }

  /** Fires `areas` if an area has changed. */
  changed () {
    const areas = this.areas.list()
    const summary = JSON.stringify(areas.map(({ id, name, state, document: { live } }) => [id, name, state, live]))
    if (summary === this.#reportedAreas || this.isClosed) return
    this.#reportedAreas = summary
    this.#follower.update()
    this.fire('areas', { areas })
  }

  /** @param {import('./area.js').Area} area that this tab transfers */
  progress (area) {
    const status = area.status()
    this.fire('progress', { area, status })
    const { tiles, versions, bytes, total, failed, rate, remaining } = status
    const figures = { tiles, versions, bytes, total, failed, rate, remaining }
    this.broadcast({ kind: 'progress', id: area.id, figures })
  }

  /** Tiles of a layer changed on the device. @param {string} layer @param {import('./area.js').Area} area */
  touch (layer, area) {
    this.fire('tiles', { layer, area })
    this.broadcast({ kind: 'tiles', layer, id: area.id })
  }

  #onMessage ({ kind, id, ...message }) {
    const area = this.areas.get(id)
    if (kind === 'areas') this.areas.read().catch(() => {}) // the next read reports the error
    else if (kind === 'tiles') this.fire('tiles', { layer: message.layer, area })
    else if (kind === 'online') this.#connection.report(message.online)
    else if (kind === 'progress') this.#otherTabs.onProgress(area, message.figures)
    else if (kind === 'idle') this.#otherTabs.onEnd(area)
    else if (kind === 'hello') this.areas.list().forEach(local => local.isTransferring && this.progress(local))
    else if (kind === 'pause') area?.stop('pause')
    else if (kind === 'reset') area?.reopen() // another tab has destroyed its database
    else if (kind === 'remove') area?.stop('stop')
    else if (kind === 'destroyed') this.close()
  }
}

const updatedOf = area => area.document.updated ?? ''
