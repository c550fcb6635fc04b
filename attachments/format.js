// Times as people read them, in the zone of the timeline. English throughout, like the page.
import { clockWords, count, dateWords, plural, size, zoneOf } from '../client/timeline/words.js'

export { count, plural, size }

let zone = zoneOf('utc')

/** @param {string} name as the timeline names it */
export function setZone (name) {
  zone = zoneOf(name)
}

/**
 * `1 Mar 2024`, and the hour when it is not midnight, in UTC or with the name of the zone.
 * @param {string | null} text ISO 8601; null is the newest
 */
export function time (text) {
  if (text === null) return 'Newest'
  const ms = Date.parse(text)
  if (isNaN(ms)) return text
  return zone.name === 'utc' && ms % 86400000 === 0 ? dateWords(ms, zone) : `${dateWords(ms, zone)}, ${clockWords(ms, zone)}`
}

/** `1 Mar 2024, 14:05`, for lists whose heading names the zone. */
export function brief (text) {
  const ms = Date.parse(text)
  if (isNaN(ms)) return text
  const hour = new Date(zone.civil(ms)).toISOString().slice(11, 16)
  return zone.name === 'utc' && ms % 86400000 === 0 ? dateWords(ms, zone) : `${dateWords(ms, zone)}, ${hour}`
}

/** What times are told in: `UTC`, or the name of the zone at a time. */
export const zoneName = text => zone.label(Date.parse(text))

/** `1 Mar 2024` */
export const date = text => isNaN(Date.parse(text)) ? text : dateWords(Date.parse(text), zone)

export const zooms = (min, max) => min === undefined ? '' : min === max ? `${min}` : `${min}–${max}`
