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
