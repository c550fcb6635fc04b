// Publishes a store: deploys the design documents, then lets everybody read.
//
// A new store is filled before it is published: with a validation function every document costs a call into CouchDB's
// JavaScript, which halves the speed of a load. Until then only admins get in.
import { STORE_ID, now } from '../../core/index.js'
import { isUntouched } from '../store/access.js'
import { ownDesigns } from './compose.js'
import { push } from './push.js'
import { warm } from '../store/indexes.js'
import { PUBLIC_SECURITY } from '../store/index.js'
import { BY_TILE } from '../store/reader.js'

const INDEX = BY_TILE.split('/_view')[0] // the design document of the index
const VALIDATION = '_design/tiles'

/**
 * @param {import('../store/index.js').Store} store
 * @param {Parameters<typeof push>[2] & {docs?: import('./compose.js').DesignDocument[]}} [options]
 */
export async function publish (store, { docs, ...options } = {}) {
  docs ??= await ownDesigns()
  const pushed = await push(store.couch, docs, options)
  return { pushed, opened: !options.dryRun && await openOnce(store) }
}

/** Opens a store that was never published. */
async function openOnce (store) {
  const marker = await store.couch.get(STORE_ID)
  if (!marker || marker.published) return false
  const opened = await makePublic(store)
  await store.couch.update(STORE_ID, doc => ({ ...doc, published: now() }))
  return opened
}

/**
 * Lets everybody read, unless the rights were set before. A list of writers stays.
 * @param {import('../store/index.js').Store} store
 * @returns {Promise<boolean>} whether that changed anything
 */
export async function makePublic (store) {
  const security = await store.security()
  const canOpen = isUntouched(security)
  if (canOpen) await store.secure({ ...security, members: PUBLIC_SECURITY.members })
  return canOpen
}

/**
 * Whether the store has been published, and so may have readers. A couchapp tool leaves no mark: its design documents
 * count once the rights were set.
 * @param {import('../store/index.js').Store} store
 */
export async function isPublished (store) {
  if ((await store.couch.get(STORE_ID))?.published) return true
  if (isUntouched(await store.security())) return false
  const docs = await Promise.all([VALIDATION, INDEX].map(id => store.couch.get(id)))
  return docs.every(Boolean)
}

/**
 * Brings the indexes of the store up to date; a store that was not published has none.
 * @param {{couch: import('../store/couch.js').Couch}} store
 * @param {Parameters<typeof warm>[3]} [options]
 */
export async function warmIndexes ({ couch }, options) {
  const stored = await couch.get(INDEX)
  const [view] = Object.keys(stored?.views ?? {})
  if (view) await warm(couch, INDEX, view, options)
}
