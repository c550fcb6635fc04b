// Reads documents from other areas on the device where those have the same revision, and the rest from the store.
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
  async fetch (asked, options) {
    const docs = []
    let left = asked
    for (const db of this.#databases) {
      if (!left.length) break
      const asking = left
      const read = () => fetchLocal(db, asking, options.signal)
      // a database that is removed meanwhile may never answer: the store has its documents as well
      const localDocs = await whileOpen([db], options.signal, new AbortController(), read).catch(() => [])
      docs.push(...localDocs)
      const ids = new Set(localDocs.map(({ _id: id }) => id))
      left = left.filter(({ id }) => !ids.has(id))
    }
    if (!left.length) return { docs, bytes: 0, failed: [] }
    const answer = await this.origin.fetch(left, options)
    return { ...answer, docs: [...docs, ...answer.docs] }
  }
}

/** Revisions that are the newest in a database: older ones have lost their images. */
async function fetchLocal (db, asked, signal) {
  const revs = await DatabaseReader.of(db).revs(asked.map(({ id }) => id))
  const current = asked.filter(({ id, rev }) => revs.get(id) === rev).map(({ id, rev }) => ({ id, rev }))
  const { docs } = await new PouchPeer(db).fetch(current, { signal })
  return docs.filter(({ _id: id, _rev: rev }) => revs.get(id) === rev)
}
