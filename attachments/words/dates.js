// Dates, times and numbers as a reader writes them, from the wall clock of a zone: milliseconds, as if that were UTC.
import { inUnits } from '../../core/text.js'
import { lazy } from './lazy.js'

/** @param {string} locale BCP 47 tag @param {Intl.DateTimeFormatOptions} options */
function formatter (locale, options) {
  const format = lazy(() => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }))
  return civil => format().format(civil)
}

/**
 * What the timeline takes as `words` for dates and numbers.
 * @param {string} locale BCP 47 tag
 * @param {{bytes: (count: number) => string, units: string[]}} words bytes: a small number of them; units: of 1000,
 *   of a million, …
 */
export function formatsOf (locale, { bytes, units }) {
  const number = lazy(() => new Intl.NumberFormat(locale))
  const one = lazy(() => new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }))
  const minutes = formatter(locale, { timeStyle: 'short' })
  const seconds = formatter(locale, { timeStyle: 'medium' })
  return {
    locale,
    count: value => number().format(value),
    size (value) {
      if (value < 1000) return bytes(value)
      const { value: shown, digits, unit } = inUnits(value, units)
      return `${(digits ? one : number)().format(shown)} ${unit}`
    },
    date: formatter(locale, { day: 'numeric', month: 'short', year: 'numeric' }),
    clock: (civil, withSeconds = civil % 60000 >= 1000) => withSeconds ? seconds(civil) : minutes(civil),
    month: formatter(locale, { month: 'short' }),
    dayMonth: formatter(locale, { day: 'numeric', month: 'short' }),
    monthYear: formatter(locale, { month: 'short', year: 'numeric' })
  }
}
