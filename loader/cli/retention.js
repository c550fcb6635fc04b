// The retention policy of a layer: its options, and its description in words.
import { checkRetention, parseDuration } from '../../core/index.js'
import { collect } from './options.js'
import { count, linesOf, plural } from './output.js'

const PERIODS = { hourly: 'hour', daily: 'day', weekly: 'week', monthly: 'month', yearly: 'year' }
const UNITS = { year: 31536000, week: 604800, day: 86400, hour: 3600, minute: 60, second: 1 } // seconds

/** @type {import('./command.js').DeclaredOption[]} */
export const retentionOptions = [
  ['--keep-last <n>', 'keep the newest n moments at which anything changed or an edition was loaded', { digits: 7 }],
  ...Object.entries(PERIODS).map(([rule, period]) => {
    const note = rule === 'weekly' ? ' (ISO weeks; all in UTC)' : ''
    return /** @type {import('./command.js').DeclaredOption} */ ([`--keep-${rule} <n>`,
      `keep the newest moment of each of the last n ${period}s that have any${note}`, { digits: 7 }])
  }),
  ['--keep-within <duration>', 'keep everything since this long before the newest moment, such as 90d',
    { parse: parseDuration }],
  ['--keep-edition <time|all>', 'keep the edition of this time, or all editions of 2023; repeatable',
    { parse: collect }]
]

/** The policy of the options; undefined if they have none. @param {Record<string, any>} options */
export function retentionOf (options) {
  const { keepLast: last, keepHourly: hourly, keepDaily: daily, keepWeekly: weekly, keepMonthly: monthly } = options
  const { keepYearly: yearly, keepWithin: within, keepEdition } = options
  const editions = keepEdition?.includes('all') ? true : keepEdition
  const policy = { last, hourly, daily, weekly, monthly, yearly, within, editions }
  return Object.values(policy).some(value => value !== undefined) ? checkRetention(policy) : undefined
}

/** @param {import('../../core/retention.js').Retention} policy @returns {string[]} */
export function retentionWords ({ last, within, editions, ...counts }) {
  const periods = Object.keys(PERIODS).filter(rule => counts[rule]).map(rule => plural(counts[rule], PERIODS[rule]))
  return linesOf([
    last && (last === 1 ? 'the newest moment' : `the newest ${count(last)} moments`),
    periods.length && `the newest moment of each of the last ${list(periods)} that have any`,
    within && `everything since ${durationWords(within)} before the newest moment`,
    editions === true && 'every edition',
    Array.isArray(editions) && editions.length && `the editions ${list(editions)}`
  ])
}

const list = words => words.length > 1 ? `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}` : words[0]

/** A duration in the largest unit that gives a whole number. */
function durationWords (seconds) {
  const [unit, length] = Object.entries(UNITS).find(([, unitSeconds]) => seconds % unitSeconds === 0) ?? ['second', 1]
  return plural(seconds / length, unit)
}
