// One transfer of an area, for all who asked for it in this tab: each may leave, and when nobody is left it ends.
import { TilecouchError } from '../../core/index.js'
import { Meter } from './meter.js'

export class Run {
  #stop = new AbortController()
  #waiters = 0

  /** @param {{isQuiet?: boolean}} [options] isQuiet: nobody asked for it, it follows the store */
  constructor ({ isQuiet = false } = {}) {
    this.isQuiet = isQuiet
    this.isWaiting = true
    this.force = false
    this.failed = 0
    this.meter = new Meter()
    /** @type {Promise<any>} */
    this.done = Promise.resolve()
    /** What is on the device, as the transfer counts it. @type {{tiles: number, versions: number, bytes: number, total?: any, received: number} | undefined} */
    this.figures = undefined
    /** Why it was stopped: paused, or anything else. @type {'pause' | 'stop' | undefined} */
    this.cause = undefined
  }

  get signal () {
    return this.#stop.signal
  }

  /** How it stands. @param {Record<string, any>} known before */
  now (known) {
    const { received, ...figures } = /** @type {any} */ (this.figures)
    const total = figures.total ?? known.total
    const rate = this.meter.rate()
    const left = total && Math.max(0, total.bytes - figures.bytes)
    return { ...known, ...figures, total, failed: this.failed, rate, remaining: rate && left !== undefined ? left / rate : undefined }
  }

  /** @param {'pause' | 'stop'} cause */
  stop (cause) {
    this.cause ??= cause
    this.#stop.abort()
  }

  /** Waits for its end, or leaves before. @param {AbortSignal} [signal] */
  async join (signal) {
    this.#waiters++
    let leave = () => {}
    const left = new Promise((resolve, reject) => {
      leave = () => reject(new TilecouchError('ABORTED'))
      signal?.addEventListener('abort', leave)
      if (signal?.aborted) leave()
    })
    left.catch(() => {}) // heard below, unless that is over
    try {
      return await Promise.race([left, this.done])
    } finally {
      signal?.removeEventListener('abort', leave)
      if (!--this.#waiters) this.stop('stop')
    }
  }
}
