// Areas of the map on the device: in a browser's IndexedDB, in Node's LevelDB. The page brings its PouchDB.
import { TilecouchError, layerId } from '../../core/index.js'
import { HttpCouch } from '../mirror/http.js'
import { Areas } from './areas.js'
import { Emitter } from './emitter.js'
import { estimate } from './interim.js'
import { Locks } from './locks.js'
import { checkOffline } from './permission.js'
import { roomOf } from './quota.js'
import { Registry } from './registry.js'
import { Tabs } from './tabs.js'

export class OfflineStore extends Emitter {
  #tabs
  #pouch
  #open = /** @type {Set<any>} */ (new Set())

  /** @param {any} options */
  constructor ({ remote, name = 'tilecouch', PouchDB = /** @type {any} */ (globalThis).PouchDB, adapter, fetchOptions = {}, limits = {} }) {
    super()
    if (typeof PouchDB !== 'function') throw new TilecouchError('NO_POUCHDB')
    this.name = name
    this.couch = new HttpCouch(remote, { fetchOptions })
    this.asking = new HttpCouch(remote, { fetchOptions, retries: 1 })
    this.remote = this.couch.url
    this.fetchOptions = fetchOptions
    this.limits = limits
    this.isClosed = false
    this.isOnline = /** @type {boolean | undefined} */ (undefined)
    this.#pouch = suffix => new PouchDB(suffix ? `${name}-${suffix}` : name, { ...(adapter && { adapter }), auto_compaction: true, revs_limit: 10 })
    this.registry = new Registry(this.open(''))
    this.locks = new Locks(`tilecouch:${name}`)
    this.#tabs = new Tabs(`tilecouch:${name}`, message => this.#hear(message))
    this.areas = new Areas(this)
    /** Until then the list of areas is not right. */
    this.ready = this.#start()
    this.ready.catch(() => {}) // heard by who waits for it
  }

  async #start () {
    await this.areas.read()
    await this.areas.repair()
  }

  /** A PouchDB of this store's own. */
  open (suffix) {
    const db = this.#pouch(suffix)
    asText(db)
    this.#open.add(db)
    return db
  }

  estimate (selection, signal) {
    return estimate(this.couch, selection, { signal })
  }

  async checkLayer (layer, { permission = false, signal = undefined } = {}) {
    const doc = await this.asking.find({ path: encodeURIComponent(layerId(layer)), signal })
    if (!doc) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
    checkOffline(doc, permission)
    return doc
  }

  async checkRoom () {}

  lenders (area) {
    return this.areas.list().filter(other => other !== area && other.layer === area.layer && other.document.versions).map(({ db }) => db)
  }

  /** What the device has of a layer. @param {string} layer */
  databases (layer) {
    return this.areas.list().filter(area => area.layer === layer && area.state !== 'removing').map(area => ({
      db: area.db, area, holds: (z, x, y) => area.holds(z, x, y), isComplete: area.isComplete, hasHistory: area.hasHistory
    }))
  }

  async storage () {
    const ours = this.areas.list().reduce((sum, area) => sum + area.status().bytes, 0)
    return { ...await roomOf(), ours }
  }

  async persist () {
    return Boolean(await globalThis.navigator?.storage?.persist?.())
  }

  follow () {}

  heard (online) {
    if (online === this.isOnline) return
    this.isOnline = online
    this.fire('online', { online })
  }

  tell (message) {
    this.#tabs.tell(message)
  }

  changed () {
    this.fire('areas', { areas: this.areas.list() })
  }

  touch (layer, area) {
    this.fire('tiles', { layer, area })
    this.tell({ kind: 'tiles', layer, id: area?.id })
  }

  #hear ({ kind, id, ...message }) {
    const area = this.areas.get(id)
    if (kind === 'areas') this.areas.read().catch(() => {})
    else if (kind === 'tiles') this.fire('tiles', { layer: message.layer, area })
    else if (kind === 'progress' && area) {
      if (area.hear(message.status)) this.changed()
      this.fire('progress', { area, status: area.status() })
    } else if (kind === 'idle' && area?.hear()) this.changed()
    else if (kind === 'pause') area?.stop('pause')
    else if (kind === 'remove') area?.stop('stop')
  }

  async close () {
    if (this.isClosed) return
    this.isClosed = true
    await Promise.allSettled(this.areas.list().map(area => area.stop('stop')))
    this.#tabs.close()
    await Promise.allSettled([...this.#open].map(db => db.close()))
  }

  async destroy () {
    await this.ready.catch(() => {})
    for (const area of this.areas.list()) await area.remove()
    await this.registry.db.destroy()
    await this.close()
  }
}

/**
 * Attachments as text: IndexedDB makes a file of each Blob, at half the speed. PouchDB writes text where a browser has no Blobs
 * to store, and looks for that when it writes.
 */
function asText (db) {
  let meta
  Object.defineProperty(db, '_meta', { configurable: true, get: () => meta, set (value) { meta = value && Object.assign(value, { blobSupport: false }) } })
}
