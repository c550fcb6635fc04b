// Time zones: the wall clock of a zone, and its short name. Pure functions.
import { cached } from '../../core/cache.js'

/**
 * @typedef {{name: string, civil: (ms: number) => number, instant: (civil: number) => number, label: (ms: number) =>
 *   string}} Zone civil: the time of its wall clock, as if that were UTC; instant: the reverse
 */

/** @type {Map<string, Zone>} */
const zones = new Map()

/**
 * @param {string} name 'utc', 'local' (that of this computer), or a name such as 'Europe/Berlin'
 * @param {string} [locale] of its short name: CET, MEZ
 * @returns {Zone}
 */
export function zoneOf (name, locale = 'en-GB') {
  if (name === 'utc') return utc
  return cached(zones, `${name} ${locale}`, () => makeZone(name, locale))
}

/** @type {Zone} */
const utc = { name: 'utc', civil: ms => ms, instant: civil => civil, label: () => 'UTC' }

function makeZone (name, locale) {
  const timeZone = name === 'local' ? undefined : name
  const fields = new Intl.DateTimeFormat('en-US', {
    timeZone, hourCycle: 'h23',
    year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric'
  })
  const short = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' })

  const civil = ms => {
    /** @type {Record<string, number>} */
    const part = {}
    for (const { type, value } of fields.formatToParts(ms)) part[type] = +value
    const wall = new Date(Date.UTC(2000, part.month - 1, part.day, part.hour, part.minute, part.second))
    // Date.UTC takes the years 0 to 99 for 1900 to 1999
    return wall.setUTCFullYear(part.year) + (((ms % 1000) + 1000) % 1000)
  }

  // the offset depends on the instant, which is not known yet: the second step corrects it. In an hour in which the
  // clocks change, any answer is as good
  const instant = wall => {
    const near = wall - (civil(wall) - wall)
    return wall - (civil(near) - near)
  }

  const label = ms => short.formatToParts(ms).find(part => part.type === 'timeZoneName')?.value ?? ''
  return { name, civil, instant, label }
}
