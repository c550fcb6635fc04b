// Brings the trees of a layer to what the store is, and keeps them there. One thing is done at a time: a round of changes, or
// a step of a comparison of everything. What is read later is written later, so no file ever goes back in time.
import { setTimeout as sleep } from 'node:timers/promises'
import pMap from 'p-map'
import { TilecouchError, compareIds } from '../../core/index.js'
import { isGood, placeOf } from '../../core/place.js'
import { Follower } from '../store/follow.js'
import { childSignal } from '../store/child-signal.js'
import { readChanges, readHeads, readPast } from './changes.js'
import { PASSING, keeperDefaults } from './limits.js'
import { bootOf, keep, readKept } from './place.js'
import { Scan } from './scan.js'

export class Keeper {
  /** @type {Scan | undefined} */
  #scan
  #covered = new Set() // times of the trees that the comparison is of
  #place = /** @type {import('../store/follow.js').Place} */ (/** @type {unknown} */ (undefined))
  #keptAt = 0
  #whole = false
  #removals = false // in the batch before
  #store = '' // which one the files are of
  #boot = ''
  #isOurs = false // the files are of this store
  #keeping = Promise.resolve()
  #reset = false
  /** @type {Map<string, number>} */
  #missing = new Map()
  /** @type {Follower | undefined} */
  #follower
  #trouble
  #told = ''
  #wake = () => {}

  /**
   * @param {object} parts
   * @param {import('../store/index.js').Store} parts.store
   * @param {import('./paths.js').Paths} parts.paths
   * @param {import('./trees.js').Trees} parts.trees
   * @param {import('./settle.js').Settler} parts.settler
   * @param {import('./changes.js').Changes} parts.changes
   * @param {string} parts.selection see selectionOf
   * @param {import('../store/list.js').ListOptions} parts.listing
   * @param {AbortSignal} [parts.signal]
   * @param {(tally: import('./settle.js').Tally) => void} [parts.onProgress]
   * @param {(state: {state: 'comparing' | 'following' | 'away', error?: any}) => void} [parts.onState]
   * @param {Partial<typeof keeperDefaults>} [parts.limits]
   */
  constructor ({ store, paths, trees, settler, changes, selection, listing, signal, onProgress, onState, limits }) {
    this.limits = { ...keeperDefaults, ...limits }
    this.store = store
    settler.keepTimes = () => settler.times.isChanged ? this.#keep() : this.#keeping
    trees.onEnd = time => settler.end(time)
    this.paths = paths
    this.trees = trees
    this.settler = settler
    this.changes = changes
    this.selection = selection
    this.listing = listing
    this.signal = signal
    this.onProgress = onProgress
    this.onState = onState
  }

  /** Whether everything that is shown was right at some moment; there may be more to come. */
  get isWhole () {
    return this.#whole
  }

  /** @param {{follow: boolean, adopted: boolean}} options adopted: files are there, and nothing that says of which store */
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
          this.#tell()
          await this.#drop()
          await this.#pause(Math.min(250 * 2 ** tries++, this.limits.longestWait))
        }
      }
    } finally {
      await this.#follower?.close()
      await this.#scan?.close().catch(() => {})
      await this.trees.close()
    }
  }

  /** One thing. @returns {Promise<boolean>} whether there is nothing more to do */
  async #next (follow) {
    this.#tell()
    if (this.#reset) await this.#begin(false)
    if (!this.#isCovered()) await this.#compare(!this.#whole)
    const adrift = this.#follower && !this.#follower.isAnchored
    const crowded = this.#scan && this.#scan.touched.size > this.limits.mostTouched
    if (this.changes.any && !adrift && !crowded) {
      if (follow && !this.#scan) await this.#pause(this.limits.gather)
      await this.#round()
    } else if (this.#scan) await this.#step()
    else if (follow) await this.#idle()
    else return !await this.#catchUp()
    return false
  }

  /** Looks what is there and where to go on. */
  async #begin (adopted) {
    const { store, paths } = this
    await store.layer(paths.layer)
    this.#reset = false
    const [kept, there, identity] = [await readKept(paths.state), placeOf(await store.info()), await store.identity()]
    this.#boot = await bootOf()
    this.#isOurs = kept ? kept.store === identity : !adopted
    this.settler.times.open(kept?.spent)
    this.#store = identity
    this.#whole = Boolean(kept?.whole && kept.store === identity && kept.selection === this.selection && kept.boot === this.#boot && isGood(kept.place, there))
    // the place before anything is read, so that nothing is missed; a follower that had to begin anew has one already
    this.#place = this.#whole && kept ? kept.place : this.#follower?.place ?? there
    await this.#keep()
    await this.trees.arrange()
    if (!this.#whole) await this.#compare(true)
  }

  #listen () {
    this.#follower = new Follower(this.store, {
      place: this.#place,
      onChange: ({ id, deleted }) => {
        this.changes.add(id, deleted)
        this.#wake()
      },
      onReset: () => {
        this.#reset = Boolean(this.#follower?.isAnchored)
        this.#wake()
      }
    })
    this.#follower.start()
  }

  async #round () {
    const batch = this.changes.take()
    const place = this.#follower?.place ?? this.#place
    try {
      if (batch.overflow) await this.#compare(true)
      if (batch.editions) await this.trees.arrange()
      // what is one batch of the feed may have begun in the one before
      if (batch.removals || this.#removals) for (const change of batch.tiles.values()) change.deleted = true
      const ids = [...batch.tiles.keys()].sort(compareIds)
      for (let at = 0; at < ids.length; at += this.limits.round) await this.#settle(ids.slice(at, at + this.limits.round), batch.tiles)
    } catch (error) {
      this.changes.restore(batch)
      throw error
    }
    this.#removals = batch.removals
    this.#place = place
    await this.#keep()
  }

  async #settle (ids, changes) {
    for (const id of ids) this.#scan?.touched.add(id)
    const heads = await readHeads(this.store.couch, ids, this.signal)
    const times = heads.flatMap(({ id, versions: [head] }) => [...changes.get(id).times, ...(head ? [head.time] : [])])
    await this.trees.unlinkWrong(new Set(times))
    const { list } = this.trees
    // while everything is compared, nothing can be told from what is there
    const stored = await this.store.peek(ids.flatMap(id => changes.get(id).times.map(time => `${id}@${time}`)), { signal: this.signal })
    const sure = await pMap(heads, head => !this.#scan && this.settler.isPastRight(head, changes.get(head.id), list.slice(1), stored), { concurrency: this.limits.looks })
    const doubtful = heads.filter((head, at) => !sure[at])
    const again = await this.settler.settle(heads.filter((head, at) => sure[at]), list, { check: list.slice(0, 1), heads: true })
    if (doubtful.length) again.push(...await this.settler.settle(await readPast(this.store.couch, doubtful, this.signal), list))
    for (const id of ids) if (!again.includes(id)) this.#missing.delete(id)
    for (const id of again) this.#again(id)
    this.onProgress?.(this.settler.tally)
  }

  #again (id) {
    const times = (this.#missing.get(id) ?? 0) + 1
    this.#missing.set(id, times)
    if (times <= this.limits.mostMissing) this.changes.doubt(id)
    else this.settler.fail({ id, reason: 'the store lists a version that it does not have' })
  }

  /** @param {boolean} everything or only the trees that are not whole */
  async #compare (everything) {
    await this.#scan?.close()
    if (everything && this.#whole) {
      this.#whole = false
      await this.#keep()
    }
    this.settler.trust = !everything
    this.#covered = new Set(this.trees.unfinished.map(({ time }) => time))
    this.#scan = new Scan(this.store, this.paths.layer, this.settler, {
      trees: () => this.trees.list, check: tree => everything || !tree.whole, ...this.listing, signal: this.signal
    })
  }

  /** Whether everything that is not known to be right is being compared. */
  #isCovered () {
    const { unfinished } = this.trees
    return this.#scan ? unfinished.every(({ time }) => this.#covered.has(time)) : this.#whole && !unfinished.length
  }

  /** A comparison that broke off has lost what it had read, and the rest of the list: it begins anew. */
  async #drop () {
    await this.#scan?.close().catch(() => {})
    this.#scan = undefined
  }

  async #step () {
    const { done, again } = await /** @type {Scan} */ (this.#scan).step()
    for (const id of again) this.#again(id)
    this.onProgress?.(this.settler.tally)
    if (!done) return
    if (this.changes.tiles.size) await this.#round()
    if (!this.#isCovered()) return
    this.#scan = undefined
    await this.trees.finish()
    this.#whole = true
    this.settler.trust = this.#isOurs = true
    await this.#keep()
  }

  async #idle () {
    const place = this.#follower?.place
    if (place && place.since !== this.#place.since && Date.now() - this.#keptAt > this.limits.keepEvery) {
      this.#place = place
      await this.#keep()
    }
    await this.#pause(this.limits.look, true)
  }

  /** Without following: what has changed since the place. @returns {Promise<boolean>} whether anything has */
  async #catchUp () {
    const since = await readChanges(this.store.couch, this.#place.since, { signal: this.signal, onChange: (id, deleted) => this.changes.add(id, deleted) })
    this.#place = { ...this.#place, since }
    if (!this.changes.any) await this.#keep()
    return this.changes.any
  }

  #keep () {
    const { times } = this.settler
    this.#keptAt = Date.now()
    times.isChanged = false
    const state = { place: this.#place, whole: this.#whole, selection: this.selection, store: this.#isOurs ? this.#store : '', spent: times.list, boot: this.#boot }
    return (this.#keeping = this.#keeping.then(() => keep(this.paths.state, state, this.paths.tmp)))
  }

  /** @param {boolean} [wakes] ends when something is heard */
  async #pause (ms, wakes = false) {
    const heard = childSignal(this.signal)
    if (wakes) this.#wake = heard.end
    if (wakes && (this.changes.any || this.#reset)) heard.end()
    await sleep(ms, undefined, { signal: heard.signal }).catch(() => {})
    heard.end()
    this.#wake = () => {}
  }

  #tell () {
    if (!this.onState || !this.#follower) return
    const { up, error } = this.#follower.state
    const trouble = this.#trouble?.code ?? error
    const state = this.#trouble || (!up && error) ? 'away' : this.#scan ? 'comparing' : up ? 'following' : ''
    if (!state || this.#told === `${state} ${state === 'away' ? trouble : ''}`) return
    this.#told = `${state} ${state === 'away' ? trouble : ''}`
    this.onState({ state, ...(state === 'away' && { error: trouble, reason: this.#trouble?.message }) })
  }
}
