// What bench/diskcache.js measured, for docs/benchmarks/diskcache.md: the tables and plots of the original.
import { spans } from '../plots/charts.js'
import { machineLine, programRows, rounds as inRounds, thousands } from '../plots/words.js'
import { CACHE, COUCH, FILES, GATEWAY, MEMCACHED, MEMORY, OURS, REDIS, processes } from './names.js'

const ACTIONS = ['get', 'set', 'delete']

/** Microseconds in the unit that suits them, three digits. */
export function duration (micros) {
  const [value, unit] = micros < 999.5 ? [micros, 'µs'] : micros < 999.5e3 ? [micros / 1e3, 'ms'] : [micros / 1e6, 's']
  return `${value >= 1000 ? thousands(Math.round(value)) : Number(value.toPrecision(3))} ${unit}`
}

const withSpread = ({ median, min, max }) => min === max ? duration(median) : `${duration(median)} (${duration(min)}–${duration(max)})`
const listed = words => words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`
const times = factor => factor >= 10 ? `${thousands(Math.round(factor))} times` : `${Number(factor.toPrecision(2))} times`

/** @param {any} result bench/results/diskcache.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { operations, warmup, limit, rounds, keys, bytes, clock, shares, results } = result
  const percent = ACTIONS.map(action => `${shares[action] * 100} % ${action}s`)
  return {
    diskcacheMachine: `${machineLine(result)}; ${thousands(operations)} operations a process (${listed(percent)}) on ${keys} keys, values of ${bytes} bytes on average, the first ${thousands(warmup)} not counted; ${inRounds(rounds)} of ${limit} s at most. Reading the clock takes ${clock} µs of each.`,
    diskcacheOne: table(...timings(results, 1)),
    diskcacheEight: table(...timings(results, 8)),
    diskcacheCut: cut(result),
    diskcacheBehind: behind(results),
    diskcacheErrors: errors(results),
    diskcacheMeaning: meaning(results),
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

/** Who did not come to the end. */
function cut ({ processes: levels, limit, results }) {
  const words = levels.map(level => {
    const late = Object.entries(results).filter(([, { [level]: figures }]) => figures && figures.done.min < figures.asked)
      .map(([name, { [level]: { done, asked } }]) => `${name} ${thousands(Math.round(done.median))} of ${thousands(asked)}`)
    return `With ${processes(level)} ${late.length ? `${listed(late)} operations` : 'everybody came to the end'}.`
  })
  return `Who is not through after ${limit} s stops there; what is left is not guessed at. ${words.join(' ')}`
}

/** Answers of the gateway from before the last write. */
function behind (results) {
  const { behind: late, actions } = results[GATEWAY][1]
  const gets = `${thousands(late.count)} of ${thousands(actions.get.count)} gets of one process`
  return `The gateway follows the store's changes: a moment after a write it may still answer what was there before. ${late.count
    ? `${gets} did, at most ${duration(late.longest * 1e3)} after the write.`
    : `None of the ${thousands(actions.get.count)} gets of one process did.`}`
}

function errors (results) {
  const found = Object.entries(results).flatMap(([name, levels]) => Object.entries(levels).flatMap(([level, figures]) =>
    Object.entries(figures.errors).map(([message, count]) => `${name} with ${processes(Number(level))}: ${count === 1 ? 'once' : `${thousands(count)} times`} “${message}”`)))
  return found.length ? `Operations that failed count as misses, in all rounds together: ${found.join('; ')}.` : 'No operation failed in any round.'
}

/** tilecouch's medians beside the others'. */
function meaning (results) {
  const p50 = (name, action, level = 1) => results[name]?.[level]?.actions[action]?.p50.median
  const compared = (action, others) => listed(others.filter(name => p50(name, action)).map(name => `${times(p50(GATEWAY, action) / p50(name, action))} that of ${name}`))
  const rivals = [MEMCACHED, REDIS, CACHE, FILES, COUCH]
  const sets = p50(GATEWAY, 'set') ? ` A set takes ${duration(p50(GATEWAY, 'set'))}: ${compared('set', rivals)}.` : ''
  return `With one process, a get through the gateway takes ${duration(p50(GATEWAY, 'get'))} at the median: ${compared('get', rivals)}.${sets} In process, the gateway's memory answers in ${duration(p50(MEMORY, 'get'))}.`
}

/** A plot for each action and number of processes that anybody came to. @param {any} result */
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
