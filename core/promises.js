// Promises and waiting that an AbortSignal ends. AbortSignal.any and AbortSignal.timeout would do, but Node 20 may lose
// them, and the signal of a fetch, in a garbage collection. A request on a dead connection would then wait for minutes,
// or for ever.

/**
 * @template T
 * @param {Promise<T>} task it gets the signal as well
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>} rejects with an AbortError
 */
export function raceAbort (task, signal) {
  if (!signal) return task
  return new Promise((resolve, reject) => {
    const stop = () => reject(new DOMException('This operation was aborted', 'AbortError'))
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    task.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/**
 * @param {AbortSignal} [signal] aborts the new signal as well
 * @returns {{signal: AbortSignal, isOver: boolean, renew: () => void, end: () => void}} isOver: the time ran out;
 *   renew: starts the time again; end: to be called when the wait is over
 */
export function timeoutSignal (milliseconds, signal) {
  const stop = new AbortController()
  const abort = () => stop.abort()
  const start = () => setTimeout(() => {
    waiting.isOver = true
    abort()
  }, milliseconds)
  let timer = start()
  const waiting = {
    signal: stop.signal,
    isOver: false,
    renew () {
      if (typeof timer === 'object') {
        timer.refresh() // in Node, where a new timer for each piece of an answer costs more
        return
      }
      clearTimeout(timer)
      timer = start()
    },
    end () {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  return waiting
}

/** @returns {Promise<void>} */
export function pause (milliseconds, signal) {
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve(undefined)
    }
    const timer = setTimeout(done, milliseconds)
    signal?.addEventListener('abort', done)
    if (signal?.aborted) done()
  })
}

/**
 * Makes a handler for `catch` that ignores errors with these codes.
 * @param {...string} codes @returns {(error: any) => undefined}
 */
export const ignoring = (...codes) => error => {
  if (!codes.includes(error.code)) throw error
  return undefined
}

/** A handler for `catch` that ignores a missing document. @param {any} error @returns {undefined} */
export function ignoreMissing (error) {
  if ((error.details ?? error).status !== 404) throw error
  return undefined
}

// Limits how many tasks run at once; the others wait in the order in which they came.

export class Semaphore {
  #free
  #waiting = /** @type {(() => void)[]} */ ([])

  constructor (count) {
    this.#free = count
  }

  /** Waits for a turn. @returns {Promise<() => void>} call it once, when the task is over */
  async acquire () {
    if (this.#free) this.#free--
    else await new Promise(resolve => { this.#waiting.push(() => resolve(undefined)) })
    return () => {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }

  /**
   * Runs a task when it is its turn. Unlike a queue of tasks, it does not keep their results.
   * @template T
   * @param {() => Promise<T>} task
   */
  async run (task) {
    const release = await this.acquire()
    try {
      return await task()
    } finally {
      release()
    }
  }
}

// Promises that several callers share. A promise that rejects is forgotten, so that the next caller tries again.
// Otherwise an outage of the store would be the answer until the process is restarted.

/**
 * @template K, T
 * @typedef {object} Promises a Map or a WeakMap
 * @property {(key: K) => Promise<T> | undefined} get
 * @property {(key: K, promise: Promise<T>) => any} set
 * @property {(key: K) => boolean} delete
 */

/**
 * The promise that a map keeps for a key. It is made if there is none.
 * @template K, T
 * @param {Promises<K, T>} promises @param {K} key @param {() => Promise<T>} make
 * @returns {Promise<T>}
 */
export function sharePromise (promises, key, make) {
  const pending = promises.get(key)
  if (pending) return pending
  const promise = make()
  promises.set(key, promise)
  promise.catch(() => {
    if (promises.get(key) === promise) promises.delete(key)
  })
  return promise
}

/**
 * A function whose callers share one promise.
 * @template T @param {() => Promise<T>} make @returns {() => Promise<T>}
 */
export function shared (make) {
  const promises = new Map()
  return () => sharePromise(promises, undefined, make)
}
