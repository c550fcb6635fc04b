// The pages of a listing, several at once, and where it goes on when it was broken off.

/**
 * @typedef {import('./listing.js').Range} Range
 * @typedef {import('./listing.js').Spot} Spot
 */

/**
 * Does something with every page. Rejects with the first failure, when nothing is under way any more.
 * @param {AsyncIterable<{parts: import('./listing.js').Part[], next: Spot | undefined}>} pages
 * @param {(parts: import('./listing.js').Part[]) => Promise<void>} task
 * @param {{most: number, onFailed: () => void, onSettled?: (next: Spot) => void}} options most: pages at once; onSettled: told how far all of them are done
 */
export async function eachPage (pages, task, { most, onFailed, onSettled }) {
  const under = new Set()
  let failure
  let last = Promise.resolve(true) // whether all pages up to now are done
  try {
    for await (const { parts, next } of pages) {
      const done = task(parts).then(() => true, error => {
        failure ??= error
        return false
      })
      const work = last = Promise.all([last, done]).then(all => {
        const isDone = all.every(Boolean)
        if (isDone && next) onSettled?.(next)
        return isDone
      }).finally(() => under.delete(work))
      under.add(work)
      while (under.size >= most && !failure) await Promise.race(under)
      if (failure) break
    }
  } catch (error) {
    failure ??= error
  }
  if (failure) onFailed()
  await Promise.all(under)
  if (failure) throw failure
}

/** What of ranges comes before a tile. @param {Iterable<Range>} ranges ascending @param {Spot} spot @returns {Generator<Range>} */
export function * before (ranges, [z, x, y]) {
  for (const range of ranges) {
    if (range.z > z || (range.z === z && range.x > x)) return
    const y1 = range.z === z && range.x === x ? Math.min(range.y1, y - 1) : range.y1
    if (range.y0 <= y1) yield { ...range, y1 }
  }
}

/** The rest of them. @param {Iterable<Range>} ranges ascending @param {Spot} [spot] @returns {Generator<Range>} */
export function * after (ranges, [z, x, y] = [0, 0, 0]) {
  for (const range of ranges) {
    if (range.z < z || (range.z === z && range.x < x)) continue
    const y0 = range.z === z && range.x === x ? Math.max(range.y0, y) : range.y0
    if (y0 <= range.y1) yield { ...range, y0 }
  }
}
