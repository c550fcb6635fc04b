// The texts of the timeline and of the comparison in English, and how they are joined. Pure functions. The option
// `words` of a control replaces any of them.
import { inUnits } from '../../core/text.js'
import { indexAsOf } from './steps.js'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `12,345` */
const count = number => String(number).replace(/\B(?=(\d{3})+$)/g, ',')

const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`

function size (bytes) {
  if (bytes < 1000) return plural(bytes, 'byte')
  const { value, digits, unit } = inUnits(bytes)
  return `${digits ? value.toFixed(1) : count(value)} ${unit}`
}

const wall = civil => new Date(civil)

/**
 * Texts begin with a small letter where they may stand within a sentence. A civil time is what the wall clock of a zone
 * shows, as milliseconds in UTC.
 */
export const timelineWords = {
  /** BCP 47 tag of the language in which time zones are named */
  locale: 'en-GB',
  timeline: 'Timeline',
  transport: 'Move through time',
  first: 'First change',
  previous: 'Previous change',
  play: 'Play',
  pause: 'Pause',
  next: 'Next change',
  last: 'Last change',
  newest: 'Newest',
  toNewest: 'Show the newest tiles, as they come',
  time: 'Time',
  from: 'Start of the range',
  to: 'End of the range',
  settings: 'Timeline settings',
  more: 'More',
  selectRange: 'Select a range',
  clearRange: 'Clear the range',
  zoomToRange: 'Zoom to the range',
  loop: 'Start again at the end',
  speed: 'Speed',
  steps: 'Changes a second',
  perSecond: speed => `${speed} per s`,
  pace: 'Time a second',
  paces: {
    hour: '1 hour per s',
    day: '1 day per s',
    week: '1 week per s',
    month: '1 month per s',
    year: '1 year per s',
    decade: '10 years per s'
  },
  zone: 'Time zone',
  utc: 'Times in UTC',
  local: 'Local',
  ofComputer: 'Times of this computer',
  ofZone: name => `Times of ${name}`,
  waiting: 'waiting for tiles …',
  looking: 'looking for changes …',
  loading: 'loading the history …',
  away: 'the store cannot be reached',
  notOnMap: 'the layer is not on the map',
  nothing: 'nothing changed here',
  only: 'the only time of this layer',
  before: 'before the first change here',
  tilesChanged: tiles => `${plural(tiles, 'tile')} changed here`,
  unchangedSince: time => `unchanged since ${time}`,
  lastChange: time => `last change ${time}`,
  changes: number => plural(number, 'change'),
  size,
  /** `20 Jun 2024`, of a civil time */
  date: civil => `${wall(civil).getUTCDate()} ${MONTHS[wall(civil).getUTCMonth()]} ${wall(civil).getUTCFullYear()}`,
  /** `14:00`, with seconds if there are any or if `withSeconds` is true */
  clock (civil, withSeconds = wall(civil).getUTCSeconds() > 0) {
    return wall(civil).toISOString().slice(11, withSeconds ? 19 : 16)
  },
  month: civil => MONTHS[wall(civil).getUTCMonth()],
  dayMonth: civil => `${wall(civil).getUTCDate()} ${MONTHS[wall(civil).getUTCMonth()]}`,
  monthYear: civil => `${MONTHS[wall(civil).getUTCMonth()]} ${wall(civil).getUTCFullYear()}`
}

export const compareWords = {
  left: 'left',
  right: 'right',
  otherMap: 'Second map',
  swipe: (left, leftShare, right, rightShare) => `${left} on ${leftShare} %, ${right} on ${rightShare} % of the map`,
  fade: (left, leftShare, right, rightShare) => `${left} ${leftShare} %, ${right} ${rightShare} %`
}

/** @typedef {typeof timelineWords} TimelineWords */
/** @typedef {typeof compareWords} CompareWords */
/** @typedef {import('./zones.js').Zone} Zone */

/** `20 Jun 2024` @param {Zone} zone @param {TimelineWords} words */
export const dateText = (ms, zone, words) => words.date(zone.civil(ms))

/** `14:00 UTC` @param {Zone} zone @param {TimelineWords} words */
export const clockText = (ms, zone, words) => `${words.clock(zone.civil(ms))} ${zone.label(ms)}`

/**
 * Whether a time is shown as a day: it and all times of the view are midnights, as in dated surveys.
 * @param {number} ms @param {Array<{time: string}>} changes @param {Zone} zone
 */
export const isDay = (ms, changes, zone) =>
  zone.name === 'utc' && ms % 86400000 === 0 && changes.every(({ time }) => time.endsWith('T00:00:00Z'))

/**
 * `20 Jun 2024, 14:00 UTC`, or `20 Jun 2024` where days are enough.
 * @param {string} time @param {Array<{time: string}>} changes of the view
 * @param {Zone} zone @param {TimelineWords} words
 */
export function timeText (time, changes, zone, words) {
  const ms = Date.parse(time)
  const day = dateText(ms, zone, words)
  return isDay(ms, changes, zone) ? day : `${day}, ${clockText(ms, zone, words)}`
}

/**
 * The text of the change in this view at or before a time.
 * @param {string | null} time @param {Array<{time: string, tiles: number}>} changes @param {Zone} zone
 * @param {TimelineWords} words
 */
export function changeText (time, changes, zone, words) {
  if (!changes.length) return words.nothing
  const index = indexAsOf(changes.map(change => change.time), time)
  if (index < 0) return words.before
  const change = changes[index]
  if (change.time === time) return words.tilesChanged(change.tiles)
  return words[time === null ? 'lastChange' : 'unchangedSince'](timeText(change.time, changes, zone, words))
}

/**
 * For screen readers: `20 Jun 2024, 14:00 UTC, 12 tiles changed here`.
 * @param {string | null} time @param {Array<{time: string, tiles: number}>} changes @param {Zone} zone
 * @param {TimelineWords} words
 */
export const valueText = (time, changes, zone, words) =>
  `${time === null ? words.newest : timeText(time, changes, zone, words)}, ${changeText(time, changes, zone, words)}`

export const capital = text => text.charAt(0).toUpperCase() + text.slice(1)
