// Fills the version index with what a view of the map lacks: one request for all of it, given up when the map has moved
// on, and asked again for as long as it is wanted when the store does not answer.
import { persist } from '../source/patience.js'

/** @typedef {import('../source/couch-source.js').Column} Column */

export class IndexLoader {
  #source
  #layer
  #index
  #listeners
  /** @type {Column[]} */
  #wanted = []
  /** @type {Set<{columns: Column[], controller: AbortController}>} */
  #running = new Set()
  #failed = false

  /**
   * @param {import('../source/couch-source.js').CouchSource} source
   * @param {string} layer
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

  /**
   * From now on this is wanted, and nothing else.
   * @param {Column[]} columns
   */
  want (columns) {
    this.#wanted = columns
    for (const job of this.#running) if (!job.columns.some(column => columns.some(other => overlap(column, other)))) this.#abort(job)
    const asked = [...this.#running].flatMap(job => job.columns)
    const missing = this.#index.missing(columns).filter(column => !asked.some(other => contains(other, column)))
    if (missing.length) this.#ask(missing)
  }

  /** Asks now instead of waiting for the next attempt. */
  retry () {
    if (!this.#failed) return
    for (const job of this.#running) this.#abort(job)
    this.want(this.#wanted)
  }

  stop () {
    this.#wanted = []
    for (const job of this.#running) this.#abort(job)
  }

  #abort (job) {
    this.#running.delete(job)
    job.controller.abort()
  }

  async #ask (columns) {
    const job = { columns, controller: new AbortController() }
    const { signal } = job.controller
    this.#running.add(job)
    try {
      const answers = await persist(() => this.#source.versions(this.#layer, columns, signal), {
        signal,
        onError: error => {
          this.#failed = true
          this.#listeners.onError(error)
        },
        onDone: () => {
          this.#failed = false
          this.#listeners.onBack()
        }
      })
      columns.forEach((column, at) => this.#index.add(column, answers[at]))
    } catch {
      return // the map has moved on
    } finally {
      this.#running.delete(job)
    }
    this.#listeners.onKnown()
  }
}

const overlap = (a, b) => a.z === b.z && a.x === b.x && a.y0 <= b.y1 && b.y0 <= a.y1
const contains = (a, b) => a.z === b.z && a.x === b.x && a.y0 <= b.y0 && b.y1 <= a.y1
