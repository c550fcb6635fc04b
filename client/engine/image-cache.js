// The images of versions, each fetched once and kept up to a number of bytes. Images for the present view come before
// those that are fetched in advance. A version never changes, so a cached image is never fetched again.
import { isPassing } from '../source/failure.js'
import { backoff, wait } from '../source/wait.js'

/**
 * @typedef {import('../source/couch-source.js').Version} Version
 * @typedef {object} Job
 * @property {string} key
 * @property {Version} version
 * @property {Set<object>} users that still want it; a job without users that has not begun is dropped
 * @property {boolean} urgent
 * @property {AbortController} controller
 * @property {boolean} running or waiting for the next attempt
 * @property {boolean} resting it waits between two attempts
 * @property {number} attempts
 * @property {{promise: Promise<Blob>, resolve: (blob: Blob) => void, reject: (error: unknown) => void}} result
 */

/** Names the content of a version. @param {Version} version */
export const versionKey = ({ z, x, y, time, rev, content = rev, digest = content }) =>
  `${z}/${x}/${y}@${time} ${digest}`

export class ImageCache {
  #source
  #options
  /** @type {Map<string, Blob>} least recently used first */
  #blobs = new Map()
  #bytes = 0
  /** @type {Set<string>} failed in the last attempt: the browser's cache is bypassed */
  #failed = new Set()
  /** @type {Set<string>} could not be decoded: the device is bypassed as well */
  #damaged = new Set()
  /** @type {Map<string, Job>} */
  #jobs = new Map()
  #active = 0

  /**
   * @param {{tile: (version: Version, signal: AbortSignal, options: {fresh: boolean}) => Promise<Blob>} &
   *   Partial<import('../offline/offline-source.js').OfflineSource>} source
   * @param {{cacheSize: number, requests: number, attempts: number}} options as in `engineDefaults`
   */
  constructor (source, options) {
    this.#source = source
    this.#options = options
  }

  has (version) {
    return this.#blobs.has(versionKey(version))
  }

  /** The image of a version, if it is here. @param {Version} version @returns {Blob | undefined} */
  peek (version) {
    return this.#blobs.get(versionKey(version))
  }

  /**
   * The image of a version.
   * @param {Version} version
   * @param {{urgent?: boolean, user?: object}} [options] user: release() takes it when it no longer needs the image
   * @returns {Promise<Blob>} rejects with an AbortError when no user needs it any more
   */
  load (version, { urgent = true, user = {} } = {}) {
    const key = versionKey(version)
    const blob = this.#blobs.get(key)
    if (blob) {
      this.#blobs.delete(key)
      this.#blobs.set(key, blob)
      return Promise.resolve(blob)
    }
    const job = this.#jobs.get(key) ?? this.#begin(key, version)
    job.users.add(user)
    job.urgent ||= urgent
    this.#pump()
    return job.result.promise
  }

  /**
   * A user does not need a version any more. A request that has not begun is dropped. A running request ends and fills
   * the cache, unless `abort` is set.
   * @param {Version} version @param {object} user
   * @param {{abort?: boolean}} [options]
   */
  release (version, user, { abort = false } = {}) {
    const job = this.#jobs.get(versionKey(version))
    if (!job?.users.delete(user) || job.users.size) return
    if (!job.running || job.resting || abort) this.#drop(job)
  }

  /** Whether an image came from the device. */
  isFromDevice (blob) {
    return this.#source.isFromDevice?.(blob) ?? false
  }

  /** The image is damaged: the next request fetches it again. */
  forget (version) {
    const key = versionKey(version)
    const blob = this.#blobs.get(key)
    if (!blob) return
    this.#blobs.delete(key)
    this.#bytes -= blob.size
    this.#damaged.add(key)
  }

  #begin (key, version) {
    /** @type {any} */
    const result = {}
    result.promise = new Promise((resolve, reject) => Object.assign(result, { resolve, reject }))
    result.promise.catch(() => {}) // preloading does not wait for it
    const job = {
      key, version, users: new Set(), urgent: false, controller: new AbortController(), running: false, resting: false,
      attempts: 0, result
    }
    this.#jobs.set(key, job)
    if (this.#source.fromDevice && !this.#damaged.has(key)) this.#loadFromDevice(job)
    return job
  }

  /** Loads an image from the device: it needs no request, and waits for none. */
  async #loadFromDevice (job) {
    job.running = true
    const blob = await this.#source.fromDevice?.(job.version).catch(() => undefined)
    if (this.#jobs.get(job.key) !== job) return
    job.running = false
    if (blob) this.#succeed(job, blob)
    else if (job.users.size) this.#pump()
    else this.#drop(job)
  }

  #succeed (job, blob) {
    this.#damaged.delete(job.key)
    this.#failed.delete(job.key)
    this.#keep(job.key, blob)
    this.#end(job)
    job.result.resolve(blob)
  }

  #drop (job) {
    this.#jobs.delete(job.key)
    const reason = new DOMException('this tile is no longer wanted', 'AbortError')
    job.controller.abort(reason)
    job.result.reject(reason)
  }

  #pump () {
    while (this.#active < this.#options.requests) {
      const waitingJobs = [...this.#jobs.values()].filter(job => !job.running)
      const next = waitingJobs.find(job => job.urgent) ?? waitingJobs[0]
      if (!next) return
      this.#run(next)
    }
  }

  async #run (job) {
    job.running = true
    this.#active++
    try {
      const options = { fresh: this.#failed.has(job.key) || this.#damaged.has(job.key) }
      const { signal } = job.controller
      this.#succeed(job, await (
        this.#source.fromNetwork?.(job.version, signal, options) ?? this.#source.tile(job.version, signal, options)
      ))
    } catch (error) {
      if (!job.controller.signal.aborted) this.#failed.add(job.key)
      const canRetry = isPassing(error) && ++job.attempts < this.#options.attempts && !job.controller.signal.aborted
      if (canRetry) this.#retryLater(job) // other images do not wait for this one
      else {
        this.#end(job)
        job.result.reject(error)
      }
    } finally {
      this.#active--
      this.#pump()
    }
  }

  async #retryLater (job) {
    job.resting = true
    await wait(backoff(job.attempts - 1, { first: 300 }), job.controller.signal).catch(() => {})
    if (job.controller.signal.aborted) return
    job.running = job.resting = false
    this.#pump()
  }

  #end (job) {
    if (this.#jobs.get(job.key) === job) this.#jobs.delete(job.key)
  }

  #keep (key, blob) {
    // two requests may bring the same image: one that nobody waits for any more cannot be aborted at its end
    this.#bytes += blob.size - (this.#blobs.get(key)?.size ?? 0)
    this.#blobs.set(key, blob)
    for (const [oldest, { size }] of this.#blobs) {
      if (this.#bytes <= this.#options.cacheSize) break
      this.#blobs.delete(oldest)
      this.#bytes -= size
    }
  }
}
