// Fills the version index with the versions that a view of the map needs, in one request. The request ends when the map
// has moved on, and is repeated while the store does not answer.
import { retry } from '../source/wait.js'
import { isInColumns } from './resolve.js'
import { BLOCK } from './version-index.js'

/**
 * @typedef {import('../source/couch-source.js').Column} Column
 * @typedef {object} IndexJob
 * @property {Column[]} columns
 * @property {AbortController} controller
 * @property {boolean} failed so far
 * @property {[number, number, number][]} outdated tiles that changed after the request was sent
 * @property {Set<Column> | null} local columns that the device knows completely; null until the device has answered
 */

export class IndexLoader {
  #source
  #layer
  #index
  #listeners
  /** @type {Column[]} */
  #columnsInView = []
  /** @type {Set<IndexJob>} */
  #running = new Set()
  #failed = false

  /**
   * @param {Pick<import('../source/couch-source.js').CouchSource, 'versions'> &
   *   Partial<import('../offline/offline-source.js').OfflineSource>} source
   * @param {import('./version-index.js').VersionIndex} index
   * @param {{onKnown: () => void, onError: (error: Error) => void, onBack: () => void}} listeners
   *   onError: after every attempt without an answer; onBack: after every answer
   */
  constructor (source, layer, index, listeners) {
    this.#source = source
    this.#layer = layer
    this.#index = index
    this.#listeners = listeners
  }

  /** Requests the versions of these columns, and aborts requests for others. @param {Column[]} columns */
  want (columns) {
    this.#columnsInView = columns
    for (const job of this.#running) {
      if (!job.columns.some(column => columns.some(other => overlap(column, other)))) this.#abort(job)
    }
    const running = [...this.#running].flatMap(job => job.columns)
    const missing = this.#index.missing(columns, (z, x, y) => isInColumns(running, z, x, y))
    if (missing.length) this.#ask(missing)
    if (!this.#failed || this.#running.size) return
    this.#failed = false // the columns that failed are not in view any more
    this.#listeners.onBack()
  }

  /** A tile has changed: its versions are requested again when it is next in view. */
  expire (z, x, y) {
    this.#index.expire(z, x, y)
    for (const job of this.#running) if (isInColumns(job.columns, z, x, y)) job.outdated.push([z, x, y])
  }

  /** All tiles may have changed. */
  expireAll () {
    this.#index.expireAll()
    for (const job of this.#running) {
      for (const { z, x, y0, y1 } of job.columns) for (let y = y0; y <= y1; y += BLOCK) job.outdated.push([z, x, y])
    }
  }

  /** Reads the columns in view from the device, where tiles may have changed. */
  async readDevice () {
    if (!this.#source.local || !this.#columnsInView.length) return
    const columns = this.#index.blocks(this.#columnsInView)
    const local = await this.#source.local(this.#layer, columns).catch(() => /** @type {any[]} */ ([]))
    const { generation } = this.#index
    this.#addLocal(columns, local)
    if (this.#index.generation !== generation) this.#listeners.onKnown()
    this.want(this.#columnsInView)
  }

  get isBusy () {
    return this.#running.size > 0
  }

  /** Asks now instead of waiting for the next attempt. */
  retry () {
    for (const job of this.#running) if (job.failed) this.#abort(job)
    this.want(this.#columnsInView)
  }

  stop () {
    this.#columnsInView = []
    for (const job of this.#running) this.#abort(job)
  }

  #abort (job) {
    this.#running.delete(job)
    job.controller.abort()
  }

  async #ask (columns) {
    /** @type {IndexJob} */
    const job = { columns, controller: new AbortController(), failed: false, outdated: [], local: null }
    const { signal } = job.controller
    this.#running.add(job)
    try {
      const onEarly = local => this.#showLocal(job, local)
      const answers = await retry(() => this.#source.versions(this.#layer, columns, signal, { onEarly }), {
        signal,
        onError: error => {
          this.#failed = job.failed = true
          this.#listeners.onError(error)
        },
        onDone: () => {
          if (job.local?.size === columns.length) return // the network was not asked
          this.#failed = false
          this.#listeners.onBack()
        }
      })
      columns.forEach((column, index) => { if (!job.local?.has(column)) this.#index.add(column, answers[index]) })
      for (const tile of job.outdated) this.#index.expire(...tile)
      this.#index.trim(this.#columnsInView)
    } catch {
      return // the map has moved on
    } finally {
      this.#running.delete(job)
    }
    this.#listeners.onKnown()
    if (job.outdated.length) this.want(this.#columnsInView)
  }

  /** Shows what the device has before the network has answered. */
  #showLocal (job, local) {
    if (job.local || job.controller.signal.aborted) return
    job.local = new Set(job.columns.filter((column, index) => local[index].isWhole))
    this.#addLocal(job.columns, local)
    if (job.local.size < job.columns.length) this.#listeners.onKnown()
  }

  #addLocal (columns, local) {
    for (const [index, { versions, isWhole }] of local.entries()) {
      if (!isWhole) this.#index.addPart(columns[index], versions)
      else if (!this.#index.equals(columns[index], versions)) this.#index.add(columns[index], versions)
    }
  }
}

const overlap = (a, b) => a.z === b.z && a.x === b.x && a.y0 <= b.y1 && b.y0 <= a.y1
