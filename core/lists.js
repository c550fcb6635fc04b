// Collects items into batches for requests, and searches and splits lists.

/**
 * @template T
 * @param {Iterable<T> | AsyncIterable<T>} items
 * @param {{most: number, bytes: number, sizeOf?: (item: T) => number}} limits bytes: a single item may have more;
 *   sizeOf: bytes of an item, by default its `size`
 * @returns {AsyncGenerator<T[]>}
 */
export async function * batchesOf (items, { most, bytes, sizeOf = item => /** @type {any} */ (item).size ?? 0 }) {
  /** @type {T[]} */
  let batch = []
  let batchBytes = 0
  for await (const item of items) {
    const size = sizeOf(item)
    if (batch.length && (batch.length >= most || batchBytes + size > bytes)) {
      yield batch
      batch = []
      batchBytes = 0
    }
    batch.push(item)
    batchBytes += size
  }
  if (batch.length) yield batch
}

// Search in sorted lists.

/**
 * The index of a value, or where it would be inserted, among the first `count` elements.
 * @template {number | string} T
 * @param {ArrayLike<T>} sorted ascending @param {T} value @param {number} [count]
 */
export const lowerBound = (sorted, value, count) => countFirst(sorted, element => element < value, count)

/**
 * The number of elements at the start of a list for which a condition holds. It does not hold for any later element.
 * @template T
 * @param {ArrayLike<T>} list @param {(element: T) => boolean} holds @param {number} [count] elements to search
 */
export function countFirst (list, holds, count = list.length) {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(list[middle])) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Splits a list into pieces of one size; the last piece may be shorter.
 * @template T
 * @param {T[]} list @param {number} size
 * @returns {Generator<T[]>}
 */
export function * chunks (list, size) {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size)
}
