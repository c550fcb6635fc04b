// A promise that ends when a signal says so, whatever becomes of what was waited for. The fetch of Node 20 holds its signal so
// loosely that a garbage collection may take it: a request on a dead line is then only ended by the system, minutes later.

/**
 * @template T
 * @param {Promise<T>} task that is given the signal too
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>} rejects with an AbortError
 */
export function abortable (task, signal) {
  if (!signal) return task
  return new Promise((resolve, reject) => {
    const stop = () => reject(new DOMException('This operation was aborted', 'AbortError'))
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    task.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
