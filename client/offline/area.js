// One area that a device keeps: its definition, its state, and its commands.
import { TilecouchError } from '../../core/index.js'
import { generation } from '../../core/mirror/index.js'
import { AreaTransfer, TransferRun } from './area-transfer.js'
import { readName, selectionOf } from './area-spec.js'
import { withinTime } from '../source/wait.js'

const STOP_TIMEOUT = 10000 // milliseconds another tab is given to stop

/**
 * @typedef {'new' | 'waiting' | 'downloading' | 'paused' | 'incomplete' | 'complete' | 'removing'} AreaState waiting:
 *   another tab transfers it; incomplete: broken off, or some tiles failed
 *
 * @typedef {object} AreaStatus
 * @property {AreaState} state
 * @property {number} tiles on the device
 * @property {number} versions
 * @property {number} bytes of images on the device
 * @property {number} styles bytes of styles on the device, with their sprites and glyphs
 * @property {{tiles: number, versions: number, bytes: number, styles?: number, transfer: number}} [total] what it will
 *   be, once that is known
 * @property {number} failed tiles that did not come; the next download tries them again
 * @property {number} [rate] bytes a second, during a transfer
 * @property {number} [remaining] seconds, during a transfer
 * @property {string} [updated] when it last lacked nothing
 * @property {boolean} live it is kept as the store has it
 * @property {string} [error] code of what went wrong last
 * @property {string} [reason]
 */

export class Area {
  #store
  #doc
  #db
  #run = /** @type {TransferRun | undefined} */ (undefined)
  #remoteProgress = /** @type {Record<string, any> | undefined} */ (undefined) // what another tab says of its transfer
  #changing = /** @type {Promise<any>} */ (Promise.resolve())
  #removing = /** @type {Promise<void> | undefined} */ (undefined)
  #isRemoved = false
  /** @type {import('../../core/mirror/index.js').Selection | undefined} */
  #selection

  /**
   * @param {import('./offline-store.js').OfflineStore} store @param {string} id
   * @param {import('./area-registry.js').AreaDocument} doc
   */
  constructor (store, id, doc) {
    this.#store = store
    this.id = id
    this.#doc = doc
    /** @type {Readonly<import('./area-spec.js').AreaSpec & {zooms: import('../../core/grid.js').Zooms}>} */
    this.spec = Object.freeze(/** @type {any} */ ({ ...doc.spec }))
  }

  /** Which documents belong to it. Throws NO_PROJ4 in a page without proj4js, for a layer in another grid. */
  get selection () {
    return (this.#selection ??= selectionOf(this.spec))
  }

  get name () {
    return this.#doc.name
  }

  get layer () {
    return this.spec.layer
  }

  /**
   * Of the past: all (true), none (false), or what was still to be seen at a time and what came since.
   * @returns {boolean | string}
   */
  get hasHistory () {
    const { history } = this.spec
    return typeof history === 'object' ? history.since : history
  }

  /** Whether it lacked nothing when it was last looked at. */
  get isComplete () {
    return this.#doc.state === 'complete'
  }

  /** Its PouchDB, which another one may take the place of. @returns {any} */
  get db () {
    return this.#db ??= this.#store.open(this.id)
  }

  /** @returns {AreaState} */
  get state () {
    const run = this.#run
    if (this.#isRemoved || this.#removing || this.#doc.state === 'removing') return 'removing'
    if (run && !run.isWaiting) return 'downloading'
    if (run && !run.isQuiet) return 'waiting'
    return this.#remoteProgress ? 'downloading' : this.#doc.state
  }

  /** Its status in plain values. @returns {AreaStatus} */
  status () {
    const { tiles, versions, bytes, styles = 0, total, failed, updated, live, error, reason } = this.#doc
    const figures = {
      tiles, versions, bytes, styles, total, failed, rate: undefined, remaining: undefined, ...this.#remoteProgress
    }
    const present = this.#run?.status(figures) ?? figures
    return { state: this.state, ...present, updated, live, ...(error && { error, reason }) }
  }

  /** Whether a place lies in it. @param {number} z @param {number} x @param {number} y */
  holds (z, x, y) {
    return this.selection.touches(z, x, y)
  }

  /** What it takes, before anything is taken. @param {{signal?: AbortSignal}} [options] */
  async estimate ({ signal } = {}) {
    this.#checkUsable()
    return this.#store.estimate(this.selection, { signal })
  }

  /**
   * Downloads what is missing; when nothing is, what has changed since.
   * @param {{signal?: AbortSignal, force?: boolean}} [options]
   */
  async download ({ signal, force } = {}) {
    await this.#join({ signal, force })
    return this.status()
  }

  /** Downloads what has changed since. @param {{signal?: AbortSignal}} [options] */
  async refresh ({ signal } = {}) {
    const changed = await this.#join({ signal })
    return { ...this.status(), changed }
  }

  /** Stops a transfer, in whichever tab. Resolves when it has stopped. */
  async pause () {
    this.#checkUsable()
    this.#store.broadcast({ kind: 'pause', id: this.id })
    await this.stop('pause')
    await withinTime(STOP_TIMEOUT, signal => this.#store.locks.hold(`area:${this.id}`, () => {}, { signal }))
    await this.updateOrKeep(({ state }) => state === 'incomplete' ? { state: 'paused' } : {})
  }

  /** Whether it is kept as the store has it, from now on. @param {boolean} [isLive] */
  async live (isLive = true) {
    this.#checkUsable()
    await this.update(doc => doc.live === isLive ? undefined : { ...doc, live: isLive })
  }

  /** @param {string} name */
  async rename (name) {
    this.#checkUsable()
    await this.#store.areas.rename(this, readName(name))
  }

  /** Off the device, completely. What other areas hold as well stays there. */
  async remove () {
    if (this.#isRemoved) return
    if (!this.#removing) {
      this.#checkUsable()
      this.#removing = this.#store.areas.remove(this).finally(() => { this.#removing = undefined })
    }
    return this.#removing
  }

  async #join (
    /** @type {{signal?: AbortSignal, force?: boolean, isQuiet?: boolean}} */ { signal, force = false, isQuiet = false }
  ) {
    this.#checkUsable()
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    const current = this.#run && !this.#run.signal.aborted ? this.#run : undefined
    const run = current ?? this.#start({ isQuiet, force })
    run.isQuiet &&= isQuiet
    run.force ||= force
    return run.join(signal)
  }

  #start (options) {
    const before = this.#run?.done
    const run = new TransferRun(options)
    this.#run = run
    run.done = (async () => {
      await before?.catch(() => {}) // one that is stopping
      try {
        return await new AreaTransfer(this.#store, this, run).perform()
      } finally {
        if (this.#run === run) this.#run = undefined
        this.#store.changed()
      }
    })()
    run.done.catch(() => {}) // callers that joined it get the error
    this.#store.changed()
    return run
  }

  #checkUsable () {
    if (this.state === 'removing') throw new TilecouchError('AREA_NOT_FOUND', { value: this.name })
    this.#store.check()
  }

  // --- for the store it belongs to

  get document () {
    return this.#doc
  }

  get isRemoved () {
    return this.#isRemoved
  }

  /** Whether it is live, and its download was started and not paused. */
  get wantsToFollow () {
    return this.#doc.live && (this.#doc.state === 'complete' || this.#doc.state === 'incomplete')
  }

  get isTransferring () {
    return Boolean(this.#run && !this.#run.isWaiting)
  }

  /** As refresh, in the background: errors are reported by an event. */
  async follow () {
    try {
      await this.#join({ isQuiet: true })
    } catch (error) {
      if (error.code !== 'ABORTED') this.#store.fire('failure', { area: this, error })
      throw error
    }
  }

  /** Ends a transfer of this tab. @param {'pause' | 'stop'} cause */
  async stop (cause) {
    const run = this.#run
    run?.stop(cause)
    await run?.done.catch(() => {})
  }

  /**
   * What the registry says, unless this tab knows of something newer.
   * @param {import('./area-registry.js').AreaDocument} doc
   */
  setDocument (doc) {
    if (generation(doc._rev ?? '0') > generation(this.#doc._rev ?? '0')) this.#doc = doc
  }

  /**
   * In the registry, and in every tab.
   * @param {(doc: import('./area-registry.js').AreaDocument) => any} change returns nothing to keep it as it is
   */
  async update (change) {
    // in the order in which they are asked for
    const changed = this.#changing.then(async () => {
      const before = this.#doc._rev
      const doc = await this.#store.registry.change(this.id, change)
      if (!doc) return
      this.#doc = doc
      this.#store.changed()
      if (doc._rev !== before) this.#store.broadcast({ kind: 'areas' })
    })
    this.#changing = changed.catch(() => {})
    return changed
  }

  /**
   * Saves fields in the registry, or in this tab alone when the device is full.
   * @param {(doc: import('./area-registry.js').AreaDocument) => Record<string, any>} fieldsOf
   */
  async updateOrKeep (fieldsOf) {
    try {
      await this.update(doc => {
        const fields = fieldsOf(doc)
        return Object.keys(fields).length ? { ...doc, ...fields } : undefined
      })
    } catch (error) {
      if (error.code !== 'DISK_FULL') throw error
      this.setLocally(fieldsOf(this.#doc))
    }
  }

  /** For this tab alone: the registry cannot be written to. @param {Record<string, any>} fields */
  setLocally (fields) {
    this.#doc = { ...this.#doc, ...fields }
    this.#store.changed()
  }

  /** What another tab says of its transfer; nothing when that is over. @param {Record<string, any>} [figures] */
  setRemoteProgress (figures) {
    this.#remoteProgress = figures
    this.#store.changed()
  }

  /** A PouchDB does not recover from a device that was full. */
  async reopen () {
    const db = this.#db
    this.#db = undefined
    if (db) await this.#store.closeDatabase(db)
  }

  /** It is not there any more. */
  async detach () {
    this.#isRemoved = true
    this.#remoteProgress = undefined
    await this.stop('stop')
    await this.reopen()
  }
}
