// The address of what is shown, with layer@time as everywhere in tilecouch:
//   #daylight/3/47.10/8.50                          the newest
//   #daylight@2024-06-20T12:00:00Z/3/47.10/8.50     as of a time
//   #daylight@A..B/3/47.10/8.50                     two times side by side; without B the newest on the right
//   #daylight@T/3/47.10/8.50/A..B                   as of T, with a range chosen on the timeline
import { endOf, isLayer } from '../core/index.js'

/** @returns {Place} what of it makes sense; problems: what does not, in words */
export function parse (hash) {
  const text = decode(hash.replace(/^#/, ''))
  /** @type {Place} */
  const place = { problems: [] }
  if (!text) return place
  const [reference, ...rest] = text.split('/')
  const [layer, when] = split(reference, '@')
  place.layer = layer
  if (!isLayer(layer)) place.problems.push('It names no layer.')
  const between = when === undefined ? null : split(when, '..')
  if (between?.[1] !== undefined) {
    const [from, to] = [exact(between[0], place), between[1] === '' ? null : exact(between[1], place)]
    if (from && to !== undefined) place.compare = to === null || from <= to ? { from, to } : { from: to, to: from }
  } else if (when !== undefined) place.time = exact(when, place)
  const [z, lat, lon, range, ...more] = rest
  const view = [z, lat, lon].map(number)
  if (view[0] >= 0 && view[0] <= 30 && Math.abs(view[1]) <= 90 && Math.abs(view[2]) <= 360) {
    place.view = { z: view[0], lat: view[1], lon: view[2] }
  }
  else if (rest.length) place.problems.push('It names no place on the map.')
  if (range !== undefined && !more.length) {
    const [from, to] = split(range, '..').map(end => exact(end ?? '', place))
    if (from && to) place.range = from <= to ? { from, to } : { from: to, to: from }
  }
  return place
}

/**
 * @param {{layer: string, time: string | null, comparing?: boolean, range?: {from: string, to: string} | null, view:
 *   {z: number, lat: number, lon: number}}} shown
 */
export function format ({ layer, time, comparing = false, range, view: { z, lat, lon } }) {
  const digits = Math.max(2, Math.ceil(z / 3)) // about a pixel
  const when = comparing && range ? `@${range.from}..${time ?? ''}` : time ? `@${time}` : ''
  const extra = range && !(comparing && range.to === time) ? `/${range.from}..${range.to}` : ''
  return `#${layer}${when}/${+z.toFixed(2)}/${lat.toFixed(digits)}/${lon.toFixed(digits)}${extra}`
}

/** @returns {string | undefined} */
function exact (text, { problems }) {
  try {
    return endOf(text)
  } catch {
    problems.push(`“${text.slice(0, 40)}” is not a time.`)
  }
}

const number = text => text?.trim() ? Number(text) : NaN

function split (text, mark) {
  const at = text.indexOf(mark)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)]
}

function decode (text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/**
 * @typedef {object} Place
 * @property {string} [layer]
 * @property {string} [time] exact
 * @property {{from: string, to: string | null}} [compare]
 * @property {{from: string, to: string}} [range]
 * @property {{z: number, lat: number, lon: number}} [view]
 * @property {string[]} problems
 */
