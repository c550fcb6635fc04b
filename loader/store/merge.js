// The merge of core/order.js for what has to be waited for: numbers with equally many digits sort alike as numbers, as views
// have them, and as strings, as ids have them. So each such series is read on its own, and the series are merged.

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
