// Several tabs with one store: locks over all of them, messages between them, and the transfers that other tabs run.
import { TilecouchError } from '../../core/index.js'

export class Locks {
  #locks

  /** @param {string} prefix of all names @param {LockManager} [locks] */
  constructor (prefix, locks = globalThis.navigator?.locks) {
    this.prefix = prefix
    this.#locks = locks ?? processLocks
    /** Whether other tabs are kept out as well. */
    this.spansTabs = Boolean(locks)
  }

  /**
   * Runs a task while no other holds the lock.
   * @template T
   * @param {string} name
   * @param {() => Promise<T> | T} task
   * @param {{signal?: AbortSignal, shared?: boolean, onWait?: () => void}} [options] signal: ends the waiting, not the
   *   task;
   *   shared: together with others that share it; onWait: called when it is not free at once
   * @returns {Promise<T>}
   */
  async hold (name, task, { signal, shared = false, onWait } = {}) {
    const full = `${this.prefix}:${name}`
    const mode = shared ? 'shared' : 'exclusive'
    if (onWait) {
      const held = await this.#locks.request(
        full, { mode, ifAvailable: true }, async lock => lock ? { result: await task() } : undefined
      )
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
const processLocks = {
  /** @type {Map<string, {shared: number, isHeld: boolean, waiting: any[]}>} */
  names: new Map(),

  async request (name, { mode, signal, ifAvailable }, task) {
    if (!this.names.has(name)) this.names.set(name, { shared: 0, isHeld: false, waiting: [] })
    const lock = this.names.get(name)
    const isShared = mode === 'shared'
    const isFree = () => !lock.isHeld && (isShared || !lock.shared)
    if (lock.waiting.length || !isFree()) {
      if (ifAvailable) return task(null)
      await waitTurn(lock.waiting, { isFree, signal })
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

function waitTurn (waiting, { isFree, signal }) {
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

/** Messages between tabs; undefined where there are none. @param {(message: any) => void} onMessage */
export function openChannel (name, onMessage) {
  if (!globalThis.BroadcastChannel) return undefined
  const channel = /** @type {any} */ (new BroadcastChannel(name))
  channel.onmessage = ({ data }) => onMessage(data)
  channel.unref?.() // Node would not end
  return channel
}

const TAB_TIMEOUT = 10000

export class OtherTabs {
  #store
  #ends = /** @type {Map<any, () => void>} */ (new Map())
  #stop = new AbortController()

  /** @param {import('./offline-store.js').OfflineStore} store */
  constructor (store) {
    this.#store = store
  }

  /** @param {import('./area.js').Area | undefined} area */
  onProgress (area, figures) {
    if (!area || this.#stop.signal.aborted) return
    if (area.setRemoteProgress(figures)) this.#watch(area)
    else if (!this.#store.locks.spansTabs) this.#watch(area)
    this.#store.fire('progress', { area, status: area.status() })
  }

  /** @param {import('./area.js').Area | undefined} area */
  onEnd (area) {
    if (!area) return
    this.#ends.get(area)?.()
    this.#ends.delete(area)
    area.setRemoteProgress()
    this.#store.areas.read().catch(() => {})
  }

  close () {
    this.#stop.abort()
    for (const end of this.#ends.values()) end()
  }

  #watch (area) {
    this.#ends.get(area)?.()
    const stop = new AbortController()
    let timer
    this.#ends.set(area, () => {
      clearTimeout(timer)
      stop.abort()
    })
    // it holds the lock as long as it lives
    if (this.#store.locks.spansTabs) this.#store.locks.hold(`area:${area.id}`, () => this.onEnd(area), { shared: true, signal: stop.signal }).catch(() => {})
    else timer = setTimeout(() => this.onEnd(area), TAB_TIMEOUT)
  }
}
