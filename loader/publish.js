// From a database that only its admins know to a store that everybody reads: design documents, then the door.
//
// A new store is filled before its validation function is deployed: with it every document costs a call into
// CouchDB's JavaScript, and a load falls to less than half its speed. Until then only admins get in.
import { STORE_ID, now } from '../core/index.js'
import { isUntouched } from './access/rules.js'
import { ownDesigns } from './couchapp/compose.js'
import { push, warm } from './couchapp/push.js'
import { PUBLIC_SECURITY } from './store/index.js'

/**
 * @param {import('./store/index.js').Store} store
 * @param {Parameters<typeof push>[2] & {docs?: import('./couchapp/compose.js').DesignDocument[]}} [options]
 */
export async function publish (store, { docs, ...options } = {}) {
  docs ??= await ownDesigns()
  const pushed = await push(store.couch, docs, options)
  if (options.dryRun) return { pushed, opened: false }
  const opened = await openToReaders(store)
  return { pushed, opened }
}

// Only a store that was never published
async function openToReaders (store) {
  const marker = await store.couch.get(STORE_ID)
  if (!marker || marker.published) return false
  const opened = await openDoor(store)
  await store.couch.update(STORE_ID, doc => ({ ...doc, published: now() }))
  return opened
}

/**
 * Lets everybody in where the door is as CouchDB made it: what an operator has set stays, and whom he has named as writers.
 * @param {import('./store/index.js').Store} store
 * @returns {Promise<boolean>} whether it was opened now
 */
export async function openDoor (store) {
  const security = await store.security()
  const open = isUntouched(security)
  if (open) await store.secure({ ...security, members: PUBLIC_SECURITY.members })
  return open
}

/** Whether the store has been published, and so may have readers. */
export const isPublished = async store => Boolean((await store.couch.get(STORE_ID))?.published)

/** Brings every index of the store up to date. */
export async function warmIndexes (store, options) {
  for (const { _id, views } of await ownDesigns()) {
    if (views) await warm(store.couch, _id, Object.keys(views)[0], options)
  }
}
