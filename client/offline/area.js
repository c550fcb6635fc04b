// One area that a device keeps: its definition, its state, and its commands.
import { TilecouchError } from '../../core/index.js'
import { generation } from '../../core/mirror/index.js'
import { Semaphore } from '../../core/promises.js'
import { AreaTransfer, TransferRun } from './area-transfer.js'
import { readName, selectionOf } from './area-spec.js'
import { STOP_TIMEOUT } from './tabs.js'
import { withinTime } from '../source/wait.js'

/**
 * @typedef {'new' | 'waiting' | 'downloading' | 'paused' | 'incomplete' | 'complete' | 'removing'} AreaState waiting:
 *   another tab transfers it; incomplete: interrupted, or some tiles failed
 *
 * @typedef {object} AreaStatus
 * @property {AreaState} state
 * @property {number} tiles on the device
 * @property {number} versions
 * @property {number} bytes of images on the device
 * @property {number} styles bytes of styles on the device, with their sprites and glyphs
 * @property {{tiles: number, versions: number, bytes: number, styles?: number, transfer: number}} [total] of the whole
 *   area, once known
 * @property {number} failed tiles that could not be loaded; the next download tries them again
 * @property {number} [rate] bytes a second, during a transfer
 * @property {number} [remaining] seconds, during a transfer
 * @property {string} [updated] when it was last complete
 * @property {boolean} live whether the area follows the changes of the store
 * @property {string} [error] code of the last error
 * @property {string} [reason]
 */

export class Area {
  #store
  #doc
  #db
  #run = /** @type {TransferRun | undefined} */ (undefined)
  #remoteProgress = /** @type {Record<string, any> | undefined} */ (undefined) // progress that another tab reports
  #changes = new Semaphore(1) // one at a time, in the order of the calls
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

  /** Selects the documents of the area. Throws NO_PROJ4 in a page without proj4js, for a layer in another grid. */
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
   * Whether the area keeps the past: all of it (true), nothing (false), or from a time on (that time).
   * @returns {boolean | string}
   */
  get hasHistory () {
    const { history } = this.spec
    return typeof history === 'object' ? history.since : history
  }

  /** Whether the last transfer left nothing missing. */
  get isComplete () {
    return this.#doc.state === 'complete'
  }

  /** The PouchDB of the area. reopen() replaces it. @returns {any} */
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

  /** Estimates the download without starting it. @param {{signal?: AbortSignal}} [options] */
  async estimate ({ signal } = {}) {
    this.#checkUsable()
    return this.#store.estimate(this.selection, { signal })
  }

  /**
   * Downloads missing tiles. If the area is complete, downloads changes.
   * @param {{signal?: AbortSignal, force?: boolean}} [options]
   */
  async download ({ signal, force } = {}) {
    await this.#join({ signal, force })
    return this.status()
  }

  /** Downloads the changes since the last transfer. @param {{signal?: AbortSignal}} [options] */
  async refresh ({ signal } = {}) {
    const changed = await this.#join({ signal })
    return { ...this.status(), changed }
  }

  /** Stops a transfer in any tab. Resolves when it has stopped. */
  async pause () {
    this.#checkUsable()
    this.#store.broadcast({ kind: 'pause', id: this.id })
    await this.stop('pause')
    await withinTime(STOP_TIMEOUT, signal => this.#store.locks.hold(`area:${this.id}`, () => {}, { signal }))
    await this.updateOrKeep(({ state }) => state === 'incomplete' ? { state: 'paused' } : {})
  }

  /** Sets whether the area follows the changes of the store. @param {boolean} [isLive] */
  async live (isLive = true) {
    this.#checkUsable()
    await this.update(doc => doc.live === isLive ? undefined : { ...doc, live: isLive })
  }

  /** @param {string} name */
  async rename (name) {
    this.#checkUsable()
    await this.#store.areas.rename(this, readName(name))
  }

  /** Removes the area from the device. Other areas keep their copies of shared tiles. */
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
    const previousRun = this.#run?.done
    const run = new TransferRun(options)
    this.#run = run
    run.done = (async () => {
      await previousRun?.catch(() => {}) // it may still be stopping
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

  /** Refreshes in the background. Errors are reported by an event. */
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
   * Takes over the document of the registry, unless this tab has a newer revision.
   * @param {import('./area-registry.js').AreaDocument} doc
   */
  setDocument (doc) {
    if (generation(doc._rev ?? '0') > generation(this.#doc._rev ?? '0')) this.#doc = doc
  }

  /**
   * Changes the document in the registry and informs the other tabs.
   * @param {(doc: import('./area-registry.js').AreaDocument) => any} change returns undefined to leave it unchanged
   */
  async update (change) {
    await this.#changes.run(async () => {
      const revBefore = this.#doc._rev
      const doc = await this.#store.registry.change(this.id, change)
      if (!doc) return
      this.#doc = doc
      this.#store.changed()
      if (doc._rev !== revBefore) this.#store.broadcast({ kind: 'areas' })
    })
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

  /** Changes fields in this tab alone, when the registry cannot be written. @param {Record<string, any>} fields */
  setLocally (fields) {
    this.#doc = { ...this.#doc, ...fields }
    this.#store.changed()
  }

  /** Sets the progress of another tab; without figures it has ended. @param {Record<string, any>} [figures] */
  setRemoteProgress (figures) {
    this.#remoteProgress = figures
    this.#store.changed()
  }

  /** Closes the PouchDB; the next use opens a new one. A PouchDB does not recover from a full disk. */
  async reopen () {
    const db = this.#db
    this.#db = undefined
    if (db) await this.#store.closeDatabase(db)
  }

  /** Marks the area as removed and stops its transfer. */
  async detach () {
    this.#isRemoved = true
    this.#remoteProgress = undefined
    await this.stop('stop')
    await this.reopen()
  }
}
