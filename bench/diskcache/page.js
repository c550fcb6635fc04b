// The tables and plots of the results of bench/diskcache.js, for docs/benchmarks/diskcache.md, like those of the
// original.
import { spans } from '../plots/charts.js'
import { machineLine, programList, rounds as inRounds, thousands } from '../plots/words.js'
import { OURS, processes } from './names.js'

const ACTIONS = ['get', 'set'] // deletes are not shown: one operation in a hundred

/** below: microseconds that the unit is used for; size: of the unit in microseconds */
const UNITS = [
  { below: 999.5, size: 1, unit: 'µs' },
  { below: 999.5e3, size: 1e3, unit: 'ms' },
  { below: Infinity, size: 1e6, unit: 's' }
]

/** Formats microseconds in a suitable unit, with three digits. */
export function duration (micros) {
  const { size, unit } = /** @type {typeof UNITS[0]} */ (UNITS.find(({ below }) => micros < below))
  const value = micros / size
  return `${value >= 1000 ? thousands(Math.round(value)) : Number(value.toPrecision(3))} ${unit}`
}

const joined = words => words.length < 2 ? words.join('')
  : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`

/** @param {any} result bench/results/diskcache.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { operations, warmup, limit, rounds, keys, bytes, clock, processes: levels, shares, results } = result
  const percent = Object.entries(shares).map(([action, share]) => `${share * 100} % ${action}s`)
  const columns = levels.flatMap(level => ACTIONS.map(action => ({ level, action })))
  const most = levels[levels.length - 1]
  const rows = Object.entries(results).map(([name, figures]) => [
    name,
    ...columns.map(({ level, action }) => duration(figures[level].actions[action].p50.median)),
    duration(figures[most].actions.set.max),
    `${Math.floor(figures[most].done.median / figures[most].asked * 100)} %`
  ])
  return {
    diskcacheMachine:
      `${machineLine(result)}; ${thousands(operations)} operations a process (${joined(percent)}) on ${keys} keys, ` +
      `values of ${bytes} bytes on average, the first ${thousands(warmup)} not counted; ` +
      `${inRounds(rounds)} of ${limit} s at most. ` +
      `Reading the clock takes ${clock} µs of each.`,
    diskcacheMedians: table(
      [
        'median',
        ...columns.map(({ level, action }) => `${action}, ${processes(level)}`),
        `longest set of ${most}`,
        `finished of ${most}`
      ],
      rows
    ),
    diskcachePrograms: programList(result)
  }
}

/** One plot for each action and number of processes. */
export function plots ({ processes: levels, results }) {
  return Object.fromEntries(levels.flatMap(level => ACTIONS.flatMap(action => {
    const rows = Object.entries(results).filter(([, { [level]: figures }]) => figures?.actions[action])
      .map(([name, { [level]: { actions } }]) => {
      const { p50, p90, p99, max } = actions[action]
      return {
        name, p50: p50.median / 1e3, p90: p90.median / 1e3, p99: p99.median / 1e3,
        max: max / 1e3, ours: OURS.includes(name)
      }
    })
    const title = `How long a ${action} takes, ${processes(level)}`
    return rows.length
      ? [[`diskcache-${action}-${level}`,
        spans({ title, unit: 'milliseconds: medians of the rounds, the longest of all', rows, log: true })]] : []
  })))
}
