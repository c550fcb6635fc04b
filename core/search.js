// Finding a place in what is in order.

/**
 * How many of the first so many are less than a value: where it stands, or would stand.
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
