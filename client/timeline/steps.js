// Steps from change to change. Pure: times are exact ISO texts, which sort as they are; null is the newest.
import { lowerBound } from '../../core/lists.js'

/**
 * The changes of several layers as one list: what happened at the same time is added up.
 * @param {Array<Array<{time: string, tiles: number, bytes?: number}> | null>} lists null where a layer does not know
 *   yet
 * @returns {{changes: Array<{time: string, tiles: number, bytes: number}>, complete: boolean}}
 */
export function uniteChanges (lists) {
  const byTime = new Map()
  for (const list of lists) {
    for (const { time, tiles, bytes = 0 } of list ?? []) {
      const same = byTime.get(time)
      byTime.set(time, same ? { time, tiles: same.tiles + tiles, bytes: same.bytes + bytes } : { time, tiles, bytes })
    }
  }
  const changes = [...byTime.values()].sort((a, b) => a.time < b.time ? -1 : 1)
  return { changes, complete: !lists.includes(null) }
}

/**
 * From the first to the last time that any layer holds.
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

/** Where the greatest time <= the given one is in ascending times; -1 when all are later. */
export function indexAsOf (times, time) {
  return time === null ? times.length - 1 : lowerBound(times, `${time}~`) - 1 // a tilde sorts after every time
}

/**
 * The time that many changes away. The newest looks like the last change, so that one step back from it is the change
 * before the last. Beyond either end there is nowhere to go: the last (or first) change, or the time itself when it
 * already lies outside.
 */
export function stepFrom (times, time, steps) {
  if (!times.length || !steps) return time
  const index = indexAsOf(times, time)
  const on = time === null || times[index] === time
  if (steps > 0) {
    return time === null || index === times.length - 1 ? time : times[Math.min(index + steps, times.length - 1)]
  }
  if (index < 0) return time
  return times[Math.max(index + steps + (on ? 0 : 1), 0)]
}

/** @param {{from: string, to: string} | null} [range] both ends belong to it */
export const within = (times, range) => range ? times.filter(time => time >= range.from && time <= range.to) : times

/**
 * The next time to play: on from the present one, or from the beginning when it is outside or (with `again`) at the
 * end. Null when there is nothing more to play.
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
 * On from the next time to play, as far as a pace goes in the meantime: what would be seen for less than a moment is
 * left out.
 * @param {string[]} times ascending @param {string} time the present one @param {string} next @param {number} reach
 *   milliseconds of the map's time
 */
export function skipTo (times, time, next, reach) {
  const end = Date.parse(time) + reach
  return next > time ? times.findLast(each => each >= next && Date.parse(each) <= end) ?? next : next
}
