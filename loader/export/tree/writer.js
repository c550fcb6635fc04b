// Brings the trees of a layer to what the store is, and keeps them there. One thing is done at a time: a round of
// changes, or a step of a comparison of everything. What is read later is written later, so no file goes back in time.
import path from 'node:path'
import pMap from 'p-map'
import { chunks } from '../../../core/lists.js'
import { pause } from '../../../core/promises.js'
import { compareIds, selectorOf } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { canContinue, feedPosition } from '../../../core/feed-position.js'
import { Follower, childSignal, followDefaults } from '../../store/follow.js'
import { Changes, readChanges, readHeads, readPast } from './changes.js'
import { Comparison } from './comparison.js'
import { Files } from './files.js'
import { bootOf, readState, selectionOf, writeState } from './state.js'
import { TileWriter } from './tiles.js'
import { Trees } from './trees.js'

export const treeDefaults = {
  gather: 150, // milliseconds for which changes are gathered: those of one load come together
  round: 500, // tiles read and written at once
  looks: 16, // tiles whose files are looked at, at once
  look: 1000, // milliseconds between two looks at how it goes, when nothing happens
  heartbeat: followDefaults.heartbeat, // milliseconds between two signs of life of the store
  keepEvery: 10000, // milliseconds after which the state is written although nothing of the layer has changed
  longestWait: 5000, // milliseconds between two tries while the store is away
  mostTouched: 500000, // tiles that may change during a comparison; then changes wait for its end
  mostMissing: 5 // rounds in which a version that is listed may be nowhere, before it is left out
}

/** Errors that pass: the store is waited for. A missing layer may come back, and its trees may be the last copy. */
const PASSING = new Set([
  'UNREACHABLE', 'BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR', 'DATABASE_NOT_FOUND', 'UNAUTHORIZED', 'FORBIDDEN',
  'INDEX_MISSING', 'LAYER_NOT_FOUND'
])

export class TreeWriter {
  /** @type {Comparison | undefined} */
  #comparison
  #compared = new Set() // times of the trees that the comparison is of
  #place = /** @type {import('../../store/follow.js').FeedPosition} */ (/** @type {unknown} */ (undefined))
  #writtenAt = 0
  #isComplete = false
  #removals = false // in the batch before
  #store = '' // the one that is exported now
  #boot = ''
  #isOfStore = false // the files are of this store, and not of another
  #writing = Promise.resolve()
  #reset = false
  /** @type {Map<string, number>} */
  #missing = new Map()
  /** @type {Follower | undefined} */
  #follower
  #trouble
  #shown = ''
  #wake = () => {}

  /**
   * @param {import('../../store/index.js').Store} store
   * @param {import('./paths.js').Paths} paths
   * @param {import('./index.js').TreeOptions} options
   */
  constructor (store, paths, options) {
    const { area, zooms, editions = true, signal, onTree, onProgress, onState, mostChanges, limits } = options
    const files = new Files(paths.tmp, path.dirname(paths.tree()))
    this.store = store
    this.paths = paths
    this.tileWriter = new TileWriter(store, files, { signal })
    this.tileWriter.saveTimes = () => this.tileWriter.times.isChanged ? this.#writeState() : this.#writing
    this.trees = new Trees(store, paths, files, { editions, onTree })
    this.trees.onEnd = time => this.tileWriter.endEdition(time)
    this.changes = new Changes(paths.layer, { selected: selectorOf(area, zooms), most: mostChanges })
    this.selection = selectionOf({ area, zooms, editions })
    this.listing = { area, zooms }
    this.limits = { ...treeDefaults, ...limits }
    this.signal = signal
    this.onProgress = onProgress
    this.onState = onState
  }

  /** Whether everything that is shown was right at some moment; there may be more to come. */
  get isComplete () {
    return this.#isComplete
  }

  /** @param {{follow: boolean, adopted: boolean}} options adopted: there are files, of an unknown store */
  async run ({ follow, adopted }) {
    try {
      await this.#begin(adopted)
      if (follow) this.#listen()
      for (let tries = 0; ;) {
        try {
          if (this.signal?.aborted) throw new TilecouchError('ABORTED')
          if (await this.#next(follow)) return
          this.#trouble = undefined
          tries = 0
        } catch (error) {
          if (!follow || !PASSING.has(error.code)) throw error
          this.#trouble = error
          this.#showState()
          await this.#drop()
          await this.#pause(Math.min(250 * 2 ** tries++, this.limits.longestWait))
        }
      }
    } finally {
      await this.#follower?.close()
      await this.#comparison?.close().catch(() => {})
      await this.trees.close()
    }
  }

  /** One step. @returns {Promise<boolean>} whether it is done */
  async #next (follow) {
    this.#showState()
    if (this.#reset) await this.#begin(false)
    if (!this.#isAllRight()) await this.#compare(!this.#isComplete)
    const isAdrift = this.#follower && !this.#follower.isAnchored
    const isCrowded = this.#comparison && this.#comparison.touched.size > this.limits.mostTouched
    if (this.changes.any && !isAdrift && !isCrowded) {
      if (follow && !this.#comparison) await this.#pause(this.limits.gather)
      await this.#round()
    } else if (this.#comparison) await this.#step()
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
    this.#isComplete = Boolean(isSame && state.whole && canContinue(state.place, position))
    // the place before anything is read, so that nothing is missed; a follower that had to begin again has one already
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

  async #round () {
    const batch = this.changes.take()
    const place = this.#follower?.position ?? this.#place
    try {
      if (batch.overflow) await this.#compare(true)
      if (batch.editions) await this.trees.arrange()
      // what is one batch of the feed may have begun in the one before
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
    // while everything is compared, files prove nothing
    const pastIds = ids.flatMap(id => changes.get(id).times.map(time => `${id}@${time}`))
    const stored = await this.store.versionsById(pastIds, { signal: this.signal })
    const isRight = head =>
      !this.#comparison && this.tileWriter.isPastRight(head, changes.get(head.id), list.slice(1), stored)
    const certain = await pMap(heads, isRight, { concurrency: this.limits.looks })
    const others = heads.filter((head, at) => !certain[at])
    const right = heads.filter((head, at) => certain[at])
    const again = await this.tileWriter.update(right, list, { check: list.slice(0, 1), heads: true })
    if (others.length) {
      again.push(...await this.tileWriter.update(await readPast(this.store.couch, others, this.signal), list))
    }
    for (const id of ids) if (!again.includes(id)) this.#missing.delete(id)
    for (const id of again) this.#readAgain(id)
    this.onProgress?.(this.tileWriter.tally)
  }

  #readAgain (id) {
    const times = (this.#missing.get(id) ?? 0) + 1
    this.#missing.set(id, times)
    if (times <= this.limits.mostMissing) this.changes.addUnsure(id)
    else this.tileWriter.fail({ id, reason: 'the store lists a version that it does not have' })
  }

  /** @param {boolean} everything or only the unfinished trees */
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

  /** Whether everything that is not known to be right is being compared. */
  #isAllRight () {
    const { unfinished } = this.trees
    if (!this.#comparison) return this.#isComplete && !unfinished.length
    return unfinished.every(({ time }) => this.#compared.has(time))
  }

  /** A comparison that broke off has lost what it had read, and the rest of the list: it begins again. */
  async #drop () {
    await this.#comparison?.close().catch(() => {})
    this.#comparison = undefined
  }

  async #step () {
    const { done, again } = await /** @type {Comparison} */ (this.#comparison).step()
    for (const id of again) this.#readAgain(id)
    this.onProgress?.(this.tileWriter.tally)
    if (!done) return
    if (this.changes.tiles.size) await this.#round()
    if (!this.#isAllRight()) return
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

  /** Without following: what has changed since the place. @returns {Promise<boolean>} whether anything has */
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

  /** @param {boolean} [wakes] ends when a change comes */
  async #pause (ms, wakes = false) {
    const heard = childSignal(this.signal)
    if (wakes) this.#wake = heard.end
    if (wakes && (this.changes.any || this.#reset)) heard.end()
    await pause(ms, heard.signal)
    heard.end()
    this.#wake = () => {}
  }

  #showState () {
    if (!this.onState || !this.#follower) return
    const { up, error } = this.#follower.state
    const trouble = this.#trouble?.code ?? error
    const upState = up ? 'following' : ''
    const working = this.#comparison ? 'comparing' : upState
    const state = this.#trouble || (!up && error) ? 'away' : working
    if (!state || this.#shown === `${state} ${state === 'away' ? trouble : ''}`) return
    this.#shown = `${state} ${state === 'away' ? trouble : ''}`
    this.onState({ state, ...(state === 'away' && { error: trouble, reason: this.#trouble?.message }) })
  }
}
