// Finds the times of steps from change to change. Pure functions. Times are exact ISO texts, which sort as text; null
// is the newest.
import { lowerBound } from '../../core/lists.js'

/**
 * The changes of several layers as one list: changes at the same time are added up.
 * @param {Array<Array<{time: string, tiles: number, bytes?: number}> | null>} lists null where a layer does not know
 *   yet
 * @returns {{changes: Array<{time: string, tiles: number, bytes: number}>, complete: boolean}}
 */
export function uniteChanges (lists) {
  const byTime = new Map()
  for (const list of lists) {
    for (const { time, tiles, bytes = 0 } of list ?? []) {
      const sum = byTime.get(time)
      byTime.set(time, sum ? { time, tiles: sum.tiles + tiles, bytes: sum.bytes + bytes } : { time, tiles, bytes })
    }
  }
  const changes = [...byTime.values()].sort((a, b) => a.time < b.time ? -1 : 1)
  return { changes, complete: !lists.includes(null) }
}

/**
 * From the first to the last time of all layers.
 * @param {Array<{first: string, last: string} | null>} extents
 */
export function uniteExtents (extents) {
  const knownExtents = extents.filter(extent => extent !== null)
  if (!knownExtents.length) return null
  return {
    first: knownExtents.map(extent => extent.first).reduce((a, b) => a < b ? a : b),
    last: knownExtents.map(extent => extent.last).reduce((a, b) => a > b ? a : b)
  }
}

/** The index of the greatest time <= `time` in ascending times; -1 if all are later. */
export function indexAsOf (times, time) {
  return time === null ? times.length - 1 : lowerBound(times, `${time}~`) - 1 // a tilde sorts after every time
}

/**
 * The time a number of changes away. The newest looks like the last change, so that one step back from it is the change
 * before the last. Steps end at the first and the last change. A time beyond them stays as it is.
 */
export function stepFrom (times, time, steps) {
  if (!times.length || !steps) return time
  const index = indexAsOf(times, time)
  const isOnChange = time === null || times[index] === time
  if (steps > 0) {
    return time === null || index === times.length - 1 ? time : times[Math.min(index + steps, times.length - 1)]
  }
  if (index < 0) return time
  return times[Math.max(index + steps + (isOnChange ? 0 : 1), 0)]
}

/** @param {{from: string, to: string} | null} [range] both ends belong to it */
export const within = (times, range) => range ? times.filter(time => time >= range.from && time <= range.to) : times

/**
 * The next time to play: the one after the present time, or the first one if the present time is before it or (with
 * `again`) at the end. Null if there is nothing more to play.
 * @param {string[]} times @param {string | null} time
 * @param {{range?: {from: string, to: string} | null, again?: boolean}} [options]
 */
export function nextToPlay (times, time, { range = null, again = false } = {}) {
  const playable = within(times, range)
  if (!playable.length) return null
  const first = playable[0]
  const last = playable[playable.length - 1]
  if (time === null || time >= last) return again && first !== last ? first : null
  if (time < first) return first
  return playable[indexAsOf(playable, time) + 1]
}

/**
 * Goes on from the next time to play as far as a pace reaches: it skips times that would be visible for less than a
 * moment.
 * @param {string[]} times ascending @param {string} time the present one @param {string} next @param {number} reach
 *   milliseconds of map time
 */
export function skipTo (times, time, next, reach) {
  const end = Date.parse(time) + reach
  return next > time ? times.findLast(candidate => candidate >= next && Date.parse(candidate) <= end) ?? next : next
}
