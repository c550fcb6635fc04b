// The download or refresh of one area: holds the area's lock (one tab transfers at a time), checks the layer's terms
// and the free space, runs the transfer, reports progress and saves the result in the registry.
import { TilecouchError } from '../../core/index.js'
import { withSignals } from '../source/wait.js'
import { checkFits } from './storage.js'
import { NO_COUNTS } from './local-tiles.js'
import { StoreReset, Transfer } from './transfer.js'

const PROGRESS_INTERVAL = 100 // milliseconds between two events of progress at least
// milliseconds between two of them at most: a rate falls, and other tabs know that it runs
const IDLE_PROGRESS_INTERVAL = 1000
const SAVE_INTERVAL = 2000 // milliseconds between two notes of it in the registry

const NO_CHANGE = { docs: 0, tiles: 0, bytes: 0 }

export class AreaTransfer {
  #reported = -Infinity
  #saved = performance.now()

  /** @param {import('./offline-store.js').OfflineStore} store @param {TransferRun} run */
  constructor (store, area, run) {
    this.store = store
    this.area = area
    this.run = run
  }

  /** @returns {Promise<typeof NO_CHANGE>} what has changed */
  async perform () {
    const { store, area, run } = this
    const asked = new Date().toISOString()
    const onWait = () => {
      run.isWaiting = true
      store.changed()
    }
    return store.locks.hold(`area:${area.id}`, async () => {
      // another tab may have changed it, or taken it away
      await store.areas.read().catch(async error => { throw await this.#fail(error) })
      if (area.isRemoved || area.state === 'removing' || run.signal.aborted) throw new TilecouchError('ABORTED')
      // another tab has just done it
      if (run.isWaiting && /** @type {string} */ (area.document.updated) > asked && area.isComplete) return NO_CHANGE
      run.isWaiting = false
      return this.#transferLocked()
    }, { signal: run.signal, onWait })
  }

  async #transferLocked () {
    const { store, area } = this
    const timer = setInterval(() => this.#report(), IDLE_PROGRESS_INTERVAL)
    this.#report()
    try {
      return await this.#transfer().catch(error => this.#beginAgain(error))
    } catch (error) {
      throw await this.#fail(error)
    } finally {
      clearInterval(timer)
      area.setRemoteProgress() // no other tab transfers it: one that was closed in the middle sent no message
      this.#report()
      store.broadcast({ kind: 'idle', id: area.id })
    }
  }

  async #transfer () {
    const { store, area, run } = this
    const { signal } = run
    // it may have been opened again before there was room
    if (area.document.error === 'QUOTA_EXCEEDED') await area.reopen()
    await store.layerDocument(area.layer, { permission: area.document.permission, signal })
    if (!area.isComplete) await this.#checkRoom(signal)
    const state = area.isComplete ? 'complete' : 'incomplete'
    await area.update(doc => ({ ...doc, state, error: undefined, reason: undefined }))
    await this.#makeReserve()
    const transfer = new Transfer({
      couch: store.couch,
      db: area.db,
      area: { layer: area.layer, selection: area.selection },
      others: store.otherDatabases(area),
      limits: store.limits,
      force: run.force,
      signal,
      onProgress: figures => this.#onProgress(figures),
      onFailed: () => { run.failed++ }
    })
    const { failed, changed, isComplete, counts, styles } = await transfer.run()
    store.reportOnline(true)
    await area.update(doc => ({
      ...doc,
      ...counts,
      styles,
      state: isComplete ? 'complete' : 'incomplete',
      total: isComplete ? { transfer: 0, ...doc.total, ...counts, styles } : doc.total,
      failed: failed.length,
      updated: isComplete ? new Date().toISOString() : doc.updated,
      error: failed[0]?.error,
      reason: failed[0]?.reason
    }))
    if (changed.docs) store.touch(area.layer, area)
    return changed
  }

  /** Downloads the area into a new database if the store was reset: the old one cannot become equal to the store. */
  async #beginAgain (error) {
    if (!(error instanceof StoreReset)) throw error
    const { store, area, run } = this
    run.figures = undefined
    const nothing = { ...NO_COUNTS, failed: 0, styles: 0, total: undefined, updated: undefined }
    await area.update(doc => ({ ...doc, ...nothing, state: 'incomplete' }))
    await store.destroyDatabase(area.id)
    await area.reopen()
    store.broadcast({ kind: 'reset', id: area.id })
    store.touch(area.layer, area)
    return this.#transfer().catch(again => {
      if (!(again instanceof StoreReset)) throw again
      throw new TilecouchError('BAD_ANSWER', { url: store.remote, why: 'the store was reset during the download' })
    })
  }

  /** How much there is to come, and whether there is room for it. */
  async #checkRoom (signal) {
    const { store, area, run } = this
    let { total } = area.document
    if (!total?.transfer || run.force) { // else it was counted when this began
      const { requests, ...counted } = await store.estimate(area.selection, { signal })
      total = counted
      await area.update(doc => ({ ...doc, total: counted }))
    }
    if (!run.force) checkFits(area.name, total, area.document, await store.storage())
  }

  /** @param {TransferFigures} figures */
  #onProgress (figures) {
    const { run, area, store } = this
    run.count(figures)
    const now = performance.now()
    if (now - this.#reported >= PROGRESS_INTERVAL) this.#report()
    if (now - this.#saved < SAVE_INTERVAL) return
    this.#saved = now
    const { tiles, versions, bytes } = figures
    area.update(doc => ({ ...doc, tiles, versions, bytes })).catch(() => {}) // needed only after a crash
    store.touch(area.layer, area)
  }

  #report () {
    this.#reported = performance.now()
    this.store.progress(this.area)
  }

  /** @returns {Promise<any>} what is reported of it */
  async #fail (error) {
    const { area, run, store } = this
    const isStopped = run.signal.aborted || error.code === 'ABORTED'
    let reported = isStopped ? new TilecouchError('ABORTED') : error
    if (reported.code === 'DISK_FULL') reported = await this.#recoverFromFullDisk()
    if (reported.code === 'UNREACHABLE') store.reportOnline(false)
    const { tiles, versions, bytes } = run.figures ?? area.document
    const stopped = run.cause === 'pause' ? 'paused' : 'incomplete'
    const isUnchanged = ({ state }) =>
      state === 'complete' || state === 'removing' || (state === 'new' && !run.figures && !run.cause)
    const fieldsOf = doc => ({
      tiles,
      versions,
      bytes,
      state: isUnchanged(doc) ? doc.state : stopped,
      ...(!isStopped && { error: reported.code, reason: reported.message })
    })
    await area.updateOrKeep(fieldsOf).catch(() => {})
    if (run.figures) store.touch(area.layer, area)
    return reported
  }

  async #makeReserve () {
    try {
      await this.store.reserve.allocate()
    } catch (error) {
      throw new TilecouchError('DISK_FULL', { where: this.area.name }, { cause: error })
    }
  }

  async #recoverFromFullDisk () {
    const { store, area } = this
    await store.reserve.release().catch(() => {})
    await area.reopen()
    const { free, quota } = await store.storage()
    return new TilecouchError('QUOTA_EXCEEDED', { area: area.name, free, quota })
  }
}

/** @typedef {{tiles: number, versions: number, bytes: number, received: number}} TransferFigures */

export class TransferRun {
  #stop = new AbortController()
  #waiters = 0

  /**
   * @param {{isQuiet?: boolean, force?: boolean}} [options] isQuiet: it follows the store, no caller waits; force:
   *   although it does not fit
   */
  constructor ({ isQuiet = false, force = false } = {}) {
    this.isQuiet = isQuiet
    this.force = force
    this.isWaiting = false // for another tab
    this.failed = 0
    this.rate = new TransferRate()
    /** @type {Promise<any>} */
    this.done = Promise.resolve()
    /** What is on the device, as the transfer counts it. @type {TransferFigures | undefined} */
    this.figures = undefined
    /** @type {'pause' | 'stop' | undefined} */
    this.cause = undefined
  }

  get signal () {
    return this.#stop.signal
  }

  /** @param {TransferFigures} figures */
  count (figures) {
    this.figures = figures
    this.rate.mark(figures.received)
  }

  /** @param {'pause' | 'stop'} cause */
  stop (cause) {
    this.cause ??= cause
    this.#stop.abort()
  }

  /** Waits for its end, or leaves before. */
  async join (signal) {
    this.#waiters++
    try {
      return await withSignals([signal], () => this.done)
    } finally {
      if (!--this.#waiters) this.stop('stop')
    }
  }

  /** @template {Record<string, any>} T @param {T} before the status before @returns {T} */
  status (before) {
    if (!this.figures) return before
    const { tiles, versions, bytes } = this.figures
    return { ...before, tiles, versions, bytes, failed: this.failed, ...this.rate.forecast(before.total, bytes) }
  }
}

const RATE_WINDOW = 10000 // milliseconds that are looked back on
const RATE_DELAY = 1000 // milliseconds before a rate is known
const MARK_INTERVAL = 100 // milliseconds between two marks that are kept

export class TransferRate {
  #marks = /** @type {{at: number, bytes: number}[]} */ ([])

  /** @param {number} bytes received until now */
  mark (bytes, at = performance.now()) {
    const marks = this.#marks
    if (marks.length > 1 && at - marks[marks.length - 2].at < MARK_INTERVAL) marks.pop()
    marks.push({ at, bytes })
    while (marks.length > 2 && marks[1].at <= at - RATE_WINDOW) marks.shift()
  }

  /** Bytes a second; undefined until there is enough to measure. */
  rate (at = performance.now()) {
    const marks = this.#marks
    // nothing came for long: it is known that it was nothing
    while (marks.length > 1 && marks[1].at <= at - RATE_WINDOW) marks.shift()
    const [first] = marks
    if (!first || at - first.at < RATE_DELAY) return undefined
    return (marks[marks.length - 1].bytes - first.bytes) / (at - first.at) * 1000
  }

  /**
   * @param {{bytes: number, transfer: number} | undefined} total @param {number} bytes of images that are there
   * @returns {{rate?: number, remaining?: number}} bytes and seconds
   */
  forecast (total, bytes, at = performance.now()) {
    const rate = this.rate(at)
    if (!total) return { rate }
    const left = total.bytes ? Math.max(0, 1 - bytes / total.bytes) * (total.transfer ?? total.bytes) : 0
    return { rate, remaining: left ? rate && left / rate : 0 }
  }
}
