// How long something lasts, and how fast it is, as a reader writes it.
import { count } from '../../format.js'
import { texts } from '../words.js'
import { locale } from '../../words.js'

const UNITS = /** @type {[string, number][]} */ ([['day', 86_400], ['hour', 3600], ['minute', 60], ['second', 1]])

const inUnit = (value, unit) =>
  new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(value)

/** `2 hr 5 min`: the two largest units. @param {number} ms */
export function span (ms) {
  let seconds = Math.max(0, Math.round(ms / 1000))
  const at = Math.max(0, UNITS.findIndex(([unit, size]) => seconds >= size || unit === 'second'))
  const [unit, size] = UNITS[at]
  const first = Math.floor(seconds / size)
  seconds -= first * size
  const [next, small] = UNITS[at + 1] ?? []
  const second = small ? Math.floor(seconds / small) : 0
  return second ? `${inUnit(first, unit)} ${inUnit(second, next)}` : inUnit(first, unit)
}

const oneDigit = value => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(value)

/** `340 a second` @param {number} rate */
export const speed = rate => texts.work.rate(rate >= 10 ? count(Math.round(rate)) : oneDigit(rate))
