// Formats dates, times and numbers in the locale of the user and the zone of the timeline.
import { timelineWords as english } from '../client/timeline/words.js'
import { zoneOf } from '../client/timeline/zones.js'
import { inUnits } from '../core/text.js'
import { locale, words } from './words.js'
import { lazy } from './words/locale.js'

const formats = formatsOf(locale, words.numbers)

/** For the timeline: its texts, and dates in the form of the page. */
export const timelineWords = { ...english, ...words.timeline, ...formats }

export const { count, size } = formats

let zone = zoneOf('utc')

/** @param {string} name as the timeline names it */
export function setZone (name) {
  zone = zoneOf(name, locale)
}

const isMidnight = ms => zone.name === 'utc' && ms % 86400000 === 0

/**
 * `1 Mar 2024`, and the hour when it is not midnight, in UTC or with the name of the zone.
 * @param {string | null} text ISO 8601; null is the newest
 */
export function time (text) {
  if (text === null) return words.newest
  const ms = Date.parse(text)
  if (isNaN(ms) || isMidnight(ms)) return date(text)
  return `${date(text)}, ${timeOfDay(text)}`
}

/** `14:05 UTC`; empty for an invalid time. */
export function timeOfDay (text) {
  const ms = Date.parse(text)
  if (isNaN(ms)) return ''
  return `${formats.clock(zone.civil(ms))} ${zone.label(ms)}`
}

/** `1 Mar 2024, 14:05`, for lists whose heading names the zone. */
export function brief (text) {
  const ms = Date.parse(text)
  if (isNaN(ms) || isMidnight(ms)) return date(text)
  return `${date(text)}, ${formats.clock(zone.civil(ms), false)}`
}

/** `14:05` */
export const clock = text => formats.clock(zone.civil(Date.parse(text)), false)

/** The zone as the timeline names it. */
export const zoneId = () => zone.name

/** The name of the zone at a time, such as `UTC`. */
export const zoneName = text => zone.label(Date.parse(text))

/** `1 Mar 2024` */
export const date = text => isNaN(Date.parse(text)) ? text : formats.date(zone.civil(Date.parse(text)))

/** `1 Mar 2024`, whatever the zone: of a day that the user entered. @param {string} text ISO 8601 */
export const day = text => isNaN(Date.parse(text)) ? text : formats.date(Date.parse(text))

export function zooms (min, max) {
  if (min === undefined) return ''
  return min === max ? `${min}` : `${min}–${max}`
}

const percents = lazy(() => new Intl.NumberFormat(locale, { style: 'percent' }))

/** `35 %`; never `0 %` for a share above 0. @param {number} share 0 to 1 */
export const percent = share => share > 0 && share < 0.01 ? `< ${percents().format(0.01)}` : percents().format(share)

const UNITS = /** @type {[Intl.RelativeTimeFormatUnit, number][]} */ ([
  ['year', 365.25 * 86400e3], ['month', 30.44 * 86400e3], ['day', 86400e3], ['hour', 3600e3], ['minute', 60e3]
])
const MANY = 24 // months from which years are used

/** `3 days ago`, `in 14 months` @param {number} ms from now on */
export function fromNow (ms) {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const span = Math.abs(ms)
  const [, month] = UNITS[1]
  const isInMonths = span >= month && span < MANY * month
  // 59.5 minutes are an hour: rounded minutes would be 60
  const roundsToUnit = ([, length], index) => span + (UNITS[index + 1]?.[1] ?? length) / 2 >= length
  const [unit, length] = (isInMonths ? UNITS[1] : UNITS.find(roundsToUnit)) ?? UNITS[UNITS.length - 1]
  return format.format(Math.round(ms / length), unit)
}

/** `3 minutes` @param {number} value @param {string} unit @param {'long' | 'short'} [unitDisplay] */
export const inUnit = (value, unit, unitDisplay = 'long') =>
  new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay }).format(value)

const collator = lazy(() => new Intl.Collator(locale, { numeric: true, sensitivity: 'base' }))

/** Orders names with numbers by value: 2 before 10. */
export const byName = (a, b) => collator().compare(a, b)

/** @param {string} tag BCP 47 @param {Intl.DateTimeFormatOptions} options */
function formatter (tag, options) {
  const format = lazy(() => new Intl.DateTimeFormat(tag, { timeZone: 'UTC', ...options }))
  return civil => format().format(civil)
}

/**
 * The functions for dates and numbers that the timeline takes in its `words`.
 * @param {string} tag BCP 47
 * @param {{bytes: (count: number) => string, units: string[]}} words bytes: for fewer than 1000; units: names for
 *   1000, a million, …
 */
export function formatsOf (tag, { bytes, units }) {
  const number = lazy(() => new Intl.NumberFormat(tag))
  const oneDigit = lazy(() => new Intl.NumberFormat(tag, { minimumFractionDigits: 1, maximumFractionDigits: 1 }))
  const minutes = formatter(tag, { timeStyle: 'short' })
  const seconds = formatter(tag, { timeStyle: 'medium' })
  return {
    locale: tag,
    count: value => number().format(value),
    size (value) {
      if (value < 1000) return bytes(value)
      const { value: shown, digits, unit } = inUnits(value, units)
      return `${(digits ? oneDigit : number)().format(shown)} ${unit}`
    },
    date: formatter(tag, { day: 'numeric', month: 'short', year: 'numeric' }),
    clock: (civil, withSeconds = civil % 60000 >= 1000) => withSeconds ? seconds(civil) : minutes(civil),
    month: formatter(tag, { month: 'short' }),
    dayMonth: formatter(tag, { day: 'numeric', month: 'short' }),
    monthYear: formatter(tag, { month: 'short', year: 'numeric' })
  }
}
