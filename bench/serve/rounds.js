// Measures rounds. At each number of connections, every contender takes part once in a round, and each round begins
// with another one.
import { plural } from '../../loader/cli/output.js'
import { budget, median, turns } from '../measure.js'
import { COLD, COUCH, FILES, HOT, HOT_TWO, NODE } from './names.js'

export const AT = 32 // connections of the budgets
const CROWD = 100 // connections of a second budget for cold tiles

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {(options: {connections: number, seconds: number, signal?: AbortSignal}) =>
 *   Promise<import('../programs/wrk.js').Sample>} run throws if an answer was wrong
 *
 * @typedef {Record<string, Record<string, any>>} Results name -> connections -> figures
 */

/**
 * `levels`: numbers of connections; `seconds`: of a sample; `warm`: seconds before the first round of a level.
 * @returns {Promise<Results>}
 */
export async function measureRounds (contenders, { levels, rounds, seconds, warm, signal, log }) {
  const samples = Object.fromEntries(contenders.map(({ name }) => [name, {}]))
  for (const connections of levels) {
    log(`\n${plural(connections, 'connection')}`)
    if (warm) for (const { run } of contenders) await run({ connections, seconds: warm, signal })
    for (const { round, contender: { name, run } } of turns(contenders, rounds)) {
      const sample = await run({ connections, seconds, signal });
      (samples[name][connections] ??= []).push(sample)
      log(
        `  round ${round + 1}  ${name.padEnd(72)} ` +
          (`${Math.round(sample.requests / sample.seconds).toString().padStart(6)}/s  p50 ` +
            `${sample.ms.p50.toFixed(1).padStart(6)}  p99 ${sample.ms.p99.toFixed(1).padStart(6)} ms`)
      )
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([name, levelled]) => [
    name, Object.fromEntries(Object.entries(levelled).map(([connections, list]) => [connections, summarise(list)]))
  ]))
}

/** @param {any[]} samples of wrk or ab */
export function summarise (samples) {
  const rates = samples.map(({ requests, seconds }) => Math.round(requests / seconds))
  const ranks =
    Object.fromEntries(Object.keys(samples[0].ms).map(rank => [rank, round(median(samples.map(({ ms }) => ms[rank])))]))
  return {
    rates,
    rate: { median: Math.round(median(rates)), min: Math.min(...rates), max: Math.max(...rates) },
    ms: { ...ranks, max: round(Math.max(...samples.map(({ ms }) => ms.max))) }
  }
}

const round = ms => Math.round(ms * 100) / 100

/** The ratio of two contenders, round by round, so that the machine's drift cancels out. */
export const ratio = (a, b) => median(a.rates.map((rate, index) => rate / b.rates[index]))

/**
 * The budgets of DESIGN.md 7. More concurrent misses share more reads, so cold tiles have a second budget with many
 * connections. nginx and CouchDB use every core, so the gateway has budgets with one process and with one process per
 * core.
 * @param {Results} results
 */
export function budgetsOf (results, levels = [AT, CROWD]) {
  const figuresAt = (name, level) => results[name]?.[level]
  // the quicker of the two Node clients
  const clientAt = level => Object.values(NODE).filter(name => figuresAt(name, level))
    .sort((a, b) => figuresAt(b, level).rate.median - figuresAt(a, level).rate.median)[0] ?? 'one Node client'
  const cold = level => [`cold tile through the gateway / ${clientAt(level)}, ${level} connections`,
    1.5, COLD, clientAt(level), level]
  return [
    cold(AT), cold(CROWD),
    ['hot tile through the gateway, one process / CouchDB', 15, HOT, COUCH, AT],
    ['hot tile through the gateway, two processes / nginx serving files, two processes', 0.75, HOT_TWO, FILES, AT]
  ].filter(([,,,, level]) => levels.includes(/** @type {number} */ (level)))
    .map(([what, target, name, other, level]) => figuresAt(name, level) && figuresAt(other, level)
    ? budget(what, target, ratio(figuresAt(name, level), figuresAt(other, level)), 'x')
    : { what, target: `>= ${target}x`, figure: 'not measured', met: false })
}
