// Limits the requests to an upstream: in flight, per second, and waiting. Pauses if the upstream asks for a pause, and
// stops for a while if it keeps failing (a circuit breaker: closed, open, and half-open while one request tries again).
import { setMaxListeners } from 'node:events'
import PQueue from 'p-queue'
import { TilecouchError } from '../../errors.js'
import { childSignal } from '../../child-signal.js'

export const limiterDefaults = {
  queue: 500, // requests that may wait
  longestPause: 10, // seconds a request waits for an upstream that asks for a pause
  retries: 2, // of a request after 429
  failures: 5, // failures in a row that open the circuit
  open: 10, // seconds it stays open, doubled each time the next request fails
  openMost: 300 // seconds it stays open at most
}

/** Failures that open the circuit. A missing tile and a refusal do not: the upstream answers. */
const FAILURES = new Set(['UPSTREAM_ADDRESS', 'UPSTREAM_UNREACHABLE', 'UPSTREAM_FAILED'])

const LONGEST_TIMER = 86400000 // milliseconds; setTimeout cannot wait for a month

export class Limiter {
  #queue
  #url
  #limits
  #runs = new Set()
  #openUntil = 0
  #opened = 0 // times in a row
  #probing = false
  #pausedUntil = 0
  #timer

  /**
   * @param {string} url for messages
   * @param {{concurrency: number, rate?: number} & Partial<typeof limiterDefaults>} options rate: requests a second
   */
  constructor (url, { concurrency, rate, ...limits }) {
    this.#url = url
    this.#limits = { ...limiterDefaults, ...limits }
    this.#queue = new PQueue({ concurrency, ...(rate && { interval: 1000 / rate, intervalCap: 1, strict: true }) })
    /** @type {'closed' | 'open' | 'half-open'} */
    this.circuit = 'closed'
    this.failures = 0 // in a row
    this.closed = false
  }

  get inFlight () { return this.#queue.pending }

  get queued () { return this.#queue.size }

  /**
   * Runs a task when its turn comes, or throws at once.
   * @template T
   * @param {(signal: AbortSignal) => Promise<T>} task
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<T>}
   */
  async run (task, { signal } = {}) {
    if (signal?.aborted || this.closed) throw new TilecouchError('ABORTED')
    if (signal) setMaxListeners(0, signal) // one signal may stop a thousand requests
    const run = childSignal(signal)
    this.#runs.add(run)
    try {
      return await this.#runWithRetries(task, run.signal)
    } catch (error) {
      throw run.signal.aborted && !(error instanceof TilecouchError) ? new TilecouchError('ABORTED') : error
    } finally {
      this.#runs.delete(run)
      run.end()
    }
  }

  async #runWithRetries (task, signal) {
    for (let attempt = 0; ; attempt++) {
      const probe = this.#admit()
      try {
        return await this.#queue.add(() => this.#attempt(task, probe, signal), { signal, priority: attempt })
      } catch (error) {
        if (error.details?.status !== 429) throw error
        const wait = error.details.retryAfter ?? 2 ** attempt
        this.#pause(wait)
        if (attempt >= this.#limits.retries || wait > this.#limits.longestPause) throw error
      } finally {
        if (probe) this.#probing = false // also after an abort: the next request tries again
      }
    }
  }

  /**
   * Throws if a request may not wait for its turn.
   * @returns {boolean} whether it is the request that tries whether the upstream is back
   */
  #admit () {
    const now = performance.now()
    const { queue } = this.#limits
    if (this.circuit === 'open' && now >= this.#openUntil) this.circuit = 'half-open'
    if (this.circuit === 'open') throw this.#busy(`it failed ${this.failures} times in a row`, this.#openUntil - now)
    if (this.circuit === 'half-open' && this.#probing) {
      throw this.#busy('it failed, and one request tries whether it is back', 1000)
    }
    this.#refuseInLongPause()
    if (this.queued >= queue) throw this.#busy(`${this.queued} requests are waiting for it`, 1000)
    this.#probing = this.circuit === 'half-open'
    return this.#probing
  }

  async #attempt (task, probe, signal) {
    // the upstream may have failed, or asked for a pause, while this request waited
    this.#refuseInLongPause()
    if (this.circuit !== 'closed' && !probe) {
      throw this.#busy(`it failed ${this.failures} times in a row`, Math.max(1000, this.#openUntil - performance.now()))
    }
    try {
      const result = await task(signal)
      this.#succeed()
      return result
    } catch (error) {
      if (FAILURES.has(error.code)) this.#fail(probe)
      else if (error.code === 'UPSTREAM_REFUSED') this.#succeed()
      throw error
    }
  }

  #succeed () {
    this.circuit = 'closed'
    this.failures = 0
    this.#opened = 0
  }

  #fail (probe) {
    this.failures++
    if (!probe && (this.circuit !== 'closed' || this.failures < this.#limits.failures)) return
    const seconds = Math.min(this.#limits.open * 2 ** this.#opened++, this.#limits.openMost)
    this.circuit = 'open'
    this.#openUntil = performance.now() + seconds * 1000
  }

  #pause (seconds) {
    const until = performance.now() + seconds * 1000
    if (until <= this.#pausedUntil || this.closed) return
    this.#pausedUntil = until
    this.#hold()
  }

  /** Requests wait for the end of a pause. They fail as long as it lasts longer than they may wait. */
  #hold () {
    clearTimeout(this.#timer)
    const left = this.#pausedUntil - performance.now()
    const most = this.#limits.longestPause * 1000
    if (left > most) {
      this.#queue.start()
      this.#timer = setTimeout(() => this.#hold(), Math.min(left - most, LONGEST_TIMER))
    } else {
      this.#queue.pause()
      this.#timer = setTimeout(() => this.#queue.start(), left)
    }
  }

  #refuseInLongPause () {
    const left = this.#pausedUntil - performance.now()
    if (left > this.#limits.longestPause * 1000) throw this.#busy('it asked for a pause', left)
  }

  #busy (why, milliseconds) {
    const retryAfter = Math.max(1, Math.ceil(milliseconds / 1000))
    return new TilecouchError('UPSTREAM_BUSY', { url: this.#url, why, retryAfter })
  }

  /** Stops all requests. */
  close () {
    this.closed = true
    clearTimeout(this.#timer)
    for (const run of this.#runs) run.end()
  }
}
