// Which trees there are to be, and which links: pure. A period such as 2024 or 2024-03 is a link to the tree of its last
// edition. Where the map changed in it after that edition, no tree is right, and there is no link: the gateway knows.
import { endOf } from '../../core/index.js'

/**
 * @typedef {{time: string, finished?: string}} Edition
 * @typedef {{name: string, time: string, end: string}} Period name: 2024-03; time: of the last edition in it; end: its last second
 */

/**
 * The times of the trees. A tree that is there stays as long as its edition does: loading an edition again makes it
 * unfinished for a while, and takes nothing away.
 * @param {Edition[]} editions
 * @param {Iterable<string>} standing times of trees that are there
 * @returns {string[]} ascending
 */
export function treeTimes (editions, standing) {
  const there = new Set(standing)
  return editions.filter(({ time, finished }) => finished || there.has(time)).map(({ time }) => time).sort()
}

/**
 * The periods that have an edition in them.
 * @param {string[]} times of the trees, ascending
 * @returns {Period[]}
 */
export function periodsOf (times) {
  const periods = new Map()
  for (const time of times) {
    for (const length of [4, 7, 10]) {
      const name = time.slice(0, length)
      periods.set(name, { name, time, end: endOf(name) })
    }
  }
  return [...periods.values()]
}

/** Whether a change at a time makes the tree of a period's last edition wrong for the end of the period. */
export const spoils = (time, period) => time > period.time && time <= period.end
