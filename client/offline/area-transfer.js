// The download or refresh of one area: holds the area's lock (one tab transfers at a time), checks the layer's terms
// and the free space, runs the transfer, reports progress and saves the result in the registry.
import { TilecouchError } from '../../core/index.js'
import { withSignals } from '../source/wait.js'
import { checkFits } from './storage.js'
import { NO_COUNTS } from './local-tiles.js'
import { StoreReset, Transfer } from './transfer.js'

const PROGRESS_INTERVAL = 100 // minimum milliseconds between two progress events
// maximum milliseconds between two progress events: the rate may fall, and other tabs see that the transfer runs
const IDLE_PROGRESS_INTERVAL = 1000
const SAVE_INTERVAL = 2000 // milliseconds between two saves of the progress in the registry

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

  /** @returns {Promise<typeof NO_CHANGE>} counts of the changes */
  async perform () {
    const { store, area, run } = this
    const askedAt = new Date().toISOString()
    const onWait = () => {
      run.isWaiting = true
      store.changed()
    }
    return store.locks.hold(`area:${area.id}`, async () => {
      // another tab may have changed or removed the area
      await store.areas.read().catch(async error => { throw await this.#fail(error) })
      if (area.isRemoved || area.state === 'removing' || run.signal.aborted) throw new TilecouchError('ABORTED')
      // another tab has just completed the area
      if (run.isWaiting && /** @type {string} */ (area.document.updated) > askedAt && area.isComplete) return NO_CHANGE
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
      area.setRemoteProgress() // no other tab transfers it: a tab that closed during a transfer sent no message
      this.#report()
      store.broadcast({ kind: 'idle', id: area.id })
    }
  }

  async #transfer () {
    const { store, area, run } = this
    const { signal } = run
    // the database may have been reopened while the disk was still full
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
    const initialFields = { ...NO_COUNTS, failed: 0, styles: 0, total: undefined, updated: undefined }
    await area.update(doc => ({ ...doc, ...initialFields, state: 'incomplete' }))
    await store.destroyDatabase(area.id)
    await area.reopen()
    store.broadcast({ kind: 'reset', id: area.id })
    store.touch(area.layer, area)
    return this.#transfer().catch(secondError => {
      if (!(secondError instanceof StoreReset)) throw secondError
      throw new TilecouchError('BAD_ANSWER', { url: store.remote, why: 'the store was reset during the download' })
    })
  }

  /** Estimates the download and checks that it fits on the device. */
  async #checkRoom (signal) {
    const { store, area, run } = this
    let { total } = area.document
    if (!total?.transfer || run.force) { // otherwise an earlier transfer estimated it
      total = await store.estimate(area.selection, { signal })
      await area.update(doc => ({ ...doc, total }))
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

  /** Saves the state after an error. @returns {Promise<any>} the error to throw */
  async #fail (error) {
    const { area, run, store } = this
    const isStopped = run.signal.aborted || error.code === 'ABORTED'
    let reportedError = isStopped ? new TilecouchError('ABORTED') : error
    if (reportedError.code === 'DISK_FULL') reportedError = await this.#recoverFromFullDisk()
    if (reportedError.code === 'UNREACHABLE') store.reportOnline(false)
    const { tiles, versions, bytes } = run.figures ?? area.document
    const stoppedState = run.cause === 'pause' ? 'paused' : 'incomplete'
    const keepsState = ({ state }) =>
      state === 'complete' || state === 'removing' || (state === 'new' && !run.figures && !run.cause)
    const fieldsOf = doc => ({
      tiles,
      versions,
      bytes,
      state: keepsState(doc) ? doc.state : stoppedState,
      ...(!isStopped && { error: reportedError.code, reason: reportedError.message })
    })
    await area.updateOrKeep(fieldsOf).catch(() => {})
    if (run.figures) store.touch(area.layer, area)
    return reportedError
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
   * @param {{isQuiet?: boolean, force?: boolean}} [options] isQuiet: a live update that no caller waits for; force:
   *   download although the area does not fit
   */
  constructor ({ isQuiet = false, force = false } = {}) {
    this.isQuiet = isQuiet
    this.force = force
    this.isWaiting = false // for another tab
    this.failed = 0
    this.rate = new TransferRate()
    /** @type {Promise<any>} */
    this.done = Promise.resolve()
    /** Counts of the tiles on the device. @type {TransferFigures | undefined} */
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

  /** Waits for the end of the transfer. It stops when the signals of all waiting callers were aborted. */
  async join (signal) {
    this.#waiters++
    try {
      return await withSignals([signal], () => this.done)
    } finally {
      if (!--this.#waiters) this.stop('stop')
    }
  }

  /** @template {Record<string, any>} T @param {T} stored status without this transfer @returns {T} */
  status (stored) {
    if (!this.figures) return stored
    const { tiles, versions, bytes } = this.figures
    return { ...stored, tiles, versions, bytes, failed: this.failed, ...this.rate.forecast(stored.total, bytes) }
  }
}

const RATE_WINDOW = 10000 // milliseconds over which the rate is measured
const RATE_DELAY = 1000 // minimum milliseconds of a measurement
const MARK_INTERVAL = 100 // minimum milliseconds between two stored marks

export class TransferRate {
  #marks = /** @type {{at: number, bytes: number}[]} */ ([])

  /** @param {number} bytes received until now */
  mark (bytes, now = performance.now()) {
    const marks = this.#marks
    if (marks.length > 1 && now - marks[marks.length - 2].at < MARK_INTERVAL) marks.pop()
    marks.push({ at: now, bytes })
    while (marks.length > 2 && marks[1].at <= now - RATE_WINDOW) marks.shift()
  }

  /** Bytes a second; undefined until there is enough to measure. */
  rate (now = performance.now()) {
    const marks = this.#marks
    // after a long silence the rate is zero
    while (marks.length > 1 && marks[1].at <= now - RATE_WINDOW) marks.shift()
    const [first] = marks
    if (!first || now - first.at < RATE_DELAY) return undefined
    return (marks[marks.length - 1].bytes - first.bytes) / (now - first.at) * 1000
  }

  /**
   * @param {{bytes: number, transfer: number} | undefined} total @param {number} bytes of images on the device
   * @returns {{rate?: number, remaining?: number}} bytes and seconds
   */
  forecast (total, bytes, now = performance.now()) {
    const rate = this.rate(now)
    if (!total) return { rate }
    const remainingBytes = total.bytes ? Math.max(0, 1 - bytes / total.bytes) * (total.transfer ?? total.bytes) : 0
    return { rate, remaining: remainingBytes ? rate && remainingBytes / rate : 0 }
  }
}
