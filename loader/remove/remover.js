// Removes versions of tiles in bounded batches. At every moment each tile has its head or nothing at all, and whatever is
// killed between two requests, running it again goes on. How a batch goes is in lot.js.
import { setTimeout as sleep } from 'node:timers/promises'
import { TilecouchError } from '../../core/index.js'
import { finishLeft } from './copies.js'
import { removeDefaults } from './defaults.js'
import { endLeaves } from './documents.js'
import { itemOf } from './item.js'
import { Journal } from './journal.js'
import { Lot } from './lot.js'
import { Purger } from './purge.js'
import { settle } from './settle.js'
import { Count } from './tally.js'

/**
 * @typedef {import('../store/list.js').ListedTile} ListedTile
 * @typedef {ListedTile['versions'][0]} Version
 * @typedef {import('./tally.js').Tally} Tally
 * @typedef {import('./item.js').Item} Item
 *
 * @typedef {object} RemoverOptions
 * @property {boolean} [purge] leaves nothing of what was deleted, not even that it was
 * @property {boolean} [dryRun] counts, and writes nothing
 * @property {AbortSignal} [signal] heard between two batches
 * @property {(tally: Tally) => void} [onProgress] after each batch
 * @property {Partial<typeof removeDefaults>} [limits]
 */

export class Remover {
  /** @type {Item[]} */
  #items = []
  #size = { docs: 0, bytes: 0 }
  /** @type {import('./settle.js').Touched[]} */
  #touched = []
  #touchedAt = 0
  #begun = false

  /** @param {import('../store/index.js').Store} store @param {RemoverOptions} [options] */
  constructor (store, { purge = false, dryRun = false, signal, onProgress, limits } = {}) {
    this.couch = store.couch
    this.dryRun = dryRun
    this.signal = signal
    this.onProgress = onProgress
    this.limits = { ...removeDefaults, ...limits }
    this.count = new Count(this.limits.named)
    this.journal = new Journal(this.couch)
    this.purger = purge ? new Purger(this.couch, { heard: this.limits.heard, onPurged: documents => { this.tally.purged += documents } }) : undefined
  }

  get tally () {
    return this.count.tally
  }

  /** What has to be before anything is deleted. The first batch sees to it where nobody else does. */
  async begin () {
    if (this.#begun) return
    this.#begun = true
    await this.purger?.check()
    if (!this.dryRun) await finishLeft(this.couch, this.signal)
  }

  /**
   * @param {ListedTile} tile as it was listed, with all of its versions
   * @param {Version[]} doomed those that go
   */
  async take ({ id, versions }, doomed) {
    if (!doomed.length) return
    const item = itemOf(id, versions, new Set(doomed.map(({ time }) => time)))
    this.#items.push(item)
    this.#size.docs += doomed.length + (item.falls ? 2 : 0)
    this.#size.bytes += item.heir?.size ?? 0
    if (this.#size.docs >= this.limits.batch || this.#size.bytes >= this.limits.bytes) await this.#flush()
  }

  /** Everything that was taken has gone, or is told to have changed. */
  async flush () {
    await this.begin()
    await this.#flush()
    if (this.#touched.length) await sleep(Math.max(0, this.#touchedAt + this.limits.grace - performance.now()))
    await this.#settle(this.#touched.length)
    if (!this.dryRun) await this.journal.clear()
  }

  /** @returns {Promise<Tally>} */
  async finish () {
    await this.flush()
    await this.purger?.finish()
    return this.tally
  }

  /**
   * Removes documents that are no tiles, or not as tiles.
   * @param {{_id: string, _rev: string}[]} docs every leaf of each
   * @returns {Promise<Set<string>>} the ids of those that went
   */
  async end (docs) {
    await this.begin()
    if (this.signal?.aborted) throw new TilecouchError('ABORTED')
    if (this.dryRun) return new Set(docs.map(({ _id }) => _id))
    const ended = await endLeaves(this.couch, docs.map(({ _id: id, _rev: rev }) => ({ id, rev })))
    this.count.kept(ended)
    await this.purger?.take(ended.gone)
    return new Set(ended.gone.keys())
  }

  async #flush () {
    const items = this.#items
    if (!items.length) return
    await this.begin()
    if (this.signal?.aborted) throw new TilecouchError('ABORTED')
    this.#items = []
    this.#size = { docs: 0, bytes: 0 }
    if (this.dryRun) for (const item of items) this.#wouldRemove(item)
    else await this.#remove(items)
    this.onProgress?.(this.tally)
  }

  /** @param {Item} item */
  #wouldRemove ({ doomed, head, heir }) {
    this.count.went(doomed.map(({ size }) => size))
    if (head) this.tally[heir ? 'fallen' : 'heads']++
  }

  /** @param {Item[]} items */
  async #remove (items) {
    const { couch, count, journal, signal, limits } = this
    const lot = new Lot(couch, { count, journal, signal, onGone: gone => this.purger?.take(gone) })
    let left = items
    for (let round = 0; left.length && round < limits.rounds; round++) left = await lot.remove(left)
    for (const { id } of left) count.tell('changed', id, 'others kept removing from it meanwhile')
    if (!lot.touched.length) return
    this.#touched.push(...lot.touched)
    this.#touchedAt = performance.now()
    await this.#settle(this.#touched.length - limits.look)
  }

  /** @param {number} many of those that went or fell back first */
  async #settle (many) {
    while (many > 0) {
      const some = this.#touched.splice(0, Math.min(many, this.limits.batch))
      many -= some.length
      const gone = await settle(this.couch, some, this.journal, this.signal)
      await this.purger?.take(gone)
    }
  }
}
