// Documents of work: what became of each, and what it says in words.
import { scrub } from '../../../core/errors.js'
import { workState } from '../../../core/work.js'
import { count } from '../../format.js'
import { locale } from '../../words.js'
import { fromNow } from '../parts.js'
import { texts } from '../words.js'

const words = texts.work
const LATE = 60 // seconds of lag that are not worth a word
const UNITS = /** @type {[string, number][]} */ ([['day', 86_400], ['hour', 3600], ['minute', 60], ['second', 1]])

const endOf = ({ finished, seen }) => finished ?? seen ?? ''

/** The newest first: by when they began. */
const newest = (a, b) => a._id < b._id ? 1 : -1

/** The newest first: by when they ended. */
const endedLast = (a, b) => endOf(a) < endOf(b) ? 1 : endOf(a) > endOf(b) ? -1 : newest(a, b)

/**
 * @param {any[]} docs @param {number} now milliseconds by the clock of the server
 * @returns {{running: any[], interrupted: any[], ended: any[]}}
 */
export function sortRuns (docs, now) {
  /** @type {Record<string, any[]>} */
  const runs = { running: [], interrupted: [], ended: [] }
  for (const doc of docs) (runs[workState(doc, now)] ?? runs.ended).push(doc)
  const { running, interrupted, ended } = runs
  return { running: running.sort(newest), interrupted: interrupted.sort(endedLast), ended: ended.sort(endedLast) }
}

/** `load osm` */
export const nameOf = ({ command, layer }) => [command, layer].filter(Boolean).join(' ')

/** Milliseconds that it has run. */
export const lasted = ({ started, finished, seen }) => Math.max(0, Date.parse(finished ?? seen) - Date.parse(started))

/** Whether it goes on until it is stopped, as a live mirror does. */
export const follows = ({ about, every }) => typeof about?.state === 'string' && every > 5

/** Milliseconds until it is done, as far as its rate tells; undefined where it does not. */
const timeLeft = ({ done, total, rate }) => total > done && rate > 0 ? (total - done) / rate * 1000 : undefined

const inUnit = (value, unit) =>
  new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(value)

/** `2 hr 5 min`: the two largest units. @param {number} ms */
export function span (ms) {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const at = Math.max(0, UNITS.findIndex(([unit, size]) => seconds >= size || unit === 'second'))
  const [unit, size] = UNITS[at]
  const first = Math.floor(seconds / size)
  const [next, small] = UNITS[at + 1] ?? []
  const second = small ? Math.floor((seconds - first * size) / small) : 0
  return second ? `${inUnit(first, unit)} ${inUnit(second, next)}` : inUnit(first, unit)
}

const oneDigit = value => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(value)

/** `340 a second` @param {number} rate */
export const speed = rate => words.rate(rate >= 10 ? count(Math.round(rate)) : oneDigit(rate))

/** `12 of 90 tiles` */
export function amount ({ done, total, unit = '' }) {
  if (!Number.isFinite(done)) return ''
  const noun = words.units[unit] ?? unit
  if (total >= done) return words.ofTotal({ done: count(done), total: count(total), unit: noun }).trim()
  return `${count(done)} ${noun}`.trim()
}

/** How far, how fast, how long still, how it follows. @returns {string} */
export function figures (doc) {
  const { rate, failed, about } = doc
  const left = timeLeft(doc)
  return [
    follows(doc) && (words.follow[about.state] ?? about.state),
    about?.lag > LATE && words.behind(span(about.lag * 1000)),
    amount(doc),
    rate > 0 && speed(rate),
    left !== undefined && words.left(span(left)),
    failed > 0 && words.failures(failed),
    about?.refused > 0 && words.refused(about.refused)
  ].filter(Boolean).join(' · ')
}

/** From which store a mirror copies to which. @returns {string} */
export function route ({ about: { source, target } = /** @type {any} */ ({}) }) {
  const isKnown = typeof source === 'string' && typeof target === 'string'
  return isKnown ? words.route({ source: scrub(source), target: scrub(target) }) : ''
}

/** Who, where and since when. @returns {string} */
export function origin ({ user, host, started }, now) {
  return [words.started(fromNow(Date.parse(started) - now)), user && words.by(user), host && words.on(host)]
    .filter(Boolean).join(' · ')
}
