// Items put together to requests, bounded by their number and by their bytes.

/**
 * @template T
 * @param {Iterable<T> | AsyncIterable<T>} items
 * @param {{most: number, bytes: number, sizeOf?: (item: T) => number}} limits bytes: unless one item alone has more;
 *   sizeOf: nothing where the size is not known
 * @returns {AsyncGenerator<T[]>}
 */
export async function * batchesOf (items, { most, bytes, sizeOf = item => /** @type {any} */ (item).size ?? 0 }) {
  /** @type {T[]} */
  let batch = []
  let filled = 0
  for await (const item of items) {
    const size = sizeOf(item)
    if (batch.length && (batch.length >= most || filled + size > bytes)) {
      yield batch
      batch = []
      filled = 0
    }
    batch.push(item)
    filled += size
  }
  if (batch.length) yield batch
}

// Finding a place in what is in order.

/**
 * The index of a value, or where it would be inserted, among the first `count` elements.
 * @template {number | string} T
 * @param {ArrayLike<T>} sorted ascending @param {T} value @param {number} [count]
 */
export function lowerBound (sorted, value, count = sorted.length) {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * A list in pieces of a size; the last one may be shorter.
 * @template T
 * @param {T[]} list @param {number} size
 * @returns {Generator<T[]>}
 */
export function * chunks (list, size) {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size)
}
