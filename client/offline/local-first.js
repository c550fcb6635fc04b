// A source of a transfer. Reads documents from other areas on the device if these have the same revision, else from the
// store.
import { PouchPeer, whileOpen } from '../mirror/pouch-peer.js'
import { DatabaseReader } from './database-reader.js'

/** @typedef {Pick<import('../../core/mirror/peer.js').Peer, 'name' | 'fetch'>} Source */

/** @implements {Source} */
export class LocalFirst {
  #databases

  /** @param {Source} origin @param {any[]} databases PouchDBs */
  constructor (origin, databases) {
    this.origin = origin
    this.name = origin.name
    this.#databases = databases
  }

  /** @type {Source['fetch']} */
  async fetch (requested, options) {
    const docs = []
    let missing = requested
    for (const db of this.#databases) {
      if (!missing.length) break
      const revisions = missing
      const read = () => fetchLocal(db, revisions, options.signal)
      // a database that is being removed may never answer: the store has its documents too
      const localDocs = await whileOpen([db], options.signal, new AbortController(), read).catch(() => [])
      docs.push(...localDocs)
      const ids = new Set(localDocs.map(({ _id: id }) => id))
      missing = missing.filter(({ id }) => !ids.has(id))
    }
    if (!missing.length) return { docs, bytes: 0, failed: [] }
    const answer = await this.origin.fetch(missing, options)
    return { ...answer, docs: [...docs, ...answer.docs] }
  }
}

/** Fetches the revisions that are the newest in a database: older ones have lost their images. */
async function fetchLocal (db, revisions, signal) {
  const revs = await DatabaseReader.of(db).revs(revisions.map(({ id }) => id))
  const current = revisions.filter(({ id, rev }) => revs.get(id) === rev).map(({ id, rev }) => ({ id, rev }))
  const { docs } = await new PouchPeer(db).fetch(current, { signal })
  return docs.filter(({ _id: id, _rev: rev }) => revs.get(id) === rev)
}
