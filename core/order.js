// Lists numbers in the order of ids without sorting them. Numbers with equally many digits sort alike as strings and as
// numbers, so the order of ids is a merge of at most ten ascending series. In ids a colon follows a column, and nothing
// follows a row: see compareInner and compareRows in ids.js.
import { MAX_ZOOM } from './grid.js'
import { compareInner } from './ids.js'

const DIGITS = `${2 ** MAX_ZOOM}`.length

/**
 * The series of the numbers up to `last`, one for each number of digits. `scale` brings a number of the series to the
 * length of the longest.
 * @returns {{first: number, last: number, scale: number}[]}
 */
export const seriesTo = last => Array.from({ length: `${last}`.length }, (_, index) => (
  { first: index ? 10 ** index : 0, last: Math.min(10 ** (index + 1) - 1, last), scale: 10 ** (DIGITS - 1 - index) }
))

// keys that order the numbers of different series
export const columnKey = (x, scale) => (x + 1) * scale - 1 // after all that begin with it
export const rowKey = (y, scale) => y * scale // before all that begin with it

/** The zooms of a range in the order of ids: 10 before 1. @param {import('./grid.js').Zooms} zooms */
export const zoomsById = ({ min, max }) =>
  Array.from({ length: max - min + 1 }, (_, index) => min + index).sort(compareInner)

/**
 * Columns in the order of ids: 10 to 19 before 1.
 * @template {{x: number}} T
 * @param {number} z
 * @param {(first: number, last: number) => Iterable<T>} columns lists the columns from first to last, ascending
 * @returns {Generator<T>}
 */
export function * columnsById (z, columns) {
  const series = seriesTo(2 ** z - 1)
    .map(({ first, last, scale }) => ({ items: columns(first, last), key: ({ x }) => columnKey(x, scale) }))
  yield * merge(series.reverse()) // 199, 19 and 1 end at one key: the longest comes first
}

/**
 * Rows in the order of ids: 1 before 10 to 19.
 * @param {import('./sweep.js').Run[]} runs ascending
 * @returns {Generator<number>}
 */
export function * rowsById (runs) {
  const [lowest, highest] = [runs[0][0], runs[runs.length - 1][1]]
  const series = seriesTo(highest).filter(({ last }) => last >= lowest)
    .map(({ first, last, scale }) => ({ items: numbers(runs, first, last), key: y => rowKey(y, scale) }))
  yield * series.length === 1 ? series[0].items : merge(series)
}

function * numbers (runs, first, last) {
  for (const [from, to] of runs) {
    for (let y = Math.max(from, first); y <= Math.min(to, last); y++) yield y
  }
}

/**
 * Merges series by ascending key. For equal keys, the earlier series comes first.
 * @template T
 * @param {{items: Iterable<T>, key: (item: T) => number}[]} series each ascending
 * @returns {Generator<T>}
 */
function * merge (series) {
  const cursors = series.map(({ items, key }) => (
    { iterator: items[Symbol.iterator](), key, item: /** @type {any} */ (undefined), sortKey: 0 }
  )).filter(advance)
  while (cursors.length) {
    let least = 0
    for (let index = 1; index < cursors.length; index++) {
      if (cursors[index].sortKey < cursors[least].sortKey) least = index
    }
    const cursor = cursors[least]
    yield cursor.item
    if (!advance(cursor)) cursors.splice(least, 1)
  }
}

function advance (cursor) {
  const { done, value } = cursor.iterator.next()
  if (done) return false
  cursor.item = value
  cursor.sortKey = cursor.key(value)
  return true
}
