// Numbers, sizes and times as people read them. English throughout, like the page; times in UTC, like the store.

const integer = new Intl.NumberFormat('en-US')
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })

/** @param {number} number */
export const count = number => integer.format(number)

/** @param {number} number @param {string} noun */
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`

/** @param {number} number */
export function bytes (number) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let unit = 0
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000
    unit++
  }
  return `${unit && number < 100 ? number.toFixed(1) : Math.round(number)} ${units[unit]}`
}

/**
 * `1 Mar 2024`, and the hour when it is not midnight.
 * @param {string} text ISO 8601
 */
export function time (text) {
  const value = new Date(text)
  if (isNaN(value.getTime())) return text
  return /T00:00:00/.test(text) ? day.format(value) : `${day.format(value)}, ${clock.format(value)} UTC`
}

/** `1 Mar 2024` */
export function date (text) {
  const value = new Date(text)
  return isNaN(value.getTime()) ? text : day.format(value)
}

/** @param {number | undefined} min @param {number | undefined} max */
export const zooms = (min, max) => min === undefined ? '' : min === max ? `${min}` : `${min}–${max}`
