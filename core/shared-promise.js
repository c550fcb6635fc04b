// Promises that several callers share. A promise that rejects is forgotten, so that the next caller tries again: after
// an outage of the store, its failure would otherwise be the answer until the process is restarted.

/**
 * @template K, T
 * @typedef {object} Promises a Map or a WeakMap
 * @property {(key: K) => Promise<T> | undefined} get
 * @property {(key: K, promise: Promise<T>) => any} set
 * @property {(key: K) => boolean} delete
 */

/**
 * The promise that a map keeps for a key, made where there is none.
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
