// Pure functions that compute the growth of a store from its editions, by the month in which they were loaded, not by
// the time of their content.
import { cached } from '../../../core/cache.js'

const DAY = 86_400_000 // milliseconds
const LATELY = 183 // days before now that an estimate covers
const LEAST = 30 // minimum days of an estimate, for a younger store

/**
 * @typedef {{layer: string, time: string, started?: string, finished?: string, bytes?: number, created?: number,
 *   advanced?: number, backfilled?: number, failed?: number}} Edition
 * @typedef {{month: string, bytes: number, versions: number, editions: number}} Month month: 2024-03
 */

/** The time when an edition was loaded. @param {Edition} edition */
export const learntAt = ({ finished, started }) => finished ?? started

/** Versions that an edition added. @param {Edition} edition */
export const versionsOf = ({ created = 0, advanced = 0, backfilled = 0 }) => created + advanced + backfilled

const emptyMonth = month => ({ month, bytes: 0, versions: 0, editions: 0 })

/**
 * Every month from the first edition until now, including months without editions.
 * @param {Edition[]} editions @param {number} now milliseconds
 * @returns {Month[]} oldest first
 */
export function monthsOf (editions, now) {
  /** @type {Map<string, Month>} */
  const months = new Map()
  let first = ''
  for (const edition of editions) {
    const month = learntAt(edition)?.slice(0, 7)
    if (!month) continue
    const sum = cached(months, month, () => emptyMonth(month))
    sum.bytes += edition.bytes ?? 0
    sum.versions += versionsOf(edition)
    sum.editions++
    if (!first || month < first) first = month
  }
  const last = [new Date(now).toISOString().slice(0, 7), ...months.keys()].reduce((a, b) => a > b ? a : b)
  const list = []
  for (let month = first; month && month <= last; month = nextMonth(month)) {
    list.push(months.get(month) ?? emptyMonth(month))
  }
  return list
}

function nextMonth (month) {
  const [year, number] = month.split('-').map(Number)
  return number === 12
    ? `${String(year + 1).padStart(4, '0')}-01`
    : `${month.slice(0, 5)}${String(number + 1).padStart(2, '0')}`
}

/**
 * The average bytes of images that were added per day in the last half year.
 * @param {Edition[]} editions @param {number} now milliseconds
 */
export function bytesADay (editions, now) {
  const since = now - LATELY * DAY
  let [bytes, first] = [0, now]
  for (const edition of editions) {
    const loadedAt = Date.parse(learntAt(edition) ?? '')
    if (!(loadedAt <= now)) continue
    first = Math.min(first, loadedAt)
    if (loadedAt >= since) bytes += edition.bytes ?? 0
  }
  const days = Math.min(LATELY, Math.max(LEAST, (now - first) / DAY))
  return bytes / days
}

/**
 * The time when a disk is full, if the store grows at the same rate.
 * @param {{free: number, at: number}} disk free bytes at a time @param {number} aDay bytes on the disk
 * @returns {number | null} milliseconds since 1970; null: never
 */
export const fullAt = ({ free, at }, aDay) => aDay > 0 ? at + free / aDay * DAY : null
