// Several tabs with one store: locks over all of them, messages between them, and the transfers that other tabs run.
import { cached } from '../../core/cache.js'
import { TilecouchError } from '../../core/index.js'
import { raceAbort } from '../../core/promises.js'

/** Milliseconds for another tab to stop, and for the browser to destroy a database. */
export const STOP_TIMEOUT = 10000

export class Locks {
  #locks = globalThis.navigator?.locks ?? processLocks

  /** @param {string} prefix of all names */
  constructor (prefix) {
    this.prefix = prefix
  }

  /**
   * Runs a task while no other task holds the lock.
   * @template T
   * @param {string} name
   * @param {() => Promise<T> | T} task
   * @param {{signal?: AbortSignal, onWait?: () => void}} [options] signal: ends the waiting, not the task; onWait:
   *   called if the lock is not free at once
   * @returns {Promise<T>}
   */
  async hold (name, task, { signal, onWait } = {}) {
    const lockName = `${this.prefix}:${name}`
    if (onWait) {
      const attempt = await this.#locks.request(
        lockName, { ifAvailable: true }, async lock => lock ? { result: await task() } : undefined
      )
      if (attempt) return attempt.result
      onWait()
    }
    let isHeld = false
    try {
      return await this.#locks.request(lockName, { signal }, () => {
        isHeld = true
        return task()
      })
    } catch (error) {
      throw signal?.aborted && !isHeld ? new TilecouchError('ABORTED') : error
    }
  }
}

/**
 * Replaces navigator.locks within one process. The lock file that LevelDB has in each folder keeps other processes out.
 * @type {any}
 */
const processLocks = {
  /** @type {Map<string, (() => void)[]>} name -> starts of the tasks, of which the first one runs */
  queues: new Map(),

  async request (name, { signal, ifAvailable }, task) {
    const queue = cached(this.queues, name, () => /** @type {(() => void)[]} */ ([]))
    const isFree = !queue.length
    if (!isFree && ifAvailable) return task(null)
    let start = () => {}
    const turn = new Promise(resolve => { start = () => resolve(undefined) })
    queue.push(start)
    try {
      if (!isFree) await raceAbort(turn, signal)
      return await task({ name })
    } finally {
      const wasFirst = queue[0] === start
      queue.splice(queue.indexOf(start), 1)
      if (wasFirst) queue[0]?.()
    }
  }
}

/** Opens a channel between tabs; undefined without BroadcastChannel. @param {(message: any) => void} onMessage */
export function openChannel (name, onMessage) {
  if (!globalThis.BroadcastChannel) return undefined
  const channel = /** @type {any} */ (new BroadcastChannel(name))
  channel.onmessage = ({ data }) => onMessage(data)
  channel.unref?.() // lets Node exit
  return channel
}

const TAB_TIMEOUT = 5000 // milliseconds without a message after which a transfer of another tab is over

/** Follows the transfers of other tabs. */
export class OtherTabs {
  #store
  #timers = /** @type {Map<any, any>} */ (new Map()) // by area
  #isClosed = false

  /** @param {import('./offline-store.js').OfflineStore} store */
  constructor (store) {
    this.#store = store
  }

  /** @param {import('./area.js').Area | undefined} area */
  onProgress (area, figures) {
    if (!area || this.#isClosed) return
    area.setRemoteProgress(figures)
    clearTimeout(this.#timers.get(area))
    this.#timers.set(area, setTimeout(() => this.onEnd(area), TAB_TIMEOUT))
    this.#store.fire('progress', { area, status: area.status() })
  }

  /** @param {import('./area.js').Area | undefined} area */
  onEnd (area) {
    if (!area) return
    clearTimeout(this.#timers.get(area))
    this.#timers.delete(area)
    area.setRemoteProgress()
    this.#store.areas.read().catch(() => {}) // the next read reports the error
  }

  close () {
    this.#isClosed = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }
}
