// Promises and waiting that an AbortSignal ends. AbortSignal.any and AbortSignal.timeout would do, but Node 20 may lose
// them, and the signal of a fetch, in a garbage collection: what waits on a dead connection would then wait for
// minutes, or for ever.

/**
 * @template T
 * @param {Promise<T>} task that is given the signal too
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
 * @param {AbortSignal} [signal] ends it as well
 * @returns {{signal: AbortSignal, isOver: boolean, renew: () => void, end: () => void}} isOver: the time ran out;
 *   renew: it begins anew; end: to be called when what was waited for is there
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
