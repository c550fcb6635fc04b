// Removes versions of tiles in bounded batches. First it writes a document that withdraws the statements.
// Then it settles the tiles (core/store/settle.js), so that a head whose version is removed gets the version before. If
// a removal was killed, run it again. A load at the same time sees the document, or the removal sees the load.
import { isDeepStrictEqual } from 'node:util'
import { now, removedId } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { newRun } from '../../../core/runs.js'
import { StatementsByLayer } from '../../../core/store/statements.js'
import { settleTiles } from '../../../core/store/settle.js'
import { tileAccess } from '../../store/settle.js'
import { Tally } from '../tally.js'
import { endLeaves } from './documents.js'
import { Purger } from './purge.js'

export const removeDefaults = {
  batch: 500, // documents deleted in one request
  heard: 2000, // milliseconds between deletion and purge, in which followers of the store see the deletion
  gather: 5000, // deletions after which they are purged; every index must be brought up to date first
  passes: 5 // over a whole layer, while loads still write into it
}

/**
 * @typedef {import('../../store/list.js').ListedTile} ListedTile
 * @typedef {ListedTile['versions'][0]} Version
 * @typedef {{id: string, versions: Version[], removed: Version[]}} Item removed: versions to be removed
 *
 * @typedef {Omit<RemovalTally, 'add' | 'note'>} Removed the counts of a removal
 *
 * @typedef {object} RemoverOptions
 * @property {boolean} [purge] leave no trace, not even of the deletion
 * @property {boolean} [dryRun] only count
 * @property {boolean} [isStated] remove only statements that `state` has withdrawn
 * @property {AbortSignal} [signal] stops between two batches
 * @property {(what: 'changed' | 'refused', id: string, reason: string) => void} [note] called when a document was
 * not removed; by default it is counted
 * @property {(tally: RemovalTally) => void} [onProgress] called after each batch
 * @property {Partial<typeof removeDefaults>} [limits]
 */

class RemovalTally extends Tally {
  tiles = 0 // tiles that lost a version
  versions = 0 // removed versions; of a whole layer removed documents: a restored head and its past version count twice
  bytes = 0 // of the images of these versions
  heads = 0 // heads that were deleted with their tile
  fallen = 0 // heads that now show the version before
  purged = 0 // deletions that were purged
  unpurged = 0 // deletions of an earlier run, which was stopped before their purge
  changed = 0 // documents that another program wrote meanwhile; the next run checks them again
  refused = 0 // documents that the store did not delete

  /** @param {Item} item */
  add ({ versions, removed }) {
    this.tiles++
    this.versions += removed.length
    for (const { size } of removed) this.bytes += size
    const head = versions[versions.length - 1]
    if (head.current && removed.includes(head)) this[removed.length === versions.length ? 'heads' : 'fallen']++
  }
}

export class Remover {
  /** @type {Item[]} */
  #items = []
  #begun = false
  /** Ids of removal documents that state() wrote. @type {string[]} */
  #removalIds = []

  /** @param {import('../../store/index.js').Store} store @param {RemoverOptions} [options] */
  constructor (store, { purge = false, dryRun = false, isStated = false, signal, note, onProgress, limits } = {}) {
    this.couch = store.couch
    this.statements = new StatementsByLayer(store.couch)
    this.dryRun = dryRun
    this.isStated = isStated
    this.signal = signal
    this.onProgress = onProgress
    this.limits = { ...removeDefaults, ...limits }
    this.tally = new RemovalTally()
    this.note = note ?? ((kind, id, reason) => this.tally.note(kind, id, reason))
    const onPurged = documents => { this.tally.purged += documents }
    const { heard, gather } = this.limits
    this.purger = purge ? new Purger(this.couch, { heard, gather, onPurged }) : undefined
    this.access = tileAccess(this.couch)
  }

  /** Checks before the first deletion that the store can purge. The first batch calls it, too. */
  async begin () {
    if (this.#begun) return
    this.#begun = true
    if (!this.purger) return
    await this.purger.check()
    this.tally.unpurged = await this.purger.readLeft()
  }

  /**
   * Writes the removal document. Call it before the first removal.
   * @param {string} layer
   * @param {object} scope
   * @param {string} [scope.since] exact
   * @param {string} [scope.until]
   * @param {import('../../../core/area.js').Area} [scope.area]
   * @param {import('../../../core/grid.js').Zooms} [scope.zooms]
   * @param {string[]} [scope.tiles] ids of heads
   * @param {boolean} [scope.isFinished] it needs no later run: an interrupted one finds its tiles again
   * @returns {Promise<string>} the run of the removal, which concerns statements of earlier runs
   */
  async state (layer, { since, until, area, zooms, tiles, isFinished = false }) {
    await this.begin()
    const statements = this.statements.ofLayer(layer)
    await statements.open()
    const run = newRun(statements.lastRun)
    if (this.dryRun) return run
    const scope = scopeOf({ since, until, area: area?.toJSON(), zooms, tiles })
    // also finishes a killed removal with the same scope
    const same = statements.removals.filter(removal => !removal.finished && isDeepStrictEqual(scope, scopeOf(removal)))
    const finished = isFinished ? { finished: now() } : {}
    await this.couch.update(removedId(layer, run), () => ({ type: 'removed', layer, run, ...scope, ...finished }))
    if (!isFinished) this.#removalIds.push(...same.map(({ id }) => id), removedId(layer, run))
    await statements.refresh()
    return run
  }

  /**
   * @param {ListedTile} tile the listed tile with all its versions
   * @param {Version[]} removed the versions to remove
   */
  async take ({ id, versions }, removed) {
    if (!removed.length) return
    this.#items.push({ id, versions, removed })
    if (this.#items.length >= this.limits.batch) await this.flush()
  }

  /** Removes all versions that were passed to take(). */
  async flush () {
    await this.begin()
    const items = this.#items
    if (!items.length) return
    if (this.signal?.aborted) throw new TilecouchError('ABORTED')
    this.#items = []
    const refused = this.dryRun ? new Set() : await this.#settle(items)
    for (const item of items) if (!refused.has(item.id)) this.tally.add(item)
    if (this.isStated) await this.purgeIfMany() // statements that were withdrawn need no version
    this.onProgress?.(this.tally)
  }

  /**
   * Purges the deletions so far if they are many. A removal whose deletions may have to be restored (not `isStated`)
   * calls it after each batch that needs no restoring any more.
   */
  async purgeIfMany () {
    await this.purger?.finishIfMany()
  }

  /** @returns {Promise<RemovalTally>} */
  async finish () {
    await this.flush()
    const finish = removal => removal && { ...removal, finished: now() } // a move may have renamed it
    for (const id of this.#removalIds) await this.couch.update(id, finish)
    this.#removalIds = []
    if (!this.dryRun) await this.purger?.finish()
    return this.tally
  }

  /**
   * Deletes documents without settling tiles.
   * @param {import('./documents.js').Revision[]} leaves all leaves of each document
   * @returns {Promise<Set<string>>} ids of deleted documents
   */
  async end (leaves) {
    await this.begin()
    if (this.signal?.aborted) throw new TilecouchError('ABORTED')
    if (this.dryRun) return new Set(leaves.map(({ id }) => id))
    await this.purger?.note(leaves.map(({ id }) => id))
    const ended = await endLeaves(this.couch, leaves)
    for (const id of ended.changed) this.note('changed', id, 'another program wrote it meanwhile')
    for (const { id, reason } of ended.refused) this.note('refused', id, reason)
    this.purger?.take(ended.gone)
    await this.purgeIfMany()
    return new Set(ended.gone.keys())
  }

  /** @param {Item[]} items @returns {Promise<Set<string>>} ids of tiles that were not removed */
  async #settle (items) {
    const { isStated } = this
    const byId = new Map(items.map(item => [item.id, item]))
    const layer = items[0].id.slice(0, items[0].id.indexOf(':'))
    const statements = this.statements.ofLayer(layer)
    const run = newRun(statements.lastRun)
    const deletedRevs = new Map()
    const send = async (docs, signal) => {
      const ended = new Set(docs.filter(({ _deleted }) => _deleted).map(({ _id }) => _id))
      await this.purger?.note([...ended])
      const answers = await this.access.send(docs, signal)
      for (const { id, rev, error } of answers) if (rev && !error && ended.has(id)) deletedRevs.set(id, rev)
      return answers
    }
    const readFacts = async ids => {
      const factsOf = await statements.readFacts(ids, { isFresh: true })
      return isStated ? factsOf : id => withoutRemoved(/** @type {Item} */ (byId.get(id)), factsOf(id), run)
    }
    const settled = await settleTiles({ ...this.access, send }, [...byId.keys()], { readFacts })
    this.purger?.take(deletedRevs)
    const notRemoved = new Set()
    for (const [id, { error, before }] of settled) {
      const times = new Set(byId.get(id)?.removed.map(({ time }) => time))
      const isRemoved = version => isStated ? statements.isRemoved(id, version.time, version.run) : version.run < run
      if (error) this.note('refused', id, error.message)
      else if (before.some(version => times.has(version.time) && !isRemoved(version))) {
        this.note('changed', id, 'it is stated by a run that began later, or whose clock is ahead')
      } else continue
      notRemoved.add(id)
    }
    return notRemoved
  }
}

/**
 * The statements about a tile, without the versions that this run removes.
 * @param {Item} item
 * @param {import('../../../core/store/plan.js').TileFacts} facts
 * @param {string} run
 * @returns {import('../../../core/store/plan.js').TileFacts}
 */
function withoutRemoved ({ versions, removed }, { statements, isRemoved }, run) {
  const times = new Set(removed.map(({ time }) => time))
  // the time in which each version was shown: later statements without a change in that span are removed, too
  const spans = removed.map(version => [version.time, versions[versions.indexOf(version) + 1]?.time ?? '~'])
  return {
    statements: statements.filter(({ time }) => !spans.some(([from, to]) => time >= from && time < to)),
    isRemoved: (time, by, version) =>
      isRemoved(time, by, version) || Boolean(version && by < run && times.has(version.time))
  }
}

/** The fields of a removal that define its scope. @param {Record<string, any>} removal */
const scopeOf = ({ since, until, area, zooms, tiles }) =>
  JSON.parse(JSON.stringify({ since, until, area, zooms, tiles }))
