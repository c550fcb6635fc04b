// Updates the trees of a layer to the state of the store, and keeps them up to date. It does one step at a time: a
// round of changes, or a part of the comparison of all tiles. Later reads are written later, so no file becomes older.
import path from 'node:path'
import pMap from 'p-map'
import { TEMPORARY_CODES } from '../../../core/errors.js'
import { chunks } from '../../../core/lists.js'
import { pause } from '../../../core/promises.js'
import { compareIds, selectorOf } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { canContinue, feedPosition } from '../../../core/feed-position.js'
import { childSignal } from '../../child-signal.js'
import { Follower, followDefaults } from '../../store/follow.js'
import { Changes, changeDefaults, readChanges, readHeads, readPast } from './changes.js'
import { Comparison } from './comparison.js'
import { Files } from './files.js'
import { bootOf, readState, selectionOf, writeState } from './state.js'
import { TileWriter } from './tiles.js'
import { Trees } from './trees.js'

export const treeDefaults = {
  gather: 150, // milliseconds for which changes are collected: the changes of a load come together
  round: 500, // tiles per round
  looks: 16, // tiles whose files are checked at the same time
  look: 1000, // milliseconds between two steps without changes
  heartbeat: followDefaults.heartbeat, // milliseconds between two heartbeats of the store
  keepEvery: 10000, // milliseconds after which the state is written without a change of the layer
  longestWait: 5000, // milliseconds between two tries while the store is unreachable
  mostChanges: changeDefaults.most, // changed tiles in memory; with more, all tiles are compared
  mostTouched: 500000, // tiles that may change during a comparison; more changes wait for its end
  mostMissing: 5 // rounds in which a listed version may be missing, before it is left out
}

/** Errors after which it tries again. A missing layer may come back, and its trees may be the last copy. */
const TEMPORARY = new Set([...TEMPORARY_CODES, 'INDEX_MISSING', 'LAYER_NOT_FOUND'])

export class TreeWriter {
  /** @type {Comparison | undefined} */
  #comparison
  #compared = new Set() // times of the trees that are compared
  #place = /** @type {import('../../store/follow.js').FeedPosition} */ (/** @type {unknown} */ (undefined))
  #writtenAt = 0
  #isComplete = false
  #removals = false // the last batch had removals
  #store = '' // identity of the store
  #boot = ''
  #isOfStore = false // the files come from this store and not from another one
  #writing = Promise.resolve()
  #reset = false
  /** @type {Map<string, number>} */
  #missingRounds = new Map()
  /** @type {Follower | undefined} */
  #follower
  #storeError
  #lastState = ''
  #wake = () => {}

  /**
   * @param {import('../../store/index.js').Store} store
   * @param {import('./paths.js').Paths} paths
   * @param {import('./index.js').TreeOptions} options
   */
  constructor (store, paths, options) {
    const { area, zooms, editions = true, signal, onTree, onProgress, onState, limits } = options
    const files = new Files(paths.tmp, path.dirname(paths.tree()))
    this.store = store
    this.paths = paths
    this.tileWriter = new TileWriter(store, files, { signal })
    this.tileWriter.saveTimes = () => this.tileWriter.times.isChanged ? this.#writeState() : this.#writing
    this.trees = new Trees(store, paths, files, { editions, onTree })
    this.trees.onEnd = time => this.tileWriter.endEdition(time)
    this.limits = { ...treeDefaults, ...limits }
    this.changes = new Changes(paths.layer, { selected: selectorOf(area, zooms), most: this.limits.mostChanges })
    this.selection = selectionOf({ area, zooms, editions })
    this.listing = { area, zooms }
    this.signal = signal
    this.onProgress = onProgress
    this.onState = onState
  }

  /** Whether the trees were complete and right at some moment. Later changes may be missing. */
  get isComplete () {
    return this.#isComplete
  }

  /** @param {{follow: boolean, adopted: boolean}} options adopted: there are files of an unknown store */
  async run ({ follow, adopted }) {
    try {
      await this.#begin(adopted)
      if (follow) this.#listen()
      for (let tries = 0; ;) {
        try {
          if (this.signal?.aborted) throw new TilecouchError('ABORTED')
          if (await this.#runStep(follow)) return
          this.#storeError = undefined
          tries = 0
        } catch (error) {
          if (!follow || !TEMPORARY.has(error.code)) throw error
          this.#storeError = error
          this.#showState()
          await this.#dropComparison()
          await this.#pause(Math.min(250 * 2 ** tries++, this.limits.longestWait))
        }
      }
    } finally {
      await this.#follower?.close()
      await this.#comparison?.close().catch(() => {})
      await this.trees.close()
    }
  }

  /** Does one step. @returns {Promise<boolean>} whether the export is finished */
  async #runStep (follow) {
    this.#showState()
    if (this.#reset) await this.#begin(false)
    if (!this.#isAllCompared()) await this.#compare(!this.#isComplete)
    const isAdrift = this.#follower && !this.#follower.isAnchored
    const isCrowded = this.#comparison && this.#comparison.touched.size > this.limits.mostTouched
    if (this.changes.any && !isAdrift && !isCrowded) {
      if (follow && !this.#comparison) await this.#pause(this.limits.gather)
      await this.#writeChanges()
    } else if (this.#comparison) await this.#compareStep()
    else if (follow) await this.#idle()
    else return !await this.#catchUp()
    return false
  }

  /** Reads the state, and decides where to continue. */
  async #begin (adopted) {
    const { store, paths } = this
    await store.layer(paths.layer)
    this.#reset = false
    const state = await readState(paths.state)
    const position = feedPosition(await store.info())
    const identity = await store.identity()
    this.#boot = await bootOf()
    this.#isOfStore = state ? state.store === identity : !adopted
    this.tileWriter.times.open(state?.spent)
    this.#store = identity
    const isSame = state?.store === identity && state.selection === this.selection && state.boot === this.#boot
    // a follower that began again has not reported the changes since the place of the state
    const mayContinue = isSame && !this.#follower && canContinue(state.place, position)
    this.#isComplete = Boolean(mayContinue && state.whole)
    // the place before the first read, so that no change is missed; a follower that began again already has one
    this.#place = this.#isComplete && state ? state.place : this.#follower?.position ?? position
    await this.#writeState()
    await this.trees.arrange()
    if (!this.#isComplete) await this.#compare(true)
  }

  #listen () {
    this.#follower = new Follower(this.store, {
      position: this.#place,
      onChange: ({ id, deleted }) => {
        this.changes.add(id, deleted)
        this.#wake()
      },
      onReset: () => {
        this.#reset = Boolean(this.#follower?.isAnchored)
        this.#wake()
      },
      limits: { heartbeat: this.limits.heartbeat }
    })
    this.#follower.start()
  }

  async #writeChanges () {
    const batch = this.changes.take()
    const place = this.#follower?.position ?? this.#place
    try {
      if (batch.overflow) await this.#compare(true)
      if (batch.editions) await this.trees.arrange()
      // a removal may begin in one batch and end in the next one
      if (batch.removals || this.#removals) for (const change of batch.tiles.values()) change.deleted = true
      const ids = [...batch.tiles.keys()].sort(compareIds)
      for (const chunk of chunks(ids, this.limits.round)) {
        await this.#updateTiles(chunk, batch.tiles)
      }
    } catch (error) {
      this.changes.restore(batch)
      throw error
    }
    this.#removals = batch.removals
    this.#place = place
    await this.#writeState()
  }

  async #updateTiles (ids, changes) {
    for (const id of ids) this.#comparison?.touched.add(id)
    const heads = await readHeads(this.store.couch, ids, this.signal)
    const times = heads.flatMap(({ id, versions: [head] }) => [...changes.get(id).times, ...(head ? [head.time] : [])])
    await this.trees.unlinkWrong(new Set(times))
    const { list } = this.trees
    // the times of files are not reliable while all tiles are compared
    const pastIds = ids.flatMap(id => changes.get(id).times.map(time => `${id}@${time}`))
    const stored = await this.store.versionsById(pastIds, { signal: this.signal })
    const isRight = head =>
      !this.#comparison && this.tileWriter.isPastRight(head, changes.get(head.id), list.slice(1), stored)
    const isPastRight = await pMap(heads, isRight, { concurrency: this.limits.looks })
    const unsureHeads = heads.filter((head, index) => !isPastRight[index])
    const sureHeads = heads.filter((head, index) => isPastRight[index])
    const changedIds = await this.tileWriter.update(sureHeads, list, { check: list.slice(0, 1), heads: true })
    if (unsureHeads.length) {
      changedIds.push(...await this.tileWriter.update(await readPast(this.store.couch, unsureHeads, this.signal), list))
    }
    for (const id of ids) if (!changedIds.includes(id)) this.#missingRounds.delete(id)
    for (const id of changedIds) this.#readAgain(id)
    this.onProgress?.(this.tileWriter.tally)
  }

  #readAgain (id) {
    const rounds = (this.#missingRounds.get(id) ?? 0) + 1
    this.#missingRounds.set(id, rounds)
    if (rounds <= this.limits.mostMissing) this.changes.addUnsure(id)
    else this.tileWriter.fail({ id, reason: 'the store lists a version that it does not have' })
  }

  /** @param {boolean} everything false: only the unfinished trees */
  async #compare (everything) {
    await this.#comparison?.close()
    if (everything && this.#isComplete) {
      this.#isComplete = false
      await this.#writeState()
    }
    this.tileWriter.trust = !everything
    this.#compared = new Set(this.trees.unfinished.map(({ time }) => time))
    this.#comparison = new Comparison(this.store, this.paths.layer, this.tileWriter, {
      trees: () => this.trees.list, check: tree => everything || !tree.complete, ...this.listing, signal: this.signal
    })
  }

  /** Whether all trees are right or being compared. */
  #isAllCompared () {
    const { unfinished } = this.trees
    if (!this.#comparison) return this.#isComplete && !unfinished.length
    return unfinished.every(({ time }) => this.#compared.has(time))
  }

  /** Ends a comparison that failed. It must begin again, because tiles and the rest of the list are lost. */
  async #dropComparison () {
    await this.#comparison?.close().catch(() => {})
    this.#comparison = undefined
  }

  async #compareStep () {
    const comparison = /** @type {Comparison} */ (this.#comparison)
    const { done, again: changedIds } = await comparison.step()
    for (const id of changedIds) this.#readAgain(id)
    this.onProgress?.(this.tileWriter.tally)
    if (!done) return
    if (this.changes.tiles.size) await this.#writeChanges()
    // with too many changes, another comparison has begun
    if (this.#comparison !== comparison || !this.#isAllCompared()) return
    this.#comparison = undefined
    await this.trees.finish()
    this.#isComplete = true
    this.tileWriter.trust = this.#isOfStore = true
    await this.#writeState()
  }

  async #idle () {
    const place = this.#follower?.position
    if (place && place.since !== this.#place.since && Date.now() - this.#writtenAt > this.limits.keepEvery) {
      this.#place = place
      await this.#writeState()
    }
    await this.#pause(this.limits.look, true)
  }

  /** Without following: reads the changes since the place. @returns {Promise<boolean>} whether there are any */
  async #catchUp () {
    const onChange = (id, deleted) => this.changes.add(id, deleted)
    const since = await readChanges(this.store.couch, this.#place.since, { signal: this.signal, onChange })
    this.#place = { ...this.#place, since }
    if (!this.changes.any) await this.#writeState()
    return this.changes.any
  }

  #writeState () {
    const { times } = this.tileWriter
    this.#writtenAt = Date.now()
    times.isChanged = false
    const state = {
      place: this.#place,
      whole: this.#isComplete,
      selection: this.selection,
      store: this.#isOfStore ? this.#store : '',
      spent: times.list,
      boot: this.#boot
    }
    return (this.#writing = this.#writing.then(() => writeState(this.paths.state, state, this.paths.tmp)))
  }

  /** @param {boolean} [wakes] the pause ends when a change comes */
  async #pause (ms, wakes = false) {
    const waiting = childSignal(this.signal)
    if (wakes) this.#wake = waiting.end
    if (wakes && (this.changes.any || this.#reset)) waiting.end()
    await pause(ms, waiting.signal)
    waiting.end()
    this.#wake = () => {}
  }

  #showState () {
    if (!this.onState || !this.#follower) return
    const { up, error } = this.#follower.state
    const errorCode = this.#storeError?.code ?? error
    const upState = up ? 'following' : ''
    const activity = this.#comparison ? 'comparing' : upState
    const state = this.#storeError || (!up && error) ? 'away' : activity
    if (!state || this.#lastState === `${state} ${state === 'away' ? errorCode : ''}`) return
    this.#lastState = `${state} ${state === 'away' ? errorCode : ''}`
    this.onState({ state, ...(state === 'away' && { error: errorCode, reason: this.#storeError?.message }) })
  }
}
