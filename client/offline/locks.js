// One at a time, over all tabs of an origin where there are Web Locks. Where there are none (a page without https, Node of
// old) within this process: LevelDB lets no other in anyway.
import { TilecouchError } from '../../core/index.js'

export class Locks {
  #locks

  /** @param {string} prefix of all names @param {LockManager} [locks] */
  constructor (prefix, locks = globalThis.navigator?.locks) {
    this.prefix = prefix
    this.#locks = locks ?? inProcess
    /** Whether other tabs are kept out as well. */
    this.spansTabs = Boolean(locks)
  }

  /**
   * Runs a task while nobody else holds the lock.
   * @template T
   * @param {string} name
   * @param {() => Promise<T> | T} task
   * @param {{signal?: AbortSignal, shared?: boolean, onWait?: () => void}} [options] signal: ends the waiting, not the task;
   *   shared: together with others that share it; onWait: told when it is not to be had at once
   * @returns {Promise<T>}
   */
  async hold (name, task, { signal, shared = false, onWait } = {}) {
    const full = `${this.prefix}:${name}`
    const mode = shared ? 'shared' : 'exclusive'
    if (onWait) {
      const held = await this.#locks.request(full, { mode, ifAvailable: true }, async lock => lock ? { result: await task() } : undefined)
      if (held) return held.result
      onWait()
    }
    let isHeld = false
    try {
      return await this.#locks.request(full, { mode, signal }, () => {
        isHeld = true
        return task()
      })
    } catch (error) {
      throw signal?.aborted && !isHeld ? new TilecouchError('ABORTED') : error
    }
  }
}

/** The same as navigator.locks, as far as it is used here. @type {any} */
const inProcess = {
  /** @type {Map<string, {shared: number, isHeld: boolean, waiting: any[]}>} */
  names: new Map(),

  async request (name, { mode, signal, ifAvailable }, task) {
    if (!this.names.has(name)) this.names.set(name, { shared: 0, isHeld: false, waiting: [] })
    const lock = this.names.get(name)
    const isShared = mode === 'shared'
    const isFree = () => !lock.isHeld && (isShared || !lock.shared)
    if (lock.waiting.length || !isFree()) {
      if (ifAvailable) return task(null)
      await queued(lock.waiting, { isFree, signal })
    }
    if (isShared) lock.shared++
    else lock.isHeld = true
    // several that share it go on together
    if (isShared && lock.waiting[0]?.isFree()) lock.waiting.shift().go()
    try {
      return await task({ name, mode })
    } finally {
      if (isShared) lock.shared--
      else lock.isHeld = false
      if (lock.waiting[0]?.isFree()) lock.waiting.shift().go()
    }
  }
}

function queued (waiting, { isFree, signal }) {
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiting.splice(waiting.indexOf(turn), 1)
      reject(signal.reason)
    }
    const turn = {
      isFree,
      go () {
        signal?.removeEventListener('abort', leave)
        resolve(undefined)
      }
    }
    waiting.push(turn)
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted) leave()
  })
}
