// A part of a layer that a device keeps: what it is of, how it stands, and what can be done with it.
import { TilecouchError } from '../../core/index.js'
import { AreaTransfer } from './area-transfer.js'
import { Run } from './run.js'
import { readName, selectionOf } from './spec.js'

/** @typedef {'new' | 'waiting' | 'downloading' | 'paused' | 'incomplete' | 'complete' | 'removing'} AreaState */

export class Area {
  #store
  #doc
  #db
  #run = /** @type {Run | undefined} */ (undefined)
  #elsewhere = /** @type {Record<string, any> | undefined} */ (undefined)
  #isRemoved = false

  /** @param {any} store the OfflineStore @param {string} id @param {import('./registry.js').AreaDocument} doc */
  constructor (store, id, doc) {
    this.#store = store
    this.id = id
    this.#doc = doc
    this.spec = Object.freeze(doc.spec)
    this.selection = selectionOf(doc.spec)
  }

  get name () {
    return this.#doc.name
  }

  get layer () {
    return this.spec.layer
  }

  /** Of the past: all (true), none (false), or what was still to be seen at a time, and since. @returns {boolean | string} */
  get hasHistory () {
    const { history } = this.spec
    return typeof history === 'object' ? history.since : history
  }

  get isComplete () {
    return this.#doc.state === 'complete'
  }

  /** Its PouchDB. @returns {any} */
  get db () {
    return this.#db ??= this.#store.open(this.id)
  }

  /** @returns {AreaState} */
  get state () {
    if (this.#isRemoved || this.#doc.state === 'removing') return 'removing'
    if (this.#run && !this.#run.isWaiting) return 'downloading'
    if (this.#run && !(this.#run.isQuiet && this.#elsewhere)) return 'waiting'
    return this.#elsewhere ? 'downloading' : this.#doc.state
  }

  /** How it stands, in plain values. */
  status () {
    const { tiles, versions, bytes, total, failed, updated, live, error, reason } = this.#doc
    const known = { tiles, versions, bytes, total, failed }
    const now = this.#run?.figures ? this.#run.now(known) : this.#elsewhere ? { ...known, ...this.#elsewhere } : known
    return { state: this.state, ...now, rate: now.rate, remaining: now.remaining, updated, live, ...(error && { error, reason }) }
  }

  /** Whether a place lies in it. */
  holds (z, x, y) {
    return this.selection.touches(z, x, y)
  }

  /** What it takes, before anything is taken. @param {{signal?: AbortSignal}} [options] */
  async estimate ({ signal } = {}) {
    this.#check()
    return this.#store.estimate(this.selection, signal)
  }

  /** Takes along what is not there yet; when all is there, what has changed since. @param {{signal?: AbortSignal, force?: boolean}} [options] */
  async download ({ signal, force = false } = {}) {
    await this.#join({ signal, force })
    return this.status()
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async refresh ({ signal } = {}) {
    const { changed } = await this.#join({ signal })
    return { ...this.status(), changed }
  }

  /** As refresh, of itself: what goes wrong is told by an event. */
  async follow () {
    try {
      await this.#join({ isQuiet: true })
    } catch (error) {
      if (error.code !== 'ABORTED') this.#store.fire('failure', { area: this, error })
      throw error
    }
  }

  /** Stops a transfer in every tab. Resolves when it has stopped. */
  async pause () {
    this.#check()
    this.#store.tell({ kind: 'pause', id: this.id })
    await this.stop('pause')
    await this.change(doc => doc.state === 'incomplete' || doc.state === 'new' ? { ...doc, state: 'paused' } : undefined)
  }

  /** Whether it is kept as the store has it. @param {boolean} [isLive] */
  async live (isLive = true) {
    this.#check()
    await this.change(doc => doc.live === isLive ? undefined : { ...doc, live: isLive })
    this.#store.follow()
  }

  /** @param {string} name */
  async rename (name) {
    this.#check()
    await this.#store.areas.rename(this, readName(name))
  }

  /** Off the device, at once and completely. What other areas hold as well stays there. */
  async remove () {
    if (this.#isRemoved) return
    await this.#store.areas.remove(this)
  }

  async #join (/** @type {{signal?: AbortSignal, force?: boolean, isQuiet?: boolean}} */ { signal, force = false, isQuiet = false }) {
    this.#check()
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    const run = this.#run && !this.#run.signal.aborted ? this.#run : this.#start(isQuiet)
    run.isQuiet &&= isQuiet
    run.force ||= force
    return run.join(signal)
  }

  #start (isQuiet) {
    const before = this.#run?.done
    const run = new Run({ isQuiet })
    this.#run = run
    run.done = (async () => {
      await before?.catch(() => {})
      try {
        return await new AreaTransfer(this.#store, this, run).perform()
      } finally {
        if (this.#run === run) this.#run = undefined
        this.#store.changed(this)
      }
    })()
    run.done.catch(() => {}) // heard by who joined it
    return run
  }

  /** Ends a transfer of this tab. @param {'pause' | 'stop'} cause */
  async stop (cause) {
    const run = this.#run
    run?.stop(cause)
    await run?.done.catch(() => {})
  }

  // --- what the store does with it

  get document () {
    return this.#doc
  }

  get isRemoved () {
    return this.#isRemoved
  }

  /** Whether it runs here. */
  get run () {
    return this.#run
  }

  /** As the registry has it. @param {import('./registry.js').AreaDocument} doc */
  take (doc) {
    const before = [this.state, this.name, this.#doc.live].join()
    this.#doc = doc
    return before !== [this.state, this.name, this.#doc.live].join()
  }

  /** @param {(doc: any) => any} change */
  async change (change) {
    const doc = await this.#store.registry.change(this.id, change)
    if (!doc) return undefined
    this.#doc = doc
    this.#store.changed(this)
    this.#store.tell({ kind: 'areas' })
    return doc
  }

  /** What another tab says of its transfer; nothing when it is over. @param {Record<string, any>} [figures] */
  hear (figures) {
    const isNew = Boolean(this.#elsewhere) !== Boolean(figures)
    this.#elsewhere = figures
    return isNew
  }

  /** PouchDB does not recover when the device was full. */
  async reopen () {
    const db = this.#db
    this.#db = undefined
    await db?.close().catch(() => {})
  }

  /** It is not there any more. */
  async leave () {
    this.#isRemoved = true
    await this.stop('stop')
    await this.reopen()
  }

  #check () {
    if (this.#isRemoved || this.#doc.state === 'removing') throw new TilecouchError('AREA_NOT_FOUND', { value: this.name })
    if (this.#store.isClosed) throw new TilecouchError('ABORTED')
  }
}
