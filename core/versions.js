// Decides what a store does with a new version of a tile: the rules of the timeline, without a database.
//
// Contents are compared by digest; `null` stands for "no tile here" (gone). A version is { time, digest }.
import { countFirst } from './lists.js'

/** @typedef {{time: string, digest: string | null}} Version */

/**
 * | action    | what the store does                                                             |
 * |-----------|---------------------------------------------------------------------------------|
 * | unchanged | nothing: the store already says this                                            |
 * | create    | write the head; there was none                                                  |
 * | advance   | copy the head to the past, then overwrite the head                              |
 * | backfill  | write a past version: an older time never touches the head                      |
 * | ask       | as backfill, but only the version before it can tell: call again with `before`  |
 * | taken     | refuse: this time already holds something else, and stored versions never change |
 * @typedef {'unchanged' | 'create' | 'advance' | 'backfill' | 'ask' | 'taken'} Action
 */

/**
 * @param {Version} version the new one
 * @param {Version | null | undefined} head the newest in the store
 * @param {Version | null} [before] the stored version with the greatest time <= version.time, null if there is none
 * @returns {Action}
 */
export function decide (version, head, before) {
  if (!head) return version.digest === null ? 'unchanged' : 'create'
  if (version.time > head.time) return version.digest === head.digest ? 'unchanged' : 'advance'
  if (version.time === head.time) return version.digest === head.digest ? 'unchanged' : 'taken'
  if (before === undefined) return 'ask'
  if (before === null) return version.digest === null ? 'unchanged' : 'backfill'
  if (before.digest === version.digest) return 'unchanged'
  return before.time === version.time ? 'taken' : 'backfill'
}

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
