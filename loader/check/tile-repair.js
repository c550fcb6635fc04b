// Repairs tiles whose documents are valid, but do not make one timeline. Each tile is read again with its whole past,
// and a write never destroys anything:
//
//   - tiles whose versions are out of order are settled, as when conflicts are resolved
//   - the newest past version of a tile without a head is written as its head; it stays in the past until the tile is
//     settled
//   - of a version that is in the past twice, the later one is deleted
//
// A document with wrong fields or bytes is left: its right content is not known here.
import { batchesOf } from '../../core/lists.js'
import { byLayer } from '../../core/ids.js'
import { imageAnew, readTileLeaves } from '../../core/store/documents.js'
import { peerOf } from '../store/peer.js'
import { fieldsOf, headOf, leafOf } from '../store/revisions.js'
import { deterministicAccess, settleAll } from '../store/settle.js'
import { endTwins, faultsIn, faultsOf } from './tile.js'

const ROUNDS = 6 // over a tile: one repair may uncover another fault
const REQUEST = { most: 200, bytes: 4 * 1024 * 1024, sizeOf: doc => doc._attachments?.tile?.length ?? 0 }

/** @typedef {import('./tile.js').Leaves} Leaves */

export class TileRepair {
  #writes = 0

  /**
   * @param {import('../store/index.js').Store} store
   * @param {object} options
   * @param {AbortSignal} [options.signal]
   * @param {(id: string, reason: string) => void} options.onLeft
   */
  constructor (store, { signal, onLeft }) {
    this.couch = store.couch
    this.signal = signal
    this.onLeft = onLeft
    this.peer = peerOf(store.couch)
    this.access = deterministicAccess(store.couch)
  }

  /**
   * @param {string[]} ids of heads
   * @returns {Promise<Set<string>>} faults that remain, as `code id`
   */
  async repair (ids) {
    for (let round = 0; round < ROUNDS; round++) {
      const before = this.#writes
      await this.#settle(ids)
      await this.#repairVersions(await this.#read(ids))
      if (this.#writes === before) break
    }
    return faultsIn(await this.#read(ids))
  }

  /** Settles tiles whose versions are out of order. @param {string[]} ids of heads */
  async #settle (ids) {
    const { couch, access, signal } = this
    const options = { access, signal, onSettled: this.#count }
    for (const [layer, own] of byLayer(ids)) await settleAll(couch, layer, own, options)
  }

  /** @param {Map<string, import('../../core/store/settle.js').Settled>} settled */
  #count = settled => {
    for (const [id, { done, error, odd }] of settled) {
      this.#writes += done.length
      if (error && !odd) this.onLeft(id, error.message)
    }
  }

  #read (ids) {
    return readTileLeaves(this.couch, ids, this.signal)
  }

  /** @param {Leaves[]} tiles */
  async #repairVersions (tiles) {
    const sound = tiles.filter(({ heads, pasts }) => [...heads, ...pasts].every(doc => !faultsOf(doc).length))
    await this.#makeHeads(sound.filter(({ heads, pasts }) => !heads.length && pasts.length))
    await this.#delete(sound.flatMap(endTwins))
  }

  /** The newest past version becomes the head again. @param {Leaves[]} tiles */
  async #makeHeads (tiles) {
    const newest = tiles.map(({ pasts }) => pasts.map(leafOf).reduce((a, b) => b.time > a.time ? b : a).doc)
    for await (const batch of batchesOf(newest, REQUEST)) {
      await this.#writeHeads((await this.#fetch(batch)).map(doc => {
        const { _id, ...head } = headOf(doc)
        return { _id, ...fieldsOf(head), ...imageAnew(doc) }
      }))
    }
  }

  /** Documents with their bytes. One that cannot be read does not affect the others. @returns {Promise<any[]>} */
  async #fetch (docs) {
    const asked = docs.map(({ _id: id, _rev: rev }) => ({ id, rev }))
    const { peer, signal } = this
    try {
      return (await peer.fetch(asked, { signal })).docs
    } catch (error) {
      if (error.code !== 'BAD_ANSWER' && error.code !== 'COUCHDB_ERROR') throw error
      const readDocs = []
      for (const one of docs.length > 1 ? asked : []) {
        const { docs: readable } = await peer.fetch([one], { signal }).catch(reason => {
          if (signal?.aborted) throw reason
          return { docs: [] }
        })
        readDocs.push(...readable)
      }
      return readDocs
    }
  }

  async #writeHeads (docs) {
    if (!docs.length) return
    for (const { id, ok, error, reason } of await this.couch.write(docs, this.signal)) {
      if (ok && !error) this.#writes++
      else if (error !== 'conflict') this.onLeft(id, reason || error || '')
    }
  }

  /** Writes deletions as a replicator does. */
  async #delete (tombstones) {
    if (!tombstones.length) return
    const refused = await this.peer.write(tombstones, this.signal)
    for (const { id, reason, error } of refused) this.onLeft(id, reason || error)
    this.#writes += tombstones.length - refused.length
  }
}
