// Times in WMTS requests and answers: moments, periods, and lists. A regular series in a list is one entry:
// `2020-01-01T00:00:00Z/2024-01-01T00:00:00Z/P1Y`, as in WMS, in the capabilities of GIBS and in QGIS.
import { endOf, startOf, toSeconds } from '../../../core/times.js'
import { invalid } from './errors.js'

const WRONG = 'times are current, 2024, 2024-03, 2024-03-01 or 2024-03-01T12:00:00Z'

// clients that know no dimensions leave {time} in the address template
const NO_TIME = /^(?:default|\{time\})?$/i
const NEWEST = /^current$/i

/**
 * The last second of a Time; undefined for the newest. Clients write fractions and offsets, which tile addresses do
 * not have. A period means its end, written as 2024 or as start/end[/step]: some programs request an entry of the
 * list as a single time.
 * @param {string} [text] as written
 * @param {string} [addressTime] the time of the address, for a request without a time
 */
export function resolveTime (text = '', addressTime) {
  if (NO_TIME.test(text)) return addressTime
  if (NEWEST.test(text)) return
  const [start, end, step, ...more] = text.split('/')
  if (end === undefined) return momentOf(endOf, text)
  const isPeriod = more.length === 0 && (step === undefined || STEP.test(step))
  if (isPeriod && momentOf(startOf, start) <= momentOf(endOf, end)) return momentOf(endOf, end)
  throw invalid('Time', text, 'a period is start/end or start/end/step: 2020/2024/P1Y')
}

function momentOf (parse, text) {
  try {
    return parse(text)
  } catch {
    throw invalid('Time', text, WRONG)
  }
}

const STEP = new RegExp([
  /^P(?=.)(?:\d{1,9}Y)?(?:\d{1,9}M)?(?:\d{1,9}W)?(?:\d{1,9}D)?/, // years to days
  /(?:T(?=.)(?:\d{1,9}H)?(?:\d{1,9}M)?(?:\d{1,9}S)?)?$/ // hours to seconds
].map(({ source }) => source).join(''))

const SHORTEST = 5 // times in a series: any two are regular, and three or four often by chance

/**
 * Replaces each regular series of times by one entry. A client that expands the series gets exactly these times.
 * @param {string[]} times exact, ascending @returns {string[]}
 */
export function withSeries (times) {
  const entries = []
  for (let index = 0; index < times.length;) {
    const { count, step } = seriesAt(times, index)
    const isSeries = count >= SHORTEST
    entries.push(isSeries ? `${times[index]}/${times[index + count - 1]}/${step}` : times[index])
    index += isSeries ? count : 1
  }
  return entries
}

/** The longest series that begins at an index of the list. */
function seriesAt (times, index) {
  const [months, seconds] = KINDS.map(({ between, write }) => {
    const size = index + 1 < times.length ? between(times[index], times[index + 1]) : 0
    let last = index
    if (size > 0) while (last + 1 < times.length && between(times[last], times[last + 1]) === size) last++
    return { count: last - index + 1, step: write(size) }
  })
  return seconds.count > months.count ? seconds : months
}

const UNITS = /** @type {const} */ ([[86400, 'P', 'D'], [3600, 'PT', 'H'], [60, 'PT', 'M'], [1, 'PT', 'S']])

/** Steps of whole months, and of seconds; written in the largest unit that fits. 0: there is no such step. */
const KINDS = [{
  between (before, after) {
    // programs disagree about the next time after a day that some months lack
    if (before.slice(8) !== after.slice(8) || before.slice(8, 10) > '28') return 0
    return 12 * (+after.slice(0, 4) - +before.slice(0, 4)) + +after.slice(5, 7) - +before.slice(5, 7)
  },
  write: months => months % 12 === 0 ? `P${months / 12}Y` : `P${months}M`
}, {
  between: (before, after) => toSeconds(after) - toSeconds(before),
  write (seconds) {
    const [size, mark, unit] = UNITS.find(([length]) => seconds % length === 0) ?? UNITS[3]
    return `${mark}${seconds / size}${unit}`
  }
}]
