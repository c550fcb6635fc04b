// A transfer of an area, from the lock to what the registry says in the end: in one tab at a time, with leave, and where there is room.
import { TilecouchError } from '../../core/index.js'
import { checkFits } from './quota.js'
import { sign } from './strays.js'
import { Transfer } from './transfer.js'

const OFTEN = 100 // milliseconds between two events of progress at least
const SELDOM = 1000 // milliseconds between two of them at most: a rate falls, and other tabs know that it runs
const KEEP = 2000 // milliseconds between two notes of it in the registry

const NOTHING = { docs: 0, tiles: 0, bytes: 0 }

export class AreaTransfer {
  #told = -Infinity
  #kept = performance.now()

  /** @param {import('./offline-store.js').OfflineStore} store @param {import('./area.js').Area} area @param {import('./run.js').Run} run */
  constructor (store, area, run) {
    this.store = store
    this.area = area
    this.run = run
  }

  /** @returns {Promise<typeof NOTHING>} what has changed */
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
      if (area.isGone || area.state === 'removing' || run.signal.aborted) throw new TilecouchError('ABORTED')
      if (run.isWaiting && /** @type {string} */ (area.document.updated) > asked && area.isComplete) return NOTHING // another tab has just done it
      run.isWaiting = false
      return this.#hold()
    }, { signal: run.signal, onWait })
  }

  async #hold () {
    const { store, area } = this
    const beat = setInterval(() => this.#tell(), SELDOM)
    this.#tell()
    try {
      return await this.#transfer()
    } catch (error) {
      throw await this.#fail(error)
    } finally {
      clearInterval(beat)
      area.hear() // nobody else transfers it: a tab that was closed in the middle has not said so
      this.#tell()
      store.tell({ kind: 'idle', id: area.id })
    }
  }

  async #transfer () {
    const { store, area, run } = this
    const { signal } = run
    if (area.document.error === 'QUOTA_EXCEEDED') await area.reopen() // it may have been opened again before there was room
    await store.layerDocument(area.layer, { permission: area.document.permission, signal })
    if (!area.isComplete) await this.#measure(signal)
    await area.change(doc => ({ ...doc, state: doc.state === 'complete' ? 'complete' : 'incomplete', error: undefined, reason: undefined }))
    await this.#load()
    await sign(area)
    const transfer = new Transfer({
      couch: store.couch,
      db: area.db,
      area: { layer: area.layer, selection: area.selection },
      lenders: store.lenders(area),
      limits: store.limits,
      force: run.force,
      signal,
      onProgress: figures => this.#count(figures),
      onFailed: () => { run.failed++ }
    })
    const { failed, changed, isComplete, held } = await transfer.run()
    store.heard(true)
    await area.change(doc => ({
      ...doc,
      ...held,
      state: isComplete ? 'complete' : 'incomplete',
      total: isComplete ? { transfer: 0, ...doc.total, ...held } : doc.total,
      failed: failed.length,
      updated: isComplete ? new Date().toISOString() : doc.updated,
      error: failed[0]?.error,
      reason: failed[0]?.reason
    }))
    if (changed.docs) store.touch(area.layer, area)
    return changed
  }

  /** How much there is to come, and whether there is room for it. */
  async #measure (signal) {
    const { store, area, run } = this
    let { total } = area.document
    if (!total?.transfer || run.force) { // else it was counted when this began
      const { requests, ...counted } = await store.estimate(area.selection, { signal, isRecent: true })
      total = counted
      await area.change(doc => ({ ...doc, total: counted }))
    }
    if (!run.force) checkFits(area.name, total, area.document, await store.storage())
  }

  /** @param {import('./run.js').Figures} figures */
  #count (figures) {
    const { run, area, store } = this
    run.count(figures)
    const now = performance.now()
    if (now - this.#told >= OFTEN) this.#tell()
    if (now - this.#kept < KEEP) return
    this.#kept = now
    const { tiles, versions, bytes } = figures
    area.change(doc => ({ ...doc, tiles, versions, bytes })).catch(() => {}) // it is only for who comes after a crash
    store.touch(area.layer, area)
  }

  #tell () {
    this.#told = performance.now()
    this.store.progress(this.area)
  }

  /** @returns {Promise<any>} what is told of it */
  async #fail (error) {
    const { area, run, store } = this
    const isStopped = run.signal.aborted || error.code === 'ABORTED'
    const told = isStopped ? new TilecouchError('ABORTED') : error.code === 'DISK_FULL' ? await this.#full() : error
    if (told.code === 'UNREACHABLE') store.heard(false)
    const { tiles, versions, bytes } = run.figures ?? area.document
    const stopped = run.cause === 'pause' ? 'paused' : 'incomplete'
    const fieldsOf = doc => ({
      tiles,
      versions,
      bytes,
      state: ['complete', 'removing'].includes(doc.state) || (doc.state === 'new' && !run.figures && !run.cause) ? doc.state : stopped,
      ...(!isStopped && { error: told.code, reason: told.message })
    })
    await area.note(fieldsOf).catch(() => {})
    if (run.figures) store.touch(area.layer, area)
    return told
  }

  async #load () {
    try {
      await this.store.spareRoom.make()
    } catch (error) {
      throw new TilecouchError('DISK_FULL', { where: this.area.name }, { cause: error })
    }
  }

  async #full () {
    const { store, area } = this
    await store.spareRoom.drop().catch(() => {})
    await area.reopen()
    const { free, quota } = await store.storage()
    return new TilecouchError('QUOTA_EXCEEDED', { area: area.name, free, quota })
  }
}
