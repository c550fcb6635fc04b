// Reads and writes the address of the shown map, with layer@time as everywhere in tilecouch:
//   #daylight/3/47.10/8.50                          the newest
//   #daylight@2024-06-20T12:00:00Z/3/47.10/8.50     as of a time
//   #daylight@A..B/3/47.10/8.50                     two times side by side; without B the newest on the right
//   #daylight@T/3/47.10/8.50/A..B                   as of T, with a range chosen on the timeline
// Further parts may follow, each after an &:
//   with=land@T     another layer on the left, at a time; without @T the newest
//   mode=fade       how two sides are shown: swipe (default), side or fade
//   base=land       the map under it: a layer, - for none, * for the operator's
//   layers=a:40,*   the layers from the bottom up, with opacity in percent; * is the chosen layer
import { endOf, isLayer } from '../core/index.js'
import { attempt } from '../core/values.js'
import { words } from './words.js'

export const MODES = ['swipe', 'side', 'fade']

/** @returns {Place} the valid parts; problems: the invalid parts, in words */
export function parse (hash) {
  const text = attempt(() => decodeURIComponent(hash.replace(/^#/, ''))) ?? ''
  /** @type {Place} */
  const place = { problems: [] }
  if (!text) return place
  const [path, more = ''] = split(text, '&')
  const [reference, ...viewParts] = path.split('/')
  const [layer, when] = split(reference, '@')
  place.layer = layer
  if (!isLayer(layer)) place.problems.push(words.link.noLayer)
  const between = when === undefined ? null : split(when, '..')
  if (between?.[1] !== undefined) {
    const [from, to] = [exact(between[0], place), between[1] === '' ? null : exact(between[1], place)]
    if (from && to !== undefined) place.compare = to === null || from <= to ? { from, to } : { from: to, to: from }
  } else if (when !== undefined) place.time = exact(when, place)
  parseView(viewParts, place)
  parseMore(new URLSearchParams(more), place)
  return place
}

function parseView (viewParts, place) {
  const [z, lat, lon, range, ...more] = viewParts
  const view = [z, lat, lon].map(number)
  if (view[0] >= 0 && view[0] <= 30 && Math.abs(view[1]) <= 90 && Math.abs(view[2]) <= 360) {
    place.view = { z: view[0], lat: view[1], lon: view[2] }
  } else if (viewParts.length) place.problems.push(words.link.noPlace)
  if (range !== undefined && !more.length) {
    const [from, to] = split(range, '..').map(end => exact(end ?? '', place))
    if (from && to) place.range = from <= to ? { from, to } : { from: to, to: from }
  }
}

function parseMore (params, place) {
  const [layer, when] = split(params.get('with') ?? '', '@')
  if (isLayer(layer)) place.with = { layer, time: when === undefined ? null : exact(when, place) ?? null }
  if (MODES.includes(params.get('mode'))) place.mode = params.get('mode')
  const base = params.get('base')
  if (base === '-' || base === '*' || isLayer(base)) place.base = base === '-' ? '' : base
  const layers = (params.get('layers') ?? '').split(',').map(entry => split(entry, ':'))
    .filter(([name]) => name === '*' || isLayer(name))
  if (layers.length) {
    place.layers = layers.map(([name, share]) => ({ name, opacity: share === undefined ? 1 : opacity(share) }))
  }
}

/** @param {{name: string, opacity: number}} layer */
const withOpacity = ({ name, opacity: share }) => share === 1 ? name : `${name}:${Math.round(100 * share)}`

const atTime = time => time ? `@${time}` : ''

/** @param {Shown} shown */
export function format ({ layer, time, comparing = false, range, view: { z, lat, lon }, left, mode, base, layers }) {
  const digits = Math.max(2, Math.ceil(z / 3)) // about a pixel
  const isOfOne = comparing && range && !left
  const when = isOfOne ? `@${range.from}..${time ?? ''}` : atTime(time)
  const extra = range && !(isOfOne && range.to === time) ? `/${range.from}..${range.to}` : ''
  const more = [
    left && `&with=${left.layer}${atTime(left.time)}`,
    comparing && mode && mode !== 'swipe' && `&mode=${mode}`,
    base !== undefined && `&base=${base || '-'}`,
    layers && `&layers=${layers.map(withOpacity).join(',')}`
  ]
  const place = `${+z.toFixed(2)}/${lat.toFixed(digits)}/${lon.toFixed(digits)}`
  return `#${layer}${when}/${place}${extra}${more.filter(Boolean).join('')}`
}

/** @returns {string | undefined} */
function exact (text, { problems }) {
  try {
    return endOf(text)
  } catch {
    problems.push(words.link.noTime(text.slice(0, 40)))
  }
}

const number = text => text?.trim() ? Number(text) : NaN

const opacity = percent => Math.min(Math.max(number(percent) / 100, 0), 1) || 0

function split (text, mark) {
  const index = text.indexOf(mark)
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + mark.length)]
}

/**
 * @typedef {object} Place
 * @property {string} [layer]
 * @property {string} [time] exact
 * @property {{from: string, to: string | null}} [compare]
 * @property {{from: string, to: string}} [range]
 * @property {{z: number, lat: number, lon: number}} [view]
 * @property {{layer: string, time: string | null}} [with] the other side of the comparison
 * @property {'swipe' | 'side' | 'fade'} [mode]
 * @property {string} [base] '' for none
 * @property {{name: string, opacity: number}[]} [layers]
 * @property {string[]} problems
 *
 * @typedef {object} Shown
 * @property {string} layer
 * @property {string | null} time
 * @property {boolean} [comparing]
 * @property {{from: string, to: string} | null} [range]
 * @property {{z: number, lat: number, lon: number}} view
 * @property {{layer: string, time: string | null} | null} [left] the compared layer
 * @property {string} [mode]
 * @property {string} [base] unless it is the default
 * @property {readonly {name: string, opacity: number}[] | null} [layers] unless only the chosen one is shown, opaque
 */
