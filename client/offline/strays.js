// Databases of areas that the registry does not know: it was lost, or put back. Each database says what it is of, so that
// nothing that was downloaded has to come again; only browsers tell which databases there are.
import { PouchPeer } from '../mirror/pouch-peer.js'

const SIGN = 'area' // its name among the documents that are not replicated

/** Writes into a database which area it is of. @param {import('./area.js').Area} area */
export async function sign ({ db, document: { name, spec, permission, created } }) {
  await new PouchPeer(db).updateLocal(SIGN, stored => stored?.name === name ? undefined : { name, spec, permission, created })
}

/** @param {import('./offline-store.js').OfflineStore} store @param {Set<string>} known ids */
export async function adoptStrays (store, known) {
  const isOne = new RegExp(`^_pouch_${store.name.replace(/[^\w]/g, '\\$&')}-([0-9a-f]{8})$`)
  const databases = await globalThis.indexedDB?.databases?.().catch(() => []) ?? []
  const strays = databases.map(({ name = '' }) => isOne.exec(name)?.[1] ?? '').filter(id => id && !known.has(id))
  await Promise.all(strays.map(id => adopt(store, id)))
}

async function adopt (store, id) {
  const { registry } = store
  if (await registry.get(id)) return // another tab has just made it
  if (await registry.hadOnce(id)) return store.obliterate(id)
  const signed = await new PouchPeer(store.open(id)).getLocal(SIGN)
  if (!signed) return // it is somebody else's
  const { name, spec, permission, created } = signed
  await registry.add({ id, name, spec, ...(permission && { permission }), created, state: 'incomplete', tiles: 0, versions: 0, bytes: 0, failed: 0, live: false })
}
