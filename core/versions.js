// The versions of a tile in the order of their times.
import { countFirst } from './lists.js'

/**
 * The version shown as of a time: the one with the greatest time <= T.
 * @template {{time: string}} T
 * @param {T[]} versions ascending by time
 * @param {string} time
 * @returns {T | undefined}
 */
export const asOf = (versions, time) => versions[countFirst(versions, version => version.time <= time) - 1]

/**
 * Sorts versions by time, with each time once. A load that is killed between its two steps leaves the head's content in
 * the past as well. Readers then see only the head, until the load runs again and overwrites it.
 * @template {{time: string, current?: boolean}} T
 * @param {T[]} versions
 * @returns {T[]}
 */
export function timeline (versions) {
  const byTime = new Map()
  for (const version of versions) {
    if (version.current || !byTime.has(version.time)) byTime.set(version.time, version)
  }
  return [...byTime.values()].sort((a, b) => a.time < b.time ? -1 : 1)
}
