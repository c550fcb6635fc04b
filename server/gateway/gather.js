// Who want one thing each share few requests for many: what is wanted in the same turn of the event loop, in a moment while
// another request is in flight, or while as many are as may be, goes into the next one together. One thing is asked for once,
// however many want it.
import { TilecouchError } from '../../core/index.js'
import { join, unattended } from './flight.js'

export const gatherDefaults = {
  most: 64, // things a request asks for at most
  requests: 2, // requests in flight at most: one while the other is taken apart; more make each of them smaller, and a request costs the store as much as three tiles
  company: 1, // milliseconds to wait for others while another request is in flight: who has just had an answer asks for the next thing
  attempts: 3, // readings of a thing that keeps changing while it is read
  pause: 50, // milliseconds before something is read again that was behind what is known
  splits: 24 // more requests that one failed request may cost, to find the one thing in it that cannot be read
}

/** What `settle` answers when a thing has to be read again. `later`: after a pause. */
export const AGAIN = Symbol('again')
export const LATER = Symbol('later')

/** Failures that concern the whole store: asking for less is in vain. */
const WHOLE = new Set(['UNREACHABLE', 'UNAUTHORIZED', 'FORBIDDEN', 'DATABASE_NOT_FOUND', 'ABORTED', 'DISK_FULL'])
const BUSY = new Set([429, 502, 503, 504])

/**
 * @typedef {object} Job
 * @property {string} key
 * @property {Promise<any>} promise
 * @property {(value: any) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {number} waiting how many
 * @property {number} attempt
 */

/** @template V, R */
export class Gather {
  /** @type {Map<string, Job>} everything that is wanted */
  #jobs = new Map()
  /** @type {Set<Job>} what has yet to be asked for, in the order of arrival */
  #queue = new Set()
  #inFlight = 0
  /** @type {NodeJS.Immediate | NodeJS.Timeout | undefined} */
  #scheduled

  /**
   * @param {(keys: string[]) => Promise<Map<string, V | Error>>} read
   * @param {Partial<typeof gatherDefaults> & {
   *   settle: (key: string, value: V, reading: {begun: number, last: boolean}) => R | typeof AGAIN | typeof LATER,
   *   begin: () => number,
   *   room?: () => number
   * }} options settle: makes what is wanted of what was read; begin: marks the moment a reading begins;
   *   room: things the next request may ask for
   */
  constructor (read, { settle, begin, room = () => Infinity, ...options }) {
    this.read = read
    this.settle = settle
    this.begin = begin
    this.room = room
    this.options = { ...gatherDefaults, ...options }
  }

  /** Things asked for or about to be. */
  get size () {
    return this.#jobs.size
  }

  /**
   * @param {string} key
   * @param {AbortSignal} [signal] when all who want a thing have left before it was asked for, nobody asks
   * @returns {Promise<R>}
   */
  get (key, signal) {
    const job = this.#jobs.get(key) ?? this.#enter(key)
    job.waiting++
    const leave = () => { job.waiting-- }
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted) leave()
    return join(job.promise, signal).finally(() => signal?.removeEventListener('abort', leave))
  }

  /** @returns {Job} */
  #enter (key) {
    const { promise, resolve, reject } = withResolvers()
    const job = { key, promise: unattended(promise), resolve, reject, waiting: 0, attempt: 0 }
    this.#jobs.set(key, job)
    this.#line(job)
    return job
  }

  #line (job) {
    this.#queue.add(job)
    if (this.#scheduled) return
    const send = () => {
      this.#scheduled = undefined
      this.#send()
    }
    this.#scheduled = this.#inFlight ? setTimeout(send, this.options.company) : setImmediate(send)
  }

  #send () {
    while (this.#queue.size && this.#inFlight < this.options.requests) {
      const jobs = this.#next(Math.max(1, Math.min(this.options.most, this.room())))
      if (!jobs.length) return
      this.#inFlight++
      this.#ask(jobs, { left: this.options.splits }).finally(() => {
        this.#inFlight--
        // who waits for company goes on waiting, unless nothing is under way any more
        if (!this.#scheduled || !this.#inFlight) this.#send()
      })
    }
  }

  #next (most) {
    const jobs = []
    for (const job of this.#queue) {
      this.#queue.delete(job)
      if (job.waiting > 0) jobs.push(job)
      else this.#end(job, new TilecouchError('ABORTED'))
      if (jobs.length === most) break
    }
    return jobs
  }

  /** @param {Job[]} jobs @param {{left: number}} splits */
  async #ask (jobs, splits) {
    const begun = this.begin()
    let values
    try {
      values = await this.read(jobs.map(({ key }) => key))
    } catch (error) {
      if (jobs.length === 1 || splits.left < 2 || !mayBeOne(error)) return jobs.forEach(job => this.#end(job, error))
      splits.left -= 2
      const half = jobs.length >> 1
      await this.#ask(jobs.slice(0, half), splits)
      return this.#ask(jobs.slice(half), splits)
    }
    for (const job of jobs) this.#settle(job, values.get(job.key), begun)
  }

  /** In the turn in which the answer came, so that no change can be announced between reading and keeping. */
  #settle (job, value, begun) {
    if (value instanceof Error || value === undefined) return this.#end(job, value ?? new TilecouchError('BAD_ANSWER', { url: job.key, why: 'it is missing' }))
    let result
    try {
      result = this.settle(job.key, value, { begun, last: ++job.attempt >= this.options.attempts })
    } catch (error) {
      return this.#end(job, error)
    }
    if (result === AGAIN) this.#line(job)
    else if (result === LATER) setTimeout(() => this.#line(job), this.options.pause)
    else {
      this.#jobs.delete(job.key)
      job.resolve(result)
    }
  }

  #end (job, error) {
    this.#jobs.delete(job.key)
    job.reject(error)
  }
}

/** Whether one thing among many could be why a request failed: then it is looked for, and the others need not suffer. */
const mayBeOne = error => !WHOLE.has(error.code) && !BUSY.has(error.details?.status)

/** Promise.withResolvers, which Node 20 lacks. */
export function withResolvers () {
  let resolve, reject
  const promise = new Promise((res, rej) => { [resolve, reject] = [res, rej] })
  return { promise, resolve: /** @type {any} */ (resolve), reject: /** @type {any} */ (reject) }
}
