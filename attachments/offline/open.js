// The OfflineStore of this page, over the PouchDB that this bundle brings.
import PouchDB from 'pouchdb-browser'
import { OfflineStore } from '../../client/offline/index.js'

/** @type {Map<string, Promise<any>>} one for each name: two would do everything twice */
const open = new Map()

/**
 * @param {string} remote address of the database
 * @param {string} name of the databases on the device
 */
export function openOffline (remote, name) {
  const opening = open.get(name) ?? begin(remote, name)
  open.set(name, opening)
  opening.catch(() => open.delete(name))
  return opening
}

async function begin (remote, name) {
  const offline = new OfflineStore({ remote, name, PouchDB })
  await offline.ready
  return offline
}
