// Removes versions of tiles in bounded batches: first it writes a document that withdraws the statements (`removed:…`), which
// is only ever added; then it settles the tiles (core/store/settle.js), so that a head whose version goes falls back to the one
// before. A removal that was killed is finished by running it again. A load at the same time sees the document or is seen.
import { isDeepStrictEqual } from 'node:util'
import { now, removedId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { newRun } from '../../core/runs.js'
import { LayerStatements } from '../../core/store/statements.js'
import { settleTiles } from '../../core/store/settle.js'
import { tileAccess } from '../store/settle.js'
import { Tally } from '../tally.js'
import { endLeaves } from './documents.js'
import { Purger } from './purge.js'

export const removeDefaults = {
  batch: 500, // documents that go in one request
  heard: 2000, // milliseconds between a deletion and its purge, in which followers of the store see the deletion
  passes: 5 // over a layer that is removed whole, while loads still write into it
}

/**
 * @typedef {import('../store/list.js').ListedTile} ListedTile
 * @typedef {ListedTile['versions'][0]} Version
 * @typedef {{id: string, versions: Version[], doomed: Version[]}} Item doomed: versions to be removed
 *
 * @typedef {Omit<RemovalTally, 'add' | 'note' | 'name'>} Removed the counts of a removal
 *
 * @typedef {object} RemoverOptions
 * @property {boolean} [purge] leave no trace, not even of the deletion
 * @property {boolean} [dryRun] count, and write nothing
 * @property {boolean} [isStated] remove what `state` says, and nothing else
 * @property {AbortSignal} [signal] stops between two batches
 * @property {(tally: RemovalTally) => void} [onProgress] after each batch
 * @property {Partial<typeof removeDefaults>} [limits]
 */

export class RemovalTally extends Tally {
  tiles = 0 // that lost a version
  versions = 0 // removed; of a whole layer, documents: one that a head had fallen back to counts twice
  bytes = 0 // of their images
  heads = 0 // heads that were deleted with their tile
  fallen = 0 // heads that fell back to the version before
  purged = 0 // deletions of which no trace is left
  changed = 0 // documents that another program wrote meanwhile: the next run looks at them again
  refused = 0 // documents that the store did not delete

  /** A tile of which versions were removed. @param {Item} item */
  add ({ versions, doomed }) {
    this.tiles++
    this.versions += doomed.length
    for (const { size } of doomed) this.bytes += size
    const head = versions[versions.length - 1]
    if (head.current && doomed.includes(head)) this[doomed.length === versions.length ? 'heads' : 'fallen']++
  }
}

export class Remover {
  /** @type {Item[]} */
  #items = []
  #begun = false
  /** Ids of documents that were written by state(). @type {string[]} */
  #stated = []
  /** @type {LayerStatements | undefined} */
  #said

  /** @param {import('../store/index.js').Store} store @param {RemoverOptions} [options] */
  constructor (store, { purge = false, dryRun = false, isStated = false, signal, onProgress, limits } = {}) {
    this.couch = store.couch
    this.dryRun = dryRun
    this.isStated = isStated
    this.signal = signal
    this.onProgress = onProgress
    this.limits = { ...removeDefaults, ...limits }
    this.tally = new RemovalTally()
    this.purger = purge ? new Purger(this.couch, { heard: this.limits.heard, onPurged: documents => { this.tally.purged += documents } }) : undefined
    this.access = tileAccess(this.couch)
  }

  /** Checks that the store can purge, before anything is deleted; the first batch does it if nobody else did. */
  async begin () {
    if (this.#begun) return
    this.#begun = true
    await this.purger?.check()
  }

  /** All statements about a layer. @param {string} layer */
  saidOf (layer) {
    if (this.#said?.layer !== layer) this.#said = new LayerStatements(this.couch, layer)
    return this.#said
  }

  /**
   * Writes what is to be removed, before anything is. Answers the run of the removal: it concerns statements of earlier runs,
   * and none of later ones.
   * @param {string} layer
   * @param {object} what
   * @param {string} [what.since] exact
   * @param {string} [what.until]
   * @param {import('../../core/area.js').Area} [what.area]
   * @param {import('../../core/grid.js').Zooms} [what.zooms]
   * @param {string[]} [what.tiles] ids of heads
   * @param {string} [what.run] unless it begins now
   */
  async state (layer, { since, until, area, zooms, tiles, run = '' }) {
    await this.begin()
    run ||= await this.newRun(layer)
    const said = this.saidOf(layer)
    if (this.dryRun) return run
    const what = JSON.parse(JSON.stringify({ since, until, area: area?.toJSON(), zooms, tiles }))
    // the same removal that was killed before is finished by this one
    const left = said.removals.filter(removal => !removal.finished && isDeepStrictEqual(what, whatOf(removal)))
    await this.couch.update(removedId(layer, run), () => ({ type: 'removed', layer, run, ...what }))
    this.#stated.push(...left.map(({ id }) => id), removedId(layer, run))
    await said.refresh()
    return run
  }

  /** A run that is greater than all known runs of a layer. @param {string} layer */
  async newRun (layer) {
    const said = this.saidOf(layer)
    await said.open()
    return newRun(said.lastRun)
  }

  /**
   * @param {ListedTile} tile as it was listed, with all of its versions
   * @param {Version[]} doomed the versions to remove
   */
  async take ({ id, versions }, doomed) {
    if (!doomed.length) return
    this.#items.push({ id, versions, doomed })
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
    for (const id of this.#stated) await this.couch.update(id, removal => ({ ...removal, finished: now() }))
    this.#stated = []
    await this.purger?.finish()
    return this.tally
  }

  /**
   * Removes documents that are no tiles, or not as tiles.
   * @param {{_id: string, _rev: string}[]} docs every leaf of each
   * @returns {Promise<Set<string>>} ids of those that were deleted
   */
  async end (docs) {
    await this.begin()
    if (this.signal?.aborted) throw new TilecouchError('ABORTED')
    if (this.dryRun) return new Set(docs.map(({ _id }) => _id))
    const ended = await endLeaves(this.couch, docs.map(({ _id: id, _rev: rev }) => ({ id, rev })))
    for (const id of ended.changed) this.tally.note('changed', id, 'another program wrote it meanwhile')
    for (const { id, reason } of ended.refused) this.tally.note('refused', id, reason)
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

  /** @param {Item[]} items @returns {Promise<Set<string>>} ids of those that did not go */
  async #settle (items) {
    const { access, isStated } = this
    const byId = new Map(items.map(item => [item.id, item]))
    const layer = items[0].id.slice(0, items[0].id.indexOf(':'))
    const said = this.saidOf(layer)
    const run = newRun(said.lastRun)
    const gone = new Map()
    const send = access.send
    const settled = await settleTiles({ ...access, send: async (docs, until) => {
      const answers = await send(docs, until)
      const ended = new Set(docs.filter(({ _deleted }) => _deleted).map(({ _id }) => _id))
      for (const { id, rev, error } of answers) if (rev && !error && ended.has(id)) gone.set(id, rev)
      return answers
    } }, [...byId.keys()], {
      knownOf: async ids => {
        const known = await said.knownOf(ids, { isFresh: true })
        return id => {
          const { statements, isRemoved } = known(id)
          if (isStated) return { statements, isRemoved }
          const item = /** @type {Item} */ (byId.get(id))
          const times = new Set(item.doomed.map(({ time }) => time))
          const spans = spansOf(item)
          return {
            statements: statements.filter(({ time }) => !spans.some(([from, to]) => time >= from && time < to)),
            isRemoved: (time, by, version) => isRemoved(time, by, version) || Boolean(version && by < run && times.has(version.time))
          }
        }
      }
    })
    await this.purger?.take(gone)
    const refused = new Set()
    for (const [id, { error, before }] of settled) {
      const times = new Set(byId.get(id)?.doomed.map(({ time }) => time))
      const isMeant = version => isStated ? said.isRemoved(id, version.time, version.run) : version.run < run
      if (error) this.tally.note('refused', id, error.message)
      else if (before.some(version => times.has(version.time) && !isMeant(version))) {
        this.tally.note('changed', id, 'it is stated by a run that began later, or whose clock is ahead')
      } else continue
      refused.add(id)
    }
    return refused
  }
}

/** The fields that say what a removal concerns. @param {Partial<import('../../core/store/statements.js').Removal>} removal */
const whatOf = ({ since, until, area, zooms, tiles }) => JSON.parse(JSON.stringify({ since, until, area, zooms, tiles }))

/** When each version was shown: statements of that time, which changed nothing, are removed with it. @param {Item} item */
const spansOf = ({ versions, doomed }) => doomed.map(version => {
  const next = versions[versions.indexOf(version) + 1]
  return [version.time, next?.time ?? '~']
})
