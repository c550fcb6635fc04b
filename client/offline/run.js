// One transfer of an area, for all who asked for it in this tab: each may leave, and when nobody is left it ends.
import { Meter } from './meter.js'
import { within } from './within.js'

/** @typedef {{tiles: number, versions: number, bytes: number, received: number}} Figures */

export class Run {
  #stop = new AbortController()
  #waiters = 0

  /** @param {{isQuiet?: boolean, force?: boolean}} [options] isQuiet: nobody asked for it, it follows the store; force: although it does not fit */
  constructor ({ isQuiet = false, force = false } = {}) {
    this.isQuiet = isQuiet
    this.force = force
    this.isWaiting = false // for another tab
    this.failed = 0
    this.meter = new Meter()
    /** @type {Promise<any>} */
    this.done = Promise.resolve()
    /** What is on the device, as the transfer counts it. @type {Figures | undefined} */
    this.figures = undefined
    /** @type {'pause' | 'stop' | undefined} */
    this.cause = undefined
  }

  get signal () {
    return this.#stop.signal
  }

  /** @param {Figures} figures */
  count (figures) {
    this.figures = figures
    this.meter.mark(figures.received)
  }

  /** @param {'pause' | 'stop'} cause */
  stop (cause) {
    this.cause ??= cause
    this.#stop.abort()
  }

  /** Waits for its end, or leaves before. @param {AbortSignal} [signal] */
  async join (signal) {
    this.#waiters++
    try {
      return await within([signal], () => this.done)
    } finally {
      if (!--this.#waiters) this.stop('stop')
    }
  }

  /** How it stands. @template {Record<string, any>} T @param {T} known from before @returns {T} */
  status (known) {
    if (!this.figures) return known
    const { tiles, versions, bytes } = this.figures
    return { ...known, tiles, versions, bytes, failed: this.failed, ...this.meter.foretell(known.total, bytes) }
  }
}
