// Waiting that ends at once when it is not wanted any more.

/** @param {number} milliseconds @param {AbortSignal} [signal] @returns {Promise<void>} */
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
