// Removes versions of tiles in bounded batches. What goes is said first, as a fact that is only ever added (`removed:…`), then
// the tiles are settled (core/store/settle.js): a head whose version goes falls back to the one before. Whatever is killed
// between two requests, running it again goes on, and a load that is on its way sees the fact or is seen.
import { isDeepStrictEqual } from 'node:util'
import { TilecouchError, now, removedId } from '../../core/index.js'
import { newRun } from '../../core/runs.js'
import { LayerStatements } from '../../core/store/statements.js'
import { settleTiles } from '../../core/store/settle.js'
import { doorOf } from '../store/settle.js'
import { removeDefaults } from './defaults.js'
import { endLeaves } from './documents.js'
import { Purger } from './purge.js'
import { Count } from './tally.js'

/**
 * @typedef {import('../store/list.js').ListedTile} ListedTile
 * @typedef {ListedTile['versions'][0]} Version
 * @typedef {import('./tally.js').Tally} Tally
 * @typedef {{id: string, versions: Version[], doomed: Version[]}} Item
 *
 * @typedef {object} RemoverOptions
 * @property {boolean} [purge] leaves nothing of what was deleted, not even that it was
 * @property {boolean} [dryRun] counts, and writes nothing
 * @property {boolean} [isStated] what goes is what `state` says, and nothing else
 * @property {AbortSignal} [signal] heard between two batches
 * @property {(tally: Tally) => void} [onProgress] after each batch
 * @property {Partial<typeof removeDefaults>} [limits]
 */

export class Remover {
  /** @type {Item[]} */
  #items = []
  #begun = false
  /** Facts that were written. @type {string[]} */
  #facts = []
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
    this.count = new Count(this.limits.named)
    this.purger = purge ? new Purger(this.couch, { heard: this.limits.heard, onPurged: documents => { this.tally.purged += documents } }) : undefined
    this.door = doorOf(this.couch)
  }

  get tally () {
    return this.count.tally
  }

  /** What has to be before anything is deleted. The first batch sees to it where nobody else does. */
  async begin () {
    if (this.#begun) return
    this.#begun = true
    await this.purger?.check()
  }

  /** What editions have said of a layer. @param {string} layer */
  saidOf (layer) {
    if (this.#said?.layer !== layer) this.#said = new LayerStatements(this.couch, layer)
    return this.#said
  }

  /**
   * Says what goes, before anything does. Answers the run of the removal: what was said before it is meant, and nothing that
   * is said later.
   * @param {string} layer
   * @param {{since?: string, until?: string, area?: import('../../core/area.js').Area, zooms?: import('../../core/grid.js').Zooms, tiles?: string[], run?: string}} fact times: exact; tiles: ids of
   * heads; run: unless it begins now
   */
  async state (layer, { since, until, area, zooms, tiles, run = '' }) {
    await this.begin()
    run ||= await this.newRun(layer)
    const said = this.saidOf(layer)
    if (this.dryRun) return run
    const what = JSON.parse(JSON.stringify({ since, until, area: area?.toJSON(), zooms, tiles }))
    // one that was killed is finished by the same one that is run again
    const left = said.removals.filter(fact => !fact.finished && isDeepStrictEqual(what, whatOf(fact)))
    await this.couch.update(removedId(layer, run), () => ({ type: 'removed', layer, run, ...what }))
    this.#facts.push(...left.map(({ id }) => id), removedId(layer, run))
    await said.refresh()
    return run
  }

  /** A run that is greater than all that is known of a layer. @param {string} layer */
  async newRun (layer) {
    const said = this.saidOf(layer)
    await said.open()
    return newRun(said.lastRun)
  }

  /**
   * @param {ListedTile} tile as it was listed, with all of its versions
   * @param {Version[]} doomed those that go
   */
  async take ({ id, versions }, doomed) {
    if (!doomed.length) return
    this.#items.push({ id, versions, doomed })
    if (this.#items.length >= this.limits.batch) await this.#flush()
  }

  /** Everything that was taken has gone, or is told to have been refused. */
  async flush () {
    await this.begin()
    await this.#flush()
  }

  /** @returns {Promise<Tally>} */
  async finish () {
    await this.flush()
    for (const id of this.#facts) await this.couch.update(id, fact => ({ ...fact, finished: now() }))
    this.#facts = []
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
    const refused = this.dryRun ? new Set() : await this.#settle(items)
    for (const item of items) if (!refused.has(item.id)) this.#went(item)
    this.onProgress?.(this.tally)
  }

  /** @param {Item} item */
  #went ({ versions, doomed }) {
    this.count.went(doomed.map(({ size }) => size))
    const head = versions[versions.length - 1]
    if (!head.current || !doomed.includes(head)) return
    this.tally[doomed.length === versions.length ? 'heads' : 'fallen']++
  }

  /** @param {Item[]} items @returns {Promise<Set<string>>} ids of those that did not go */
  async #settle (items) {
    const { door, isStated } = this
    const byId = new Map(items.map(item => [item.id, item]))
    const layer = items[0].id.slice(0, items[0].id.indexOf(':'))
    const said = this.saidOf(layer)
    const run = newRun(said.lastRun)
    const gone = new Map()
    const send = door.send
    const settled = await settleTiles({ ...door, send: async (docs, until) => {
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
      if (error) this.count.tell('refused', id, error.message)
      else if (before.some(version => times.has(version.time) && !isMeant(version))) this.count.tell('changed', id, 'a run that began later has said it, or one whose clock is ahead')
      else continue
      refused.add(id)
    }
    return refused
  }
}

/** What a removal takes out. @param {Partial<import('../../core/store/statements.js').Removal>} removal */
const whatOf = ({ since, until, area, zooms, tiles }) => JSON.parse(JSON.stringify({ since, until, area, zooms, tiles }))

/** From when until when each version was shown: what was said meanwhile, and changed nothing, goes with it. @param {Item} item */
const spansOf = ({ versions, doomed }) => doomed.map(version => {
  const next = versions[versions.indexOf(version) + 1]
  return [version.time, next?.time ?? '~']
})
