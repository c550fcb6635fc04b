// Waiting: for an answer, and before asking again.

/**
 * Resolves after so many milliseconds; rejects when the signal says so.
 * @param {number} milliseconds @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
export function wait (milliseconds, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/**
 * Milliseconds before the next attempt: doubling, with a little chance in it, so that a hundred clients that lost
 * their server do not all come back in the same moment.
 * @param {number} attempt 0, 1, 2, …
 * @param {{first?: number, longest?: number}} [options]
 */
export const backoff = (attempt, { first = 500, longest = 30000 } = {}) =>
  Math.min(longest, first * 2 ** attempt) * (0.75 + Math.random() / 2)

/**
 * Does something until it works: the store may be away for a second or for an hour.
 * @template T
 * @param {() => Promise<T>} task
 * @param {{signal: AbortSignal, onError?: (error: Error) => void, onDone?: () => void}} options onError: after every attempt that failed
 * @returns {Promise<T>} rejects only when the signal says so
 */
export async function persist (task, { signal, onError, onDone }) {
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted()
    try {
      const result = await task()
      signal.throwIfAborted()
      onDone?.()
      return result
    } catch (error) {
      signal.throwIfAborted()
      onError?.(error)
      await wait(backoff(attempt), signal)
    }
  }
}
