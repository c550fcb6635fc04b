// How a store grows, from its editions: by the month in which the store learnt of them, which is not the time that
// they are of. Pure.

const DAY = 86_400_000 // milliseconds
const LATELY = 183 // days that an estimate looks back
const LEAST = 30 // days of them, where the store is younger

/**
 * @typedef {{layer: string, time: string, started?: string, finished?: string, bytes?: number, created?: number,
 *   advanced?: number, backfilled?: number, failed?: number}} Edition
 * @typedef {{month: string, bytes: number, versions: number, editions: number}} Month month: 2024-03
 */

/** When the store learnt of an edition. @param {Edition} edition */
export const learntAt = ({ finished, started }) => finished ?? started

/** Versions that an edition added. @param {Edition} edition */
export const versionsOf = ({ created = 0, advanced = 0, backfilled = 0 }) => created + advanced + backfilled

/**
 * Every month from the first edition until now, those without any included.
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
    const sum = months.get(month) ?? { month, bytes: 0, versions: 0, editions: 0 }
    months.set(month, sum)
    sum.bytes += edition.bytes ?? 0
    sum.versions += versionsOf(edition)
    sum.editions++
    if (!first || month < first) first = month
  }
  const last = [new Date(now).toISOString().slice(0, 7), ...months.keys()].reduce((a, b) => a > b ? a : b)
  const all = []
  for (let month = first; month && month <= last; month = nextMonth(month)) {
    all.push(months.get(month) ?? { month, bytes: 0, versions: 0, editions: 0 })
  }
  return all
}

function nextMonth (month) {
  const [year, number] = month.split('-').map(Number)
  return number === 12
    ? `${String(year + 1).padStart(4, '0')}-01`
    : `${month.slice(0, 5)}${String(number + 1).padStart(2, '0')}`
}

/**
 * Bytes of images that were added a day, on average of the last half year.
 * @param {Edition[]} editions @param {number} now milliseconds
 */
export function bytesADay (editions, now) {
  const since = now - LATELY * DAY
  let [bytes, first] = [0, now]
  for (const edition of editions) {
    const at = Date.parse(learntAt(edition) ?? '')
    if (!(at <= now)) continue
    first = Math.min(first, at)
    if (at >= since) bytes += edition.bytes ?? 0
  }
  const days = Math.min(LATELY, Math.max(LEAST, (now - first) / DAY))
  return bytes / days
}

/**
 * When a disk is full, if the store grows as it did.
 * @param {{free: number, at: number}} disk as it was seen @param {number} aDay bytes on the disk
 * @returns {number | null} milliseconds since 1970; null: never
 */
export const fullAt = ({ free, at }, aDay) => aDay > 0 ? at + free / aDay * DAY : null
