// Numbers in the order of ids without sorting them (see core/order.js), for what has to be waited for: numbers with equally
// many digits sort alike as numbers, as views have them, and as strings, as ids have them. So each such series is read on
// its own, and the series are merged.
import { MAX_ZOOM } from '../../core/index.js'

const DIGITS = `${2 ** MAX_ZOOM}`.length

/**
 * The series of the numbers up to `last`. `scale` brings a number of the series to the length of the longest.
 * @param {number} last
 * @returns {{first: number, last: number, scale: number}[]}
 */
export const seriesTo = last => Array.from({ length: `${last}`.length }, (_, index) => (
  { first: index ? 10 ** index : 0, last: Math.min(10 ** (index + 1) - 1, last), scale: 10 ** (DIGITS - 1 - index) }
))

/**
 * By ascending key; of equal keys, that of the earlier series first.
 * @template T
 * @param {{items: AsyncGenerator<T>, key: (item: T) => number}[]} series each ascending
 * @returns {AsyncGenerator<T>}
 */
export async function * merge (series) {
  const cursors = series.map(({ items, key }) => ({ items, key, item: /** @type {any} */ (undefined), at: 0 }))
  try {
    const begun = await Promise.all(cursors.map(advance))
    for (let index = cursors.length - 1; index >= 0; index--) if (!begun[index]) cursors.splice(index, 1)
    while (cursors.length) {
      let least = 0
      for (let index = 1; index < cursors.length; index++) if (cursors[index].at < cursors[least].at) least = index
      const cursor = cursors[least]
      yield cursor.item
      if (!await advance(cursor)) cursors.splice(least, 1)
    }
  } finally {
    for (const { items } of cursors) await items.return(undefined)
  }
}

async function advance (cursor) {
  const { done, value } = await cursor.items.next()
  if (done) return false
  cursor.item = value
  cursor.at = cursor.key(value)
  return true
}
