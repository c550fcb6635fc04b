// The indexes of a database: ours, and whatever others have put there.
import { warm } from '../couchapp/push.js'

/** @typedef {{id: string, view: string}} Indexed a design document that has views, and one of them: they are one index */

/**
 * @param {import('./couch.js').Couch} couch
 * @param {AbortSignal} [signal]
 * @returns {Promise<Indexed[]>}
 */
export async function indexesOf (couch, signal) {
  const rows = await couch.page({ startkey: '_design/', endkey: '_design0', include_docs: true }, signal)
  return rows.map(({ id, doc }) => ({ id, view: Object.keys(doc?.views ?? {})[0] })).filter(({ view }) => view !== undefined)
}

/**
 * Brings every index up to date. One that CouchDB cannot build is passed over: it has no rows that could be wrong.
 * @param {import('./couch.js').Couch} couch
 * @param {AbortSignal} [signal]
 */
export async function warmAll (couch, signal) {
  for (const { id, view } of await indexesOf(couch, signal)) {
    await warm(couch, id, view, { signal }).catch(error => {
      if (error.code !== 'COUCHDB_ERROR') throw error
    })
  }
}
