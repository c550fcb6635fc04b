// Removes versions of tiles in bounded batches: first it writes a document that withdraws the statements (`removed:…`);
// then it settles the tiles (core/store/settle.js), so that a head whose version is removed falls back to the one
// before. A removal that was killed is finished by running it again. A load at the same time sees the document, or the
// removal sees the load.
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
  heard: 2000, // milliseconds between a deletion and its purge, in which followers of the store see the deletion
  passes: 5 // over a layer that is removed whole, while loads still write into it
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
 * @property {boolean} [dryRun] count, and write nothing
 * @property {boolean} [isStated] remove what `state` says, and nothing else
 * @property {AbortSignal} [signal] stops between two batches
 * @property {(what: 'changed' | 'refused', id: string, reason: string) => void} [note] a document was not removed;
 * unless given, it is counted
 * @property {(tally: RemovalTally) => void} [onProgress] after each batch
 * @property {Partial<typeof removeDefaults>} [limits]
 */

class RemovalTally extends Tally {
  tiles = 0 // that lost a version
  versions = 0 // removed; of a whole layer, documents: one that a head had fallen back to counts twice
  bytes = 0 // of their images
  heads = 0 // heads that were deleted with their tile
  fallen = 0 // heads that fell back to the version before
  purged = 0 // deletions that were purged
  unpurged = 0 // deletions of an earlier run, which was stopped before their purge
  changed = 0 // documents that another program wrote meanwhile: the next run looks at them again
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
  /** Ids of documents that were written by state(). @type {string[]} */
  #stated = []

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
    this.note = note ?? ((what, id, reason) => this.tally.note(what, id, reason))
    const onPurged = documents => { this.tally.purged += documents }
    this.purger = purge ? new Purger(this.couch, { heard: this.limits.heard, onPurged }) : undefined
    this.access = tileAccess(this.couch)
  }

  /** Checks that the store can purge, before anything is deleted; the first batch calls it as well. */
  async begin () {
    if (this.#begun) return
    this.#begun = true
    if (!this.purger) return
    await this.purger.check()
    this.tally.unpurged = await this.purger.readLeft()
  }

  /**
   * Writes what is to be removed, before anything is removed.
   * @param {string} layer
   * @param {object} what
   * @param {string} [what.since] exact
   * @param {string} [what.until]
   * @param {import('../../../core/area.js').Area} [what.area]
   * @param {import('../../../core/grid.js').Zooms} [what.zooms]
   * @param {string[]} [what.tiles] ids of heads
   * @param {boolean} [what.isFinished] nobody needs to finish it: its tiles are found again as they are
   * @returns {Promise<string>} the run of the removal, which concerns statements of earlier runs
   */
  async state (layer, { since, until, area, zooms, tiles, isFinished = false }) {
    await this.begin()
    const statements = this.statements.of(layer)
    await statements.open()
    const run = newRun(statements.lastRun)
    if (this.dryRun) return run
    const what = whatOf({ since, until, area: area?.toJSON(), zooms, tiles })
    // this one also finishes a removal of the same that was killed
    const left = statements.removals.filter(removal => !removal.finished && isDeepStrictEqual(what, whatOf(removal)))
    const finished = isFinished ? { finished: now() } : {}
    await this.couch.update(removedId(layer, run), () => ({ type: 'removed', layer, run, ...what, ...finished }))
    if (!isFinished) this.#stated.push(...left.map(({ id }) => id), removedId(layer, run))
    await statements.refresh()
    return run
  }

  /**
   * @param {ListedTile} tile as it was listed, with all of its versions
   * @param {Version[]} removed the versions to remove
   */
  async take ({ id, versions }, removed) {
    if (!removed.length) return
    this.#items.push({ id, versions, removed })
    if (this.#items.length >= this.limits.batch) await this.#flush()
  }

  /** Removes everything that was given to take(). */
  async flush () {
    await this.begin()
    await this.#flush()
  }

  /** @returns {Promise<RemovalTally>} */
  async finish () {
    await this.flush()
    const finish = removal => removal && { ...removal, finished: now() } // a move may have taken it to another name
    for (const id of this.#stated) await this.couch.update(id, finish)
    this.#stated = []
    if (!this.dryRun) await this.purger?.finish()
    return this.tally
  }

  /**
   * Deletes documents without settling tiles.
   * @param {import('./documents.js').Revision[]} leaves all leaves of each
   * @returns {Promise<Set<string>>} ids of those that were deleted
   */
  async end (leaves) {
    await this.begin()
    if (this.signal?.aborted) throw new TilecouchError('ABORTED')
    if (this.dryRun) return new Set(leaves.map(({ id }) => id))
    await this.purger?.note(leaves.map(({ id }) => id))
    const ended = await endLeaves(this.couch, leaves)
    for (const id of ended.changed) this.note('changed', id, 'another program wrote it meanwhile')
    for (const { id, reason } of ended.refused) this.note('refused', id, reason)
    await this.purger?.take(ended.gone)
    return new Set(ended.gone.keys())
  }

  async #flush () {
    const items = this.#items
    if (!items.length) return
    await this.begin()
    if (this.signal?.aborted) throw new TilecouchError('ABORTED')
    this.#items = []
    const refused = this.dryRun ? new Set() : await this.#settle(items)
    for (const item of items) if (!refused.has(item.id)) this.tally.add(item)
    this.onProgress?.(this.tally)
  }

  /** @param {Item[]} items @returns {Promise<Set<string>>} ids of tiles that were not removed */
  async #settle (items) {
    const { isStated } = this
    const byId = new Map(items.map(item => [item.id, item]))
    const layer = items[0].id.slice(0, items[0].id.indexOf(':'))
    const statements = this.statements.of(layer)
    const run = newRun(statements.lastRun)
    const gone = new Map()
    const send = async (docs, signal) => {
      const ended = new Set(docs.filter(({ _deleted }) => _deleted).map(({ _id }) => _id))
      await this.purger?.note([...ended])
      const answers = await this.access.send(docs, signal)
      for (const { id, rev, error } of answers) if (rev && !error && ended.has(id)) gone.set(id, rev)
      return answers
    }
    const knownOf = async ids => {
      const knownOfTile = await statements.knownOf(ids, { isFresh: true })
      return isStated ? knownOfTile : id => without(/** @type {Item} */ (byId.get(id)), knownOfTile(id), run)
    }
    const settled = await settleTiles({ ...this.access, send }, [...byId.keys()], { knownOf })
    await this.purger?.take(gone)
    const refused = new Set()
    for (const [id, { error, before }] of settled) {
      const times = new Set(byId.get(id)?.removed.map(({ time }) => time))
      const isRemoved = version => isStated ? statements.isRemoved(id, version.time, version.run) : version.run < run
      if (error) this.note('refused', id, error.message)
      else if (before.some(version => times.has(version.time) && !isRemoved(version))) {
        this.note('changed', id, 'it is stated by a run that began later, or whose clock is ahead')
      } else continue
      refused.add(id)
    }
    return refused
  }
}

/**
 * What is known of a tile, without the versions that this run removes.
 * @param {Item} item
 * @param {import('../../../core/store/plan.js').Known} known
 * @param {string} run
 * @returns {import('../../../core/store/plan.js').Known}
 */
function without ({ versions, removed }, { statements, isRemoved }, run) {
  const times = new Set(removed.map(({ time }) => time))
  // how long each was shown: statements of that time, which changed nothing, are removed with it
  const spans = removed.map(version => [version.time, versions[versions.indexOf(version) + 1]?.time ?? '~'])
  return {
    statements: statements.filter(({ time }) => !spans.some(([from, to]) => time >= from && time < to)),
    isRemoved: (time, by, version) =>
      isRemoved(time, by, version) || Boolean(version && by < run && times.has(version.time))
  }
}

/** The fields of a removal that say what it concerns. @param {Record<string, any>} removal */
const whatOf = ({ since, until, area, zooms, tiles }) =>
  JSON.parse(JSON.stringify({ since, until, area, zooms, tiles }))
