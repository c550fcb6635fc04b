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
