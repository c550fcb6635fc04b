// PouchDBs that this library makes for itself.
import { TilecouchError } from '../../core/index.js'
import { PouchPeer } from '../mirror/pouch-peer.js'
import { deleteDatabase } from './spare-room.js'

export const pouchDefaults = {
  revsLimit: 10 // revisions of a document that are remembered: what comes knows all of its own
}

/**
 * @param {any} PouchDB @param {string} name
 * @param {{adapter?: string, revsLimit?: number}} [options]
 */
export function openPouch (PouchDB, name, { adapter, revsLimit = pouchDefaults.revsLimit } = {}) {
  if (typeof PouchDB !== 'function') throw new TilecouchError('NO_POUCHDB')
  try {
    return asText(new PouchDB(name, { ...(adapter && { adapter }), auto_compaction: true, revs_limit: revsLimit }))
  } catch (error) {
    throw new TilecouchError('NO_POUCHDB', { why: error.message }) // it has no such adapter
  }
}

/** Takes a database off the device, also one that could not even be opened, since the device is full. @param {any} db a PouchDB */
export async function destroyPouch (db) {
  try {
    await db.destroy()
  } catch (error) {
    if (db.adapter !== 'idb' || new PouchPeer(db).explain(error).code !== 'DISK_FULL') throw error
    await deleteDatabase(`_pouch_${db.name}`)
  }
}

/**
 * Attachments as text: IndexedDB makes a file of each Blob, at half the speed. PouchDB writes text where a browser cannot
 * store Blobs; what it found out about that it keeps here.
 */
function asText (db) {
  const plain = value => value && Object.assign(value, { blobSupport: false })
  let meta = plain(db._meta) // one that was open already has it
  Object.defineProperty(db, '_meta', { configurable: true, enumerable: true, get: () => meta, set (value) { meta = plain(value) } })
  return db
}
