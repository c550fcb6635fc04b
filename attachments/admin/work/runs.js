// Sorts documents of work by their state, and describes them in words.
import { scrub } from '../../../core/errors.js'
import { compareIds } from '../../../core/ids.js'
import { workState } from '../../../core/work.js'
import { count, fromNow, inUnit } from '../../format.js'
import { locale } from '../../words.js'
import { texts } from '../words.js'

const words = texts.work
const LATE = 60 // seconds of lag that are not shown
const UNITS = /** @type {[string, number][]} */ ([['day', 86_400], ['hour', 3600], ['minute', 60], ['second', 1]])

const endOf = ({ finished, seen }) => finished ?? seen ?? ''

/** Orders documents by their start, the newest first. */
const byStart = (a, b) => compareIds(b._id, a._id)

/** Orders documents by their end, the newest first. */
const byEnd = (a, b) => compareIds(endOf(b), endOf(a)) || byStart(a, b)

/**
 * @param {any[]} docs @param {number} now milliseconds by the clock of the server
 * @returns {{running: any[], interrupted: any[], ended: any[]}}
 */
export function sortRuns (docs, now) {
  /** @type {Record<string, any[]>} */
  const runs = { running: [], interrupted: [], ended: [] }
  for (const doc of docs) (runs[workState(doc, now)] ?? runs.ended).push(doc)
  const { running, interrupted, ended } = runs
  return { running: running.sort(byStart), interrupted: interrupted.sort(byEnd), ended: ended.sort(byEnd) }
}

/** `load osm` */
export const nameOf = ({ command, layer }) => [command, layer].filter(Boolean).join(' ')

/** Milliseconds that a run has lasted. */
export const lasted = ({ started, finished, seen }) => Math.max(0, Date.parse(finished ?? seen) - Date.parse(started))

/** Whether a run continues until it is stopped, as a live mirror does. */
export const follows = ({ about, every }) => typeof about?.state === 'string' && every > 5

/** Milliseconds until a run is done, from its rate; undefined if that is unknown. */
const timeLeft = ({ done, total, rate }) => total > done && rate > 0 ? (total - done) / rate * 1000 : undefined

/** `2 hr 5 min`: the two largest units. @param {number} ms */
export function span (ms) {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const index = Math.max(0, UNITS.findIndex(([unit, size]) => seconds >= size || unit === 'second'))
  const [unit, size] = UNITS[index]
  const first = Math.floor(seconds / size)
  const [nextUnit, nextSize] = UNITS[index + 1] ?? []
  const second = nextSize ? Math.floor((seconds - first * size) / nextSize) : 0
  return second ? `${inUnit(first, unit, 'short')} ${inUnit(second, nextUnit, 'short')}` : inUnit(first, unit, 'short')
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

/** Progress, rate, remaining time and lag of a run. @returns {string} */
export function figures (doc) {
  const { rate, failed, about } = doc
  const remaining = timeLeft(doc)
  return [
    follows(doc) && (words.follow[about.state] ?? about.state),
    about?.lag > LATE && words.behind(span(about.lag * 1000)),
    amount(doc),
    rate > 0 && speed(rate),
    remaining !== undefined && words.left(span(remaining)),
    failed > 0 && words.failures(failed),
    about?.refused > 0 && words.refused(about.refused)
  ].filter(Boolean).join(' · ')
}

/** The source and the target of a mirror. @returns {string} */
export function route ({ about: { source, target } = /** @type {any} */ ({}) }) {
  const isKnown = typeof source === 'string' && typeof target === 'string'
  return isKnown ? words.route({ source: scrub(source), target: scrub(target) }) : ''
}

/** The user, the host and the start of a run. @returns {string} */
export function origin ({ user, host, started }, now) {
  return [words.started(fromNow(Date.parse(started) - now)), user && words.by(user), host && words.on(host)]
    .filter(Boolean).join(' · ')
}
