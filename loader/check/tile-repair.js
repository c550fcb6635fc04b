// Repairs tiles whose documents are valid, but do not make one timeline. Each tile is read again with its whole past,
// and a write never destroys anything:
//
//   - tiles whose versions are out of order, or that have no head, are settled, as when conflicts are resolved
//   - of a version that is in the past twice, the later one is deleted
//
// A document with wrong fields or bytes is left: its right content is not known here.
import { byLayer } from '../../core/ids.js'
import { readTileLeaves } from '../../core/store/documents.js'
import { peerOf } from '../store/peer.js'
import { deterministicAccess, settleAll } from '../store/settle.js'
import { endTwins, faultsIn, faultsOf } from './tile.js'

const ROUNDS = 6 // over a tile: one repair may uncover another fault

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
      await this.#endTwins(await this.#read(ids))
      if (this.#writes === before) break
    }
    return faultsIn(await this.#read(ids))
  }

  /** @param {string[]} ids of heads */
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

  /** Of a version that is in the past twice, the later one is deleted, as a replicator does. @param {Leaves[]} tiles */
  async #endTwins (tiles) {
    const sound = tiles.filter(({ heads, pasts }) => [...heads, ...pasts].every(doc => !faultsOf(doc).length))
    const tombstones = sound.flatMap(endTwins)
    if (!tombstones.length) return
    const refused = await this.peer.write(tombstones, this.signal)
    for (const { id, reason, error } of refused) this.onLeft(id, reason || error)
    this.#writes += tombstones.length - refused.length
  }
}
