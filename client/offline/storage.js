// Storage on the device: how much is free, a reserve that is released when the disk is full, and the PouchDBs of the
// library.
import { TilecouchError } from '../../core/index.js'
import { PouchPeer } from '../mirror/pouch-peer.js'

export const quotaDefaults = {
  text: 4 / 3, // size of an image in the database, relative to its bytes: it is kept as text
  perVersion: 1200, // bytes of everything else about a version: its document, its revisions and their indexes
  reserve: 0.05, // share of the quota that stays free for other data of the page
  mostReserve: 100 * 1024 * 1024 // maximum bytes of that share
}

/** @typedef {{usage?: number, quota?: number, free?: number, persisted?: boolean}} StorageRoom */

/** Reads how much storage the page uses and may use. @returns {Promise<StorageRoom>} */
export async function storageRoom (storage = globalThis.navigator?.storage) {
  if (!storage?.estimate) return { usage: undefined, quota: undefined, free: undefined, persisted: undefined }
  const [{ usage, quota }, persisted] = await Promise.all([storage.estimate(), storage.persisted?.()])
  const free = usage === undefined || quota === undefined ? undefined : Math.max(0, quota - usage)
  return { usage, quota, free, persisted }
}

/** @typedef {{bytes: number, versions: number, styles?: number}} Figures */

/** Estimates the bytes that an area takes on the device. @param {Figures} figures */
export const storageSize = ({ bytes, versions, styles = 0 }) =>
  Math.round((bytes + styles) * quotaDefaults.text + versions * quotaDefaults.perVersion)

/**
 * @param {string} area its name
 * @param {Figures} total of the whole area
 * @param {Figures} present the part on the device
 * @param {StorageRoom} room
 */
export function checkFits (area, total, present, { free, quota }) {
  if (free === undefined || quota === undefined) return
  const needed = Math.max(0, storageSize(total) - storageSize(present))
  const reserve = Math.round(Math.min(quota * quotaDefaults.reserve, quotaDefaults.mostReserve))
  const usable = Math.max(0, free - reserve)
  if (needed > usable) throw new TilecouchError('QUOTA_EXCEEDED', { area, needed, free: usable, quota, reserve })
}

const RESERVE_BYTES = 1024 * 1024 // room to save states and to reopen databases when the disk is full
const CHUNK_BYTES = 65536 // maximum of crypto.getRandomValues

const STORE = 'spare-room'

export class StorageReserve {
  #name

  /** @param {string} name of its database */
  constructor (name) {
    this.#name = name
  }

  /** Creates the reserve if it does not exist. Rejects with QuotaExceededError. */
  async allocate () {
    if (!globalThis.indexedDB) return // in Node
    const request = indexedDB.open(this.#name, 1)
    request.onupgradeneeded = () => {
      const store = request.result.createObjectStore(STORE, { autoIncrement: true })
      // zeros would be compressed
      for (let offset = 0; offset < RESERVE_BYTES; offset += CHUNK_BYTES) {
        store.add(crypto.getRandomValues(new Uint8Array(CHUNK_BYTES)))
      }
    }
    const database = await resultOf(request)
    database.close()
  }

  /** Deletes the reserve, which frees its space. */
  async release () {
    if (globalThis.indexedDB) await resultOf(indexedDB.deleteDatabase(this.#name))
  }
}

const REVISIONS = 10 // that a database keeps of a document: documents from the store come with their own

/** @param {any} PouchDB @param {string} name @param {string} [adapter] */
export function openPouch (PouchDB, name, adapter) {
  if (typeof PouchDB !== 'function') throw new TilecouchError('NO_POUCHDB')
  try {
    return asText(new PouchDB(name, { ...(adapter && { adapter }), auto_compaction: true, revs_limit: REVISIONS }))
  } catch (error) {
    throw new TilecouchError('NO_POUCHDB', { why: error.message }) // this PouchDB lacks the adapter
  }
}

/**
 * Destroys a database, even one that could not be opened because the disk is full.
 * @param {any} db a PouchDB
 */
export async function destroyPouch (db) {
  try {
    await db.destroy()
  } catch (error) {
    if (db.adapter !== 'idb' || new PouchPeer(db).errorFrom(error).code !== 'DISK_FULL') throw error
    await resultOf(globalThis.indexedDB.deleteDatabase(`_pouch_${db.name}`))
  }
}

/**
 * Makes PouchDB store attachments as text: IndexedDB makes a file of each Blob, at half the speed. PouchDB writes text
 * if its `_meta` says that the browser cannot store Blobs.
 */
function asText (db) {
  const withoutBlobs = value => value && Object.assign(value, { blobSupport: false })
  let meta = withoutBlobs(db._meta) // an open database already has it
  const set = value => { meta = withoutBlobs(value) }
  return Object.defineProperty(db, '_meta', { configurable: true, enumerable: true, get: () => meta, set })
}

/**
 * Resolves with the result of a request to IndexedDB.
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
const resultOf = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})
