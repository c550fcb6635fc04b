// The texts of the timeline, in English, and time zones. Pure.
import { indexAsOf } from './steps.js'

export const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export const two = number => String(number).padStart(2, '0')

/** `12,345`: the same for everybody, as the rest of the text is English. */
export const count = number => String(number).replace(/\B(?=(\d{3})+$)/g, ',')

export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`

export function size (bytes) {
  if (bytes < 1000) return plural(bytes, 'byte')
  const units = ['kB', 'MB', 'GB', 'TB']
  let value = bytes / 1000
  while (value >= 999.5 && units.length > 1) {
    value /= 1000
    units.shift()
  }
  return `${value < 9.95 ? value.toFixed(1) : count(Math.round(value))} ${units[0]}`
}

export function dateWords (ms, zone) {
  const wall = new Date(zone.civil(ms))
  return `${wall.getUTCDate()} ${MONTHS[wall.getUTCMonth()]} ${wall.getUTCFullYear()}`
}

/** Seconds only where there are some. */
export function clockWords (ms, zone) {
  const wall = new Date(zone.civil(ms))
  const seconds = wall.getUTCSeconds()
  return `${two(wall.getUTCHours())}:${two(wall.getUTCMinutes())}${seconds ? `:${two(seconds)}` : ''} ${zone.label(ms)}`
}

/** `20 Jun 2024, 14:00 UTC` */
export function timeWords (time, zone) {
  const ms = Date.parse(time)
  return `${dateWords(ms, zone)}, ${clockWords(ms, zone)}`
}

/** What happened in this view at (or before) a time. @param {Array<{time: string, tiles: number}>} changes */
export function changeWords (time, changes, zone) {
  if (!changes.length) return 'nothing changed here'
  const index = indexAsOf(changes.map(change => change.time), time)
  if (index < 0) return 'before the first change here'
  const change = changes[index]
  if (change.time === time) return `${plural(change.tiles, 'tile')} changed here`
  return `${time === null ? 'last change' : 'unchanged since'} ${timeWords(change.time, zone)}`
}

/** For screen readers: `20 Jun 2024, 14:00 UTC, 12 tiles changed here`. */
export function valueWords (time, changes, zone) {
  return `${time === null ? 'Newest' : timeWords(time, zone)}, ${changeWords(time, changes, zone)}`
}

export const capital = text => text.charAt(0).toUpperCase() + text.slice(1)

/**
 * @typedef {{name: string, civil: (ms: number) => number, instant: (civil: number) => number, label: (ms: number) =>
 *   string}} Zone
 */

/** @type {Map<string, Zone>} */
const zones = new Map()

/** @param {string} name 'utc', 'local' (that of this computer), or a name such as 'Europe/Berlin' @returns {Zone} */
export function zoneOf (name) {
  const known = zones.get(name)
  if (known) return known
  const zone = name === 'utc' ? utc : makeZone(name)
  zones.set(name, zone)
  return zone
}

/** @type {Zone} */
const utc = { name: 'utc', civil: ms => ms, instant: civil => civil, label: () => 'UTC' }

function makeZone (name) {
  const timeZone = name === 'local' ? undefined : name
  const fields = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' })
  const short = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'short' })

  const civil = ms => {
    /** @type {Record<string, number>} */
    const part = {}
    for (const { type, value } of fields.formatToParts(ms)) part[type] = +value
    return Date.UTC(
      part.year, part.month - 1, part.day, part.hour, part.minute, part.second
    ) + (((ms % 1000) + 1000) % 1000)
  }

  // the offset at the time itself is not known before the time is: the second look gets it right wherever the clocks
  // are not being changed in that very hour, and there any answer is as good
  const instant = wall => {
    const near = wall - (civil(wall) - wall)
    return wall - (civil(near) - near)
  }

  const label = ms => short.formatToParts(ms).find(part => part.type === 'timeZoneName')?.value ?? ''
  return { name, civil, instant, label }
}
