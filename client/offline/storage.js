// Storage on the device: how much is free, a reserve that is released when the disk is full, and the PouchDBs of the
// library.
import { TilecouchError } from '../../core/index.js'
import { PouchPeer } from '../mirror/pouch-peer.js'

export const quotaDefaults = {
  text: 4 / 3, // of an image in the database to its bytes: it is kept as text
  perVersion: 1200, // bytes of everything else about a version: its document, its revisions and their indexes
  reserve: 0.05, // of all that is given, kept free for what else the page keeps
  mostReserve: 100 * 1024 * 1024 // bytes of that at most
}

/** @typedef {{usage?: number, quota?: number, free?: number, persisted?: boolean}} StorageRoom */

/** What the device says. @returns {Promise<StorageRoom>} */
export async function storageRoom (storage = globalThis.navigator?.storage) {
  if (!storage?.estimate) return { usage: undefined, quota: undefined, free: undefined, persisted: undefined }
  const [{ usage, quota }, persisted] = await Promise.all([storage.estimate(), storage.persisted?.()])
  const free = usage === undefined || quota === undefined ? undefined : Math.max(0, quota - usage)
  return { usage, quota, free, persisted }
}

/** What they take on the device. @typedef {{bytes: number, versions: number, styles?: number}} Figures */

/** @param {Figures} figures */
export const storageSize = ({ bytes, versions, styles = 0 }) =>
  Math.round((bytes + styles) * quotaDefaults.text + versions * quotaDefaults.perVersion)

/**
 * @param {string} area its name
 * @param {Figures} total what it will be
 * @param {Figures} have what is there of it
 * @param {StorageRoom} room
 */
export function checkFits (area, total, have, { free, quota }) {
  if (free === undefined || quota === undefined) return
  const needed = Math.max(0, storageSize(total) - storageSize(have))
  const reserve = Math.round(Math.min(quota * quotaDefaults.reserve, quotaDefaults.mostReserve))
  const usable = Math.max(0, free - reserve)
  if (needed > usable) throw new TilecouchError('QUOTA_EXCEEDED', { area, needed, free: usable, quota, reserve })
}

const RESERVE_BYTES = 1024 * 1024 // for notes of what happened, and for opening databases again
const CHUNK_BYTES = 65536 // random bytes that the browser makes at once

const STORE = 'spare-room'

export class StorageReserve {
  #name

  /** @param {string} name of its database @param {IDBFactory | undefined} [databases] none in Node */
  constructor (name, databases = globalThis.indexedDB) {
    this.#name = name
    this.databases = databases
  }

  /** Makes it, if it is not there. Rejects with QuotaExceededError. */
  async allocate () {
    if (!this.databases) return
    const request = this.databases.open(this.#name, 1)
    request.onupgradeneeded = () => {
      const store = request.result.createObjectStore(STORE, { autoIncrement: true })
      // zeros would be packed
      for (let offset = 0; offset < RESERVE_BYTES; offset += CHUNK_BYTES) {
        store.add(crypto.getRandomValues(new Uint8Array(CHUNK_BYTES)))
      }
    }
    const database = await answer(request)
    database.close()
  }

  /** Removes it, which makes room. */
  async release () {
    if (this.databases) await answer(this.databases.deleteDatabase(this.#name))
  }
}

export const pouchDefaults = {
  revsLimit: 10 // revisions of a document that are kept: documents from the store bring their own
}

/** @param {any} PouchDB @param {string} name @param {{adapter?: string, revsLimit?: number}} [options] */
export function openPouch (PouchDB, name, { adapter, revsLimit = pouchDefaults.revsLimit } = {}) {
  if (typeof PouchDB !== 'function') throw new TilecouchError('NO_POUCHDB')
  try {
    return asText(new PouchDB(name, { ...(adapter && { adapter }), auto_compaction: true, revs_limit: revsLimit }))
  } catch (error) {
    throw new TilecouchError('NO_POUCHDB', { why: error.message }) // it has no such adapter
  }
}

/**
 * Takes a database off the device, also one that could not even be opened, since the device is full.
 * @param {any} db a PouchDB
 */
export async function destroyPouch (db) {
  try {
    await db.destroy()
  } catch (error) {
    if (db.adapter !== 'idb' || new PouchPeer(db).errorFrom(error).code !== 'DISK_FULL') throw error
    await answer(globalThis.indexedDB.deleteDatabase(`_pouch_${db.name}`))
  }
}

/**
 * Attachments as text: IndexedDB makes a file of each Blob, at half the speed. PouchDB writes text where a browser
 * cannot store Blobs; what it found out about that it keeps here.
 */
function asText (db) {
  const plain = value => value && Object.assign(value, { blobSupport: false })
  let meta = plain(db._meta) // one that was open already has it
  const set = value => { meta = plain(value) }
  return Object.defineProperty(db, '_meta', { configurable: true, enumerable: true, get: () => meta, set })
}

/**
 * What a request answers.
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
const answer = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})
