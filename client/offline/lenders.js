// What is asked of the store, asked of other databases of the device first: a revision that one of them has is the same everywhere.
import { PouchPeer, whileOpen } from '../mirror/pouch-peer.js'
import { Reader } from './reader.js'

export class Lent {
  #lenders

  /** @param {Pick<import('../../core/mirror/peer.js').Peer, 'name' | 'fetch'>} origin @param {any[]} lenders PouchDBs */
  constructor (origin, lenders) {
    this.origin = origin
    this.name = origin.name
    this.#lenders = lenders.map(db => ({ db, peer: new PouchPeer(db) }))
  }

  /** @type {import('../../core/mirror/peer.js').Peer['fetch']} */
  async fetch (asked, options) {
    const docs = []
    let left = asked
    for (const lender of this.#lenders) {
      if (!left.length) break
      const asking = left
      // what a database here does not give, the store does: one that is removed meanwhile may not even answer
      const lent = await whileOpen([lender.db], options.signal, new AbortController(), () => lend(lender, asking, options)).catch(() => [])
      docs.push(...lent)
      const there = new Set(lent.map(({ _id: id }) => id))
      left = left.filter(({ id }) => !there.has(id))
    }
    if (!left.length) return { docs, bytes: 0, failed: [] }
    const answer = await this.origin.fetch(left, options)
    return { ...answer, docs: [...docs, ...answer.docs] }
  }
}

/** @typedef {{db: any, peer: PouchPeer}} Lender */

/**
 * The very revisions that are asked for, where they are the newest there: older ones have lost their images.
 * @param {Lender} lender @param {import('../../core/mirror/peer.js').Asked[]} asked @param {{signal?: AbortSignal}} options
 */
async function lend ({ db, peer }, asked, { signal }) {
  const there = await Reader.of(db).revs(asked.map(({ id }) => id))
  const wanted = asked.filter(({ id, rev }) => there.get(id) === rev).map(({ id, rev }) => ({ id, rev }))
  const { docs } = await peer.fetch(wanted, { signal })
  return docs.filter(({ _id: id, _rev: rev }) => there.get(id) === rev)
}
