// Reads an async iterable to its end. Array.fromAsync needs Node 22.

/** @template T @param {AsyncIterable<T>} iterable @returns {Promise<T[]>} */
export async function collect (iterable) {
  const items = []
  for await (const item of iterable) items.push(item)
  return items
}
