// Makes documents on the device equal to those of the store: fetches new revisions (from other databases of the device
// where they have them), applies deletions, and verifies that a reader sees the same here as there.
import { generation, isParentOf, readLeaves } from '../../core/mirror/index.js'
import { PouchPeer, whileOpen } from '../mirror/pouch-peer.js'
import { DatabaseReader } from './database-reader.js'

const MAX_ROUNDS = 10 // deletions of one document, which may have as many conflicting revisions here

/**
 * @typedef {import('../../core/mirror/peer.js').Asked} Asked
 * @typedef {Map<string, {rev: string, deleted?: boolean}>} Versions
 */

export class Reconciler {
  /** What has arrived, by id. */
  #arrived = /** @type {Map<string, {rev: string, deleted: boolean}>} */ (new Map())

  /**
   * @param {object} parts
   * @param {import('../mirror/http.js').HttpCouch} parts.couch
   * @param {Pick<import('../../core/mirror/peer.js').Peer, 'name' | 'fetch'>} parts.source
   * @param {import('../mirror/pouch-peer.js').PouchPeer} parts.target
   * @param {import('../../core/mirror/index.js').RevisionCopier} parts.copier
   * @param {import('./local-tiles.js').LocalTiles} parts.local
   * @param {() => Promise<void>} parts.onDelete before the device deletes what the store does not even know to be
   *   deleted
   * @param {AbortSignal} parts.signal
   */
  constructor ({ couch, source, target, copier, local, onDelete, signal }) {
    this.couch = couch
    this.source = source
    this.target = target
    this.copier = copier
    this.local = local
    this.onDelete = onDelete
    this.signal = signal
    this.verifiesAll = false // the device's own deletions are on top of revisions that may come back
  }

  /** @param {any[]} docs that were written */
  arrive (docs) {
    for (const { _id: id, _rev: rev, _deleted: deleted = false } of docs) this.#arrived.set(id, { rev, deleted })
  }

  /**
   * What is to be asked for.
   * @param {{id: string, rev: string}[]} rows of the store @param {Versions} there on the device
   * @returns {Asked[]}
   */
  missing (rows, there) {
    const asked = []
    for (const { id, rev } of rows) {
      const own = there.get(id)?.rev
      if (own !== undefined && isSame(own, rev)) continue
      asked.push({ id, rev, ...(own !== undefined && isParentOf(rev)(own) && { ancestors: [own] }) })
    }
    return asked
  }

  /**
   * @param {Asked[]} asked what is missing
   * @param {Versions} there what of it was on the device in another revision
   * @param {string[]} lost ids of what is on the device and not at the store
   * @returns {Promise<string[]>} what is missing still
   */
  async fetch (asked, there, lost) {
    await this.copier.copy(asked, this.signal)
    const toVerify = asked.map(({ id }) => id).filter(id => there.has(id) || this.verifiesAll)
    if (lost.length) toVerify.push(...await this.#remove(lost))
    if (toVerify.length) await this.#verify(toVerify)
    return asked.map(({ id }) => id).filter(id => !this.#arrived.delete(id))
  }

  /** @returns {Promise<string[]>} those to be looked at afterwards */
  async #remove (ids) {
    const leaves = await readLeaves(this.couch, ids, this.signal)
    const asked = ids.flatMap(id => (leaves.get(id) ?? []).map(({ _rev: rev }) => ({ id, rev })))
    await this.copier.copy(asked, this.signal)
    for (const id of ids) {
      const found = leaves.get(id) ?? []
      // purged at the store: there is no tombstone for it
      if (found.every(leaf => leaf._deleted)) this.#arrived.set(id, { rev: '', deleted: true })
      else this.#arrived.delete(id) // it exists again, or is no tile any more: the winner there is the winner here
    }
    return ids
  }

  /** Makes what arrived the winner, with a revision of the device's own where the store went back to an older one. */
  async #verify (ids) {
    for (let round = 0, left = ids; left.length && round < MAX_ROUNDS; round++) {
      const winners = await this.local.winners(left)
      left = left.filter(id => {
        const [wanted, own] = [this.#arrived.get(id), winners.get(id)]
        if (!wanted) return false // it failed, or was gone
        return wanted.deleted ? own && !own.deleted : !own || own.deleted || !isSame(own.rev, wanted.rev)
      })
      if (!left.length) return
      await this.onDelete()
      this.verifiesAll = true
      const docs = left.filter(id => this.#arrived.get(id)?.deleted).map(
        id => tombstone(id, /** @type {{rev: string}} */ (winners.get(id)).rev)
      )
      const alive = left.filter(id => !this.#arrived.get(id)?.deleted)
      const asked = alive.map(id => ({ id, rev: /** @type {{rev: string}} */ (this.#arrived.get(id)).rev }))
      const { docs: whole } = asked.length ? await this.source.fetch(asked, { signal: this.signal }) : { docs: [] }
      for (const doc of whole) docs.push(onTop(doc, winners.get(doc._id)?.rev))
      await this.target.write(docs, this.signal)
    }
  }
}

/** Whether a revision here is that of the store, be it on top of others that the store does not know. */
export const isSame = (own, rev) => own === rev || (hashOf(own) === hashOf(rev) && generation(own) > generation(rev))

const hashOf = rev => rev.slice(rev.indexOf('-') + 1)

/** @param {string} [rev] its new parent */
function onTop (doc, rev) {
  if (rev === undefined) return doc
  const start = generation(rev) + 1
  const hash = hashOf(doc._rev)
  return { ...doc, _rev: `${start}-${hash}`, _revisions: { start, ids: [hash, hashOf(rev)] } }
}

/** The same from the same, wherever it is made. */
function tombstone (id, rev) {
  const start = generation(rev) + 1
  const hash = `${hashOf(rev).slice(0, -4)}dead`
  return { _id: id, _rev: `${start}-${hash}`, _revisions: { start, ids: [hash, hashOf(rev)] }, _deleted: true }
}

export class LocalFirst {
  #databases

  /**
   * @param {Pick<import('../../core/mirror/peer.js').Peer, 'name' | 'fetch'>} origin @param {any[]} databases PouchDBs
   */
  constructor (origin, databases) {
    this.origin = origin
    this.name = origin.name
    this.#databases = databases.map(db => ({ db, peer: new PouchPeer(db) }))
  }

  /** @type {import('../../core/mirror/peer.js').Peer['fetch']} */
  async fetch (asked, options) {
    const docs = []
    let left = asked
    for (const database of this.#databases) {
      if (!left.length) break
      const asking = left
      // what a database here does not give, the store does: one that is removed meanwhile may not even answer
      const found = await whileOpen(
        [database.db], options.signal, new AbortController(), () => fetchLocal(database, asking, options)
      ).catch(() => [])
      docs.push(...found)
      const there = new Set(found.map(({ _id: id }) => id))
      left = left.filter(({ id }) => !there.has(id))
    }
    if (!left.length) return { docs, bytes: 0, failed: [] }
    const answer = await this.origin.fetch(left, options)
    return { ...answer, docs: [...docs, ...answer.docs] }
  }
}

/** @typedef {{db: any, peer: PouchPeer}} LocalDatabase */

/**
 * The very revisions that are asked for, where they are the newest there: older ones have lost their images.
 * @param {LocalDatabase} database @param {import('../../core/mirror/peer.js').Asked[]} asked
 * @param {{signal?: AbortSignal}} options
 */
async function fetchLocal ({ db, peer }, asked, { signal }) {
  const there = await DatabaseReader.of(db).revs(asked.map(({ id }) => id))
  const wanted = asked.filter(({ id, rev }) => there.get(id) === rev).map(({ id, rev }) => ({ id, rev }))
  const { docs } = await peer.fetch(wanted, { signal })
  return docs.filter(({ _id: id, _rev: rev }) => there.get(id) === rev)
}
