// What bench/diskcache.js measured, for docs/benchmarks/diskcache.md: the tables and plots of the original.
import { spans } from '../plots/charts.js'
import { machineLine, programRows, rounds as inRounds, thousands } from '../plots/words.js'
import { OURS, processes } from './names.js'

const ACTIONS = ['get', 'set', 'delete']

/** Microseconds in the unit that suits them, three digits. */
export function duration (micros) {
  const [value, unit] = micros < 999.5 ? [micros, 'µs'] : micros < 999.5e3 ? [micros / 1e3, 'ms'] : [micros / 1e6, 's']
  return `${value >= 1000 ? thousands(Math.round(value)) : Number(value.toPrecision(3))} ${unit}`
}

const withSpread = ({ median, min, max }) => min === max ? duration(median) : `${duration(median)} (${duration(min)}–${duration(max)})`
const listed = words => words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`

/** @param {any} result bench/results/diskcache.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { operations, warmup, limit, rounds, keys, bytes, clock, shares, results } = result
  const percent = ACTIONS.map(action => `${shares[action] * 100} % ${action}s`)
  return {
    diskcacheMachine: `${machineLine(result)}; ${thousands(operations)} operations a process (${listed(percent)}) on ${keys} keys, values of ${bytes} bytes on average, the first ${thousands(warmup)} not counted; ${inRounds(rounds)} of ${limit} s at most. Reading the clock takes ${clock} µs of each.`,
    diskcacheOne: table(...timings(results, 1)),
    diskcacheEight: table(...timings(results, 8)),
    diskcachePrograms: table(['what', 'version', 'settings'], programRows(result))
  }
}

/** @returns {[string[], any[][]]} */
function timings (results, level) {
  return [
    [processes(level), 'action', 'count', 'miss', 'median (lowest–highest round)', 'p90', 'p99', 'max', 'total'],
    Object.entries(results).filter(([, levels]) => levels[level]).flatMap(([name, { [level]: { actions, asked, done } }]) => [
      ...Object.entries(actions).map(([action, { count, miss, p50, p90, p99, max, total }], at) => [
        at ? '' : name, action, thousands(count), thousands(miss), withSpread(p50),
        // of fewer there is no such rank
        count < 10 ? '' : duration(p90.median), count < 100 ? '' : duration(p99.median), duration(max), duration(total * 1e6)
      ]),
      ['', '**all**', done.min < asked ? `${thousands(Math.round(done.median))} of ${thousands(asked)}` : thousands(asked), '', '', '', '', '',
        duration(Object.values(actions).reduce((sum, { total }) => sum + total, 0) * 1e6)]
    ])
  ]
}

/** A plot for each action and number of processes that has figures. */
export function plots ({ processes: levels, results }) {
  return Object.fromEntries(levels.flatMap(level => ACTIONS.flatMap(action => {
    const rows = Object.entries(results).filter(([, { [level]: figures }]) => figures?.actions[action]).map(([name, { [level]: { actions } }]) => {
      const { p50, p90, p99, max } = actions[action]
      return { name, p50: p50.median / 1e3, p90: p90.median / 1e3, p99: p99.median / 1e3, max: max / 1e3, ours: OURS.includes(name) }
    })
    const title = `How long a ${action} takes, ${processes(level)}`
    return rows.length ? [[`diskcache-${action}-${level}`, spans({ title, unit: 'milliseconds: medians of the rounds, the longest of all', rows, log: true })]] : []
  })))
}
