// Times are UTC, ISO 8601, whole seconds, with a Z, so that they sort as strings: 2024-03-01T00:00:00Z. People may
// write less (2024, 2024-03, 2024-03-01, …): a partial time is a period. `osm@2023` means layer osm at the end of 2023:
// see endOf. A load with the time 2023 is valid from its start: see startOf.
import { TilecouchError } from './errors.js'

const EXACT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const CLOCK = '(\\d\\d)(?::(\\d\\d)(?::(\\d\\d)(?:[.,]\\d+)?)?)?(Z|[+-]\\d\\d:?\\d\\d)?'
const WRITTEN = new RegExp(`^(\\d{4})(?:-(\\d\\d)(?:-(\\d\\d)(?:[T ]${CLOCK})?)?)?$`, 'i')

const UNITS = { s: 1, m: 60, h: 3600, d: 86400, w: 604800, y: 31536000 }

/** Sorts after every time with the given beginning, in CouchDB's collation as in JavaScript's. */
export const AFTER = '\ufff0'

/** A time in the form that documents use. @param {number | Date} milliseconds since 1970 */
export const fromMilliseconds = milliseconds => new Date(milliseconds).toISOString().slice(0, 19) + 'Z'

export const now = () => fromMilliseconds(Date.now())

/** Whether a text is a time as documents hold it: complete, normal and on the calendar. @param {unknown} text */
export function isExactTime (text) {
  if (typeof text !== 'string' || !EXACT.test(text)) return false
  if (text === lastExact) return true
  const date = new Date(text)
  if (isNaN(date.getTime()) || fromMilliseconds(date) !== text) return false
  lastExact = text
  return true
}

// the last exact time: an edition checks the same time for every tile
let lastExact = ''

/**
 * Parses a written time into the period that it names.
 * @param {string | Date} input
 * @returns {{start: string, end: string, exact: boolean}} first and last second of the period
 */
export function parsePeriod (input) {
  if (input instanceof Date && !isNaN(input.getTime())) input = input.toISOString()
  if (isExactTime(input)) return { start: String(input), end: String(input), exact: true }
  const match = typeof input === 'string' && WRITTEN.exec(input)
  if (!match) throw new TilecouchError('BAD_TIME', { value: input })
  const [, year, month, day, hour, minute, second, zone] = match
  const start = new Date(`${year}-${month ?? '01'}-${day ?? '01'}T${hour ?? '00'}:${minute ?? '00'}:${second ?? '00'}Z`)
  // Date turns 30 February into March: the result must be the written date
  const date = [year, month, day].filter(Boolean).join('-')
  const isOnCalendar = !isNaN(start.getTime()) && fromMilliseconds(start).startsWith(date)
  if (!isOnCalendar) throw new TilecouchError('BAD_TIME', { value: input })
  const end = new Date(start)
  if (!month) end.setUTCFullYear(end.getUTCFullYear() + 1)
  else if (!day) end.setUTCMonth(end.getUTCMonth() + 1)
  else end.setTime(end.getTime() + 1000 * secondsOf(hour, minute, second))
  const shift = offset(zone, input)
  return {
    start: inRange(start.getTime() - shift, input),
    end: inRange(end.getTime() - shift - 1000, input),
    exact: Boolean(second)
  }
}

/** The length of the period that a time within a day names: the day, the hour, the minute or the second. */
function secondsOf (hour, minute, second) {
  if (!hour) return 86400
  if (!minute) return 3600
  return second ? 1 : 60
}

function inRange (milliseconds, input) {
  const text = fromMilliseconds(milliseconds)
  if (!isExactTime(text)) throw new TilecouchError('BAD_TIME', { value: input })
  return text
}

function offset (zone, input) {
  if (!zone || /^z$/i.test(zone)) return 0
  const [, sign, hours, minutes] = /** @type {string[]} */ (/** @type {unknown} */ (/([+-])(\d\d):?(\d\d)/.exec(zone)))
  if (+hours > 14 || +minutes > 59) throw new TilecouchError('BAD_TIME', { value: input })
  return (sign === '-' ? -1 : 1) * (+hours * 60 + +minutes) * 60000
}

/**
 * The start of a written period, from which a load is valid. `2024-03-01` -> `2024-03-01T00:00:00Z`
 * @param {string | Date} input
 */
export const startOf = input => parsePeriod(input).start

/**
 * The end of a written period, as of which a request shows a layer. `2024` -> `2024-12-31T23:59:59Z`
 * @param {string | Date} input
 */
export const endOf = input => parsePeriod(input).end

/** Seconds since 1970, for reduce functions, which need numbers. */
export const toSeconds = time => Date.parse(time) / 1000

export const fromSeconds = seconds => fromMilliseconds(seconds * 1000)

const CLOCKS = 86400 // seconds that the clock or the zone of a writer may be ahead of ours

/**
 * Whether a time is in the future by more than clocks and zones differ.
 * @param {string} time
 * @param {number} [present] milliseconds since 1970
 */
export const isAhead = (time, present = Date.now()) => toSeconds(time) - present / 1000 > CLOCKS

/** @param {string} time @param {number} seconds */
export const addSeconds = (time, seconds) => fromSeconds(toSeconds(time) + seconds)

/** `7d` -> 604800. A bare number is seconds. @param {string | number} text */
export function parseDuration (text) {
  const match = /^(\d{1,9}(?:\.\d+)?)\s*([smhdwy]?)$/i.exec(String(text).trim())
  if (!match) throw new TilecouchError('BAD_DURATION', { value: text })
  return Math.round(+match[1] * UNITS[match[2].toLowerCase() || 's'])
}

const LAST = toSeconds('9999-12-31T23:59:59Z')

/** Whether a layer has a valid ttl. Stores without validation may have anything there. */
export const hasTtl = layer => Number.isFinite(layer?.ttl) && layer.ttl > 0

/**
 * When a tile expires: its own `expires`, else the layer's `ttl` counted from the time at which it was stored, else
 * never (null). Invalid times, which other programs may have written, are ignored.
 * @param {{expires?: string | null, stored?: string}} tile
 * @param {{ttl?: number}} [layer]
 * @returns {string | null}
 */
export function expiryOf ({ expires, stored }, layer) {
  if (isExactTime(expires)) return /** @type {string} */ (expires)
  if (!hasTtl(layer) || !isExactTime(stored)) return null
  const seconds = toSeconds(stored) + Math.floor(/** @type {any} */ (layer).ttl)
  return seconds > LAST ? null : fromSeconds(seconds)
}
