// A transfer of an area from its beginning to what the registry says in the end: one tab at a time, with leave, and where there is room.
import { TilecouchError } from '../../core/index.js'
import { Transfer } from './interim.js'

const OFTEN = 100 // milliseconds between two events of progress
const KEEP = 2000 // milliseconds between two notes of it in the registry

export class AreaTransfer {
  #told = 0
  #kept = 0

  /** @param {any} store @param {import('./area.js').Area} area @param {import('./run.js').Run} run */
  constructor (store, area, run) {
    this.store = store
    this.area = area
    this.run = run
  }

  /** @returns {Promise<{changed: {docs: number, tiles: number, bytes: number}}>} */
  async perform () {
    const { store, area, run } = this
    const begun = new Date().toISOString()
    return store.locks.hold(`area:${area.id}`, async () => {
      await store.areas.read()
      if (area.isRemoved) throw new TilecouchError('ABORTED')
      const { updated } = area.document
      if (updated && updated > begun && !run.force) return { changed: { docs: 0, tiles: 0, bytes: 0 } } // another tab has just done it
      run.isWaiting = false
      store.changed(area)
      try {
        return await this.#transfer()
      } catch (error) {
        throw await this.#fail(error)
      } finally {
        store.tell({ kind: 'idle', id: area.id })
      }
    }, { signal: run.signal, onWait: () => store.changed(area) })
  }

  async #transfer () {
    const { store, area, run } = this
    const { signal } = run
    await store.checkLayer(area.layer, { permission: area.document.permission, signal })
    if (!area.isComplete && !run.force) await store.checkRoom(area, signal)
    await area.change(doc => ({ ...doc, state: doc.state === 'complete' ? 'complete' : 'incomplete', error: undefined, reason: undefined }))
    const transfer = new Transfer({
      couch: store.couch,
      db: area.db,
      area: { layer: area.layer, selection: area.selection, hasHistory: area.hasHistory },
      lenders: store.lenders(area),
      known: undefined,
      limits: store.limits,
      signal,
      onProgress: figures => this.#progress(figures),
      onFailed: () => { run.failed++ }
    })
    const { failed, changed, isComplete, have } = await transfer.run()
    const done = isComplete && !failed.length
    await area.change(doc => ({
      ...doc, ...have, state: done ? 'complete' : 'incomplete', total: done ? { ...doc.total, ...have } : doc.total, failed: failed.length,
      updated: done ? new Date().toISOString() : doc.updated, error: failed[0]?.error, reason: failed[0]?.reason
    }))
    this.#tell()
    if (changed.docs) store.touch(area.layer, area)
    return { changed }
  }

  #progress (figures) {
    const { run, area, store } = this
    run.figures = figures
    run.meter.mark(figures.received)
    const now = performance.now()
    if (now - this.#told < OFTEN) return
    this.#told = now
    this.#tell()
    if (now - this.#kept < KEEP) return
    this.#kept = now
    const { tiles, versions, bytes, total } = figures
    area.change(doc => ({ ...doc, tiles, versions, bytes, total: total ?? doc.total })).catch(() => {}) // it is counted again
    store.touch(area.layer, area)
  }

  #tell () {
    const { area, store } = this
    const status = area.status()
    store.fire('progress', { area, status })
    store.tell({ kind: 'progress', id: area.id, status })
  }

  async #fail (error) {
    const { area, run, store } = this
    const isAborted = run.signal.aborted || error.code === 'ABORTED'
    const told = isAborted ? new TilecouchError('ABORTED') : error.code === 'DISK_FULL' ? await this.#full() : error
    const paused = run.cause === 'pause' ? 'paused' : 'incomplete'
    const { tiles, versions, bytes, total } = run.figures ?? area.document
    await area.change(doc => ({
      ...doc, tiles, versions, bytes, total: total ?? doc.total,
      state: doc.state === 'complete' || doc.state === 'removing' ? doc.state : paused,
      ...(isAborted ? {} : { error: told.code, reason: told.message })
    })).catch(() => {})
    if (told.code === 'UNREACHABLE') store.heard(false)
    return told
  }

  async #full () {
    const { free } = await this.store.storage()
    await this.area.reopen()
    return new TilecouchError('QUOTA_EXCEEDED', { area: this.area.name, free })
  }
}
