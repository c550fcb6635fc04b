// Computes the ticks of the time axis and their labels. Pure functions. Steps are counted on the wall clock of the
// zone, so that a day tick is at midnight there, also with summer time.
import { timelineWords } from './words.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MONTH = 30.4 * DAY
const YEAR = 365.25 * DAY
const GAP = 18 // pixels between labels at least

/** @typedef {{unit: 'clock' | 'day' | 'month' | 'year', every: number, length: number}} Level */

/** @returns {Level[]} */
const levels = (unit, length, ...counts) => counts
  .map(count => ({ unit, every: unit === 'clock' ? count * length : count, length: count * length }))

const LEVELS = [
  ...levels('clock', SECOND, 1, 5, 15, 30),
  ...levels('clock', MINUTE, 1, 5, 15, 30),
  ...levels('clock', HOUR, 1, 3, 6, 12),
  ...levels('day', DAY, 1, 2, 5, 10),
  ...levels('month', MONTH, 1, 3, 6),
  ...levels('year', YEAR, 1, 2, 5, 10, 20, 50, 100, 200, 500)
]

/** Estimates the width of a text at 11 px, rather too wide. */
const estimate = text => text.length * 6.7

/** A time with the widest texts. */
const WIDE = Date.UTC(2000, 7, 28)

/**
 * @typedef {{ms: number, x: number, label: string, major: boolean}} Tick label '' for a mark alone; major: a larger
 *   unit begins
 */

/**
 * @param {import('./time-scale.js').Axis} axis @param {import('./zones.js').Zone} zone
 * @param {{measure?: (text: string) => number, words?: import('./words.js').TimelineWords}} [options] measure: width of
 *   a label in pixels
 * @returns {{ticks: Tick[], context: string}} context: the part of the date that the labels leave out, for the left
 *   end; '' if none
 */
export function ticksOf (axis, zone, { measure = estimate, words = timelineWords } = {}) {
  const isWideEnough = candidate => candidate.length / axis.msPerPx >= measure(sample(candidate, words)) + GAP
  const index = LEVELS.findIndex(isWideEnough)
  const level = LEVELS[index] ?? LEVELS[LEVELS.length - 1]
  const left = axis.ms(0)
  const right = axis.ms(axis.width)
  const context = contextOf(level, zone.civil(axis.from), words)
  const ticks = marks(level, left, right, zone)
    .map(({ ms, civil }) => ({ ms, x: axis.x(ms), ...labelOf(level, civil, words), civil }))
  const placed = place(ticks, level, axis.width, context ? measure(context) : 0, { measure, words })
  const finer = LEVELS.slice(0, Math.max(index, 0))
    .findLast(candidate => candidate.length / axis.msPerPx >= 9 && (level.length / candidate.length) % 1 < 0.05)
  const coarse = new Set(placed.ticks.map(tick => tick.ms))
  const small = (finer ? marks(finer, left, right, zone) : []).filter(({ ms }) => !coarse.has(ms))
    .map(({ ms }) => ({ ms, x: axis.x(ms), label: '', major: false }))
  return { ticks: [...placed.ticks, ...small].sort((a, b) => a.ms - b.ms), context: placed.context ? context : '' }
}

/** Writes as many labels as fit, larger units first; the others stay as marks. */
function place (ticks, level, width, contextWidth, { measure, words }) {
  let context = contextWidth > 0
  if (context) {
    // a label of a larger unit below the context has the full text, and replaces the context
    const under = ticks.find(tick => tick.major && tick.x - measure(tick.label) / 2 < contextWidth + GAP / 2)
    const full = under && contextOf(level, under.civil, words)
    if (under && under.x >= measure(full) / 2) {
      under.label = full
      context = false
    }
  }
  /** @type {Array<[number, number]>} */
  const taken = context ? [[0, contextWidth]] : []
  for (const major of [true, false]) {
    for (const tick of ticks) {
      if (tick.major !== major) continue
      const half = measure(tick.label) / 2
      const isFree = tick.x - half >= 0 && tick.x + half <= width &&
        taken.every(([from, to]) => tick.x + half + GAP / 2 <= from || tick.x - half - GAP / 2 >= to)
      if (isFree) taken.push([tick.x - half, tick.x + half])
      else tick.label = ''
    }
  }
  return { context, ticks: ticks.map(({ ms, x, label, major }) => ({ ms, x, label, major })) }
}

function sample ({ unit, every }, words) {
  if (unit === 'clock') return words.clock(0, every < MINUTE)
  if (unit === 'day') return every === 1 ? '00' : words.dayMonth(WIDE)
  return unit === 'month' ? words.month(WIDE) : '2000'
}

function labelOf ({ unit, every }, civil, words) {
  const wall = new Date(civil)
  const [year, month, day] = [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate()]
  if (unit === 'year') return { label: String(year), major: false }
  if (unit === 'month') return { label: month ? words.month(civil) : String(year), major: month === 0 }
  if (unit === 'day') {
    if (day === 1) return { label: month ? words.month(civil) : words.monthYear(civil), major: true }
    return { label: every === 1 ? String(day) : words.dayMonth(civil), major: false }
  }
  if (civil % DAY === 0) return { label: month || day > 1 ? words.dayMonth(civil) : words.date(civil), major: true }
  return { label: words.clock(civil, every < MINUTE), major: false }
}

function contextOf ({ unit }, civil, words) {
  if (unit === 'year') return ''
  if (unit === 'month') return String(new Date(civil).getUTCFullYear())
  return unit === 'day' ? words.monthYear(civil) : words.date(civil)
}

function marks (level, left, right, zone) {
  const instants = []
  for (const civil of civilSteps(level, zone.civil(left), zone.civil(right))) {
    const ms = zone.instant(civil)
    // an hour that summer time leaves out is no tick
    const isLater = !instants.length || ms > instants[instants.length - 1].ms
    if (ms >= left && ms <= right && zone.civil(ms) === civil && isLater) instants.push({ ms, civil })
  }
  return instants
}

/** @param {Level} level @param {number} from @param {number} to */
function * civilSteps ({ unit, every }, from, to) {
  if (unit === 'clock') {
    for (let civil = Math.floor(from / every) * every; civil <= to + HOUR; civil += every) yield civil
    return
  }
  const wall = new Date(from)
  let year = wall.getUTCFullYear()
  if (unit === 'year') {
    for (year = Math.floor(year / every) * every; midnight(year, 0, 1) <= to; year += every) yield midnight(year, 0, 1)
    return
  }
  const step = unit === 'month' ? every : 1
  for (let month = Math.floor(wall.getUTCMonth() / step) * step; midnight(year, month, 1) <= to; month += step) {
    if (unit === 'month') yield midnight(year, month, 1)
    else {
      const days = new Date(midnight(year, month + 1, 0)).getUTCDate()
      // the last step of a month may be short, but not shorter than half
      for (let day = 1; day <= days; day += every) {
        if (day === 1 || days + 1 - day >= every / 2) yield midnight(year, month, day)
      }
    }
  }
}

/** Date.UTC takes the years 0 to 99 for 1900 to 1999. */
function midnight (year, month, day) {
  const date = new Date(0)
  return date.setUTCFullYear(year, month, day)
}
