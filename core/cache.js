// Values by a key, which are made when they are first needed.

/**
 * The value of a key. It is made if there is none, and replaces the oldest value if the cache is full.
 * @template T
 * @param {any} cache a Map, or without a limit also a WeakMap
 * @param {any} key @param {() => T} make @param {number} [most] values
 * @returns {T}
 */
export function cached (cache, key, make, most = Infinity) {
  if (cache.has(key)) return cache.get(key)
  const value = make()
  if (cache.size >= most) cache.delete(cache.keys().next().value)
  cache.set(key, value)
  return value
}
