// Times in the names of files and folders: `load --dated` reads them, exports write them.
import { isExactTime, startOf } from '../../core/index.js'
import { attempt } from '../../core/values.js'
import { TilecouchError } from '../errors.js'

const MIDNIGHT = 'T00:00:00Z'

/**
 * The forms of a time in a name, the longest first. Letters may stand before and after a whole date (survey20240301),
 * but not beside a year: tile2048px has none.
 */
const FORMS = [
  new RegExp([
    '(?<!\\d)(?<year>[12]\\d{3})', // 2023-06-01, 2023_6_1, 20240301
    '(?:(?<mark>[-_.])(?<month>\\d\\d?)\\k<mark>(?<day>\\d\\d?)|(?<month2>\\d\\d)(?<day2>\\d\\d))',
    '(?:T(?<hour>\\d\\d)(?:[:-]?(?<minute>\\d\\d)(?:[:-]?(?<second>\\d\\d))?)?Z?|', // with T1215 or T121500Z
    '[_-](?<hour2>\\d\\d)(?<minute2>\\d\\d)(?<second2>\\d\\d)Z?)?(?!\\d)' // or _121500
  ].join('')),
  /(?<!\d)\d\d?(?<mark>[-_.])\d\d?\k<mark>[12]\d{3}(?!\d)/, // 01-03-2024: which is the month?
  /(?<!\d)(?<year>[12]\d{3})[-_](?<month>\d\d)(?![\d])/, // 2024-03
  /(?<!\d)(?<year>[12]\d{3})[-_](?<third>\d)(?!\d)/, // 2024-3: March, or the third of that year?
  /(?<!\d)(?<year>[12]\d{3})(?<month>\d\d)(?!\d)/, // 202403
  /(?<![\p{L}\d])(?<year>[12]\d{3})(?![\p{L}\d])/u // 2024
].map(form => new RegExp(form, `${form.flags}g`))

const TWO_WAYS = 'can be read in two ways: write 2024-03-01'

/**
 * The time in a name, as the start of its period: `survey_20240301.mbtiles` -> `2024-03-01T00:00:00Z`.
 * Throws NO_TIME_IN_NAME when there are two, or one that can be read in two ways or is not on the calendar.
 * @param {string} name without the folders before it
 * @returns {string | undefined} exact; nothing when there is none
 */
export function timeInName (name) {
  const times = new Map()
  let fault = ''
  for (const { text, groups } of timeTexts(name)) {
    const { time, why } = parseTime(text, groups)
    if (time) times.set(time, text)
    else fault ||= `${text} ${why}`
  }
  const several = times.size > 1 ? `it has several: ${[...times.values()].join(', ')}` : ''
  const why = times.size ? several : fault
  if (why) throw new TilecouchError('NO_TIME_IN_NAME', { value: name, why })
  return times.keys().next().value
}

/** The parts of a name that look like a time. A part that a longer form has matched is not searched again. */
function timeTexts (name) {
  let unread = name
  return FORMS.flatMap(form => [...unread.matchAll(form)].map(match => {
    unread = unread.slice(0, match.index) + '#'.repeat(match[0].length) + unread.slice(match.index + match[0].length)
    return { text: match[0], groups: match.groups ?? {} }
  }))
}

function parseTime (text, { year, month, day, month2, day2, hour, minute, second, hour2, minute2, second2, third }) {
  if (!year || third) return { why: TWO_WAYS }
  // 200903 may also be a day, 20-09-03 or 20.09.03; 202403 may not
  if (month && text.length === 6 && +year.slice(2) >= 1 && +year.slice(2) <= 12) return { why: TWO_WAYS }
  const date = [year, month ?? month2, day ?? day2].filter(Boolean).map(part => part.padStart(2, '0')).join('-')
  const clock = [hour ?? hour2, minute ?? minute2, second ?? second2].filter(Boolean).join(':')
  const time = attempt(() => startOf(clock ? `${date}T${clock}Z` : date))
  return time === undefined ? { why: 'is not on the calendar' } : { time }
}

/**
 * A time as a part of a file name, which `timeInName` reads again: the day when it is a midnight, else without the
 * colons that some file systems do not take.
 * @param {string} time exact
 */
export function nameTime (time) {
  if (!isExactTime(time)) throw new TilecouchError('BAD_TIME', { value: time })
  return time.endsWith(MIDNIGHT) ? time.slice(0, -MIDNIGHT.length) : time.replaceAll(':', '')
}
