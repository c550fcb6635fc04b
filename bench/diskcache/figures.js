// Computes the figures of the original's tables from the microseconds of every operation.
import { median, percentiles } from '../measure.js'
import { ACTIONS } from './operations.js'

const RANKS = /** @type {const} */ (['p50', 'p90', 'p99'])

/** Microseconds of reading the clock twice. They are part of every figure. */
export function clockCost () {
  const times = Array.from({ length: 20_000 }, () => {
    const start = performance.now()
    return (performance.now() - start) * 1000
  })
  return round(median(times))
}

/** @param {import('./workers.js').Done[]} outcomes */
export function roundOf (outcomes, warmup) {
  const byAction = Object.fromEntries(ACTIONS.map(action => [action, { times: /** @type {number[]} */ ([]), miss: 0 }]))
  for (const { timings } of outcomes) {
    for (let index = 0; index < timings.length; index += 2) {
      const entry = byAction[ACTIONS[timings[index] >> 1]]
      entry.times.push(timings[index + 1])
      entry.miss += timings[index] & 1
    }
  }
  return {
    done: outcomes.reduce((sum, { done }) => sum + done - warmup, 0),
    seconds: Math.max(...outcomes.map(({ ms }) => ms)) / 1000,
    actions: Object.fromEntries(ACTIONS.filter(action => byAction[action].times.length).map(action => {
      const { times, miss } = byAction[action]
      return [action, { ...percentiles(times, 2), miss, total: times.reduce((sum, time) => sum + time, 0) / 1e6 }]
    })),
    behind: outcomes.reduce((sum, { behind }) => sum + behind, 0),
    longest: Math.max(...outcomes.map(({ longest }) => longest)),
    errors: errorsOf(outcomes)
  }
}

/**
 * The medians of the rounds with the lowest and the highest value, the longest of all rounds, and the counts of the
 * median round.
 * @param {any[]} rounds @param {number} planned planned operations, without the warm-up
 */
export function summarise (rounds, planned) {
  const spread =
    values => ({ median: round(median(values)), min: round(Math.min(...values)), max: round(Math.max(...values)) })
  // a round that was cut short may have no deletes
  const valuesOf = (action, figure) => rounds.flatMap(({ actions }) => actions[action]?.[figure] ?? [])
  return {
    asked: planned,
    done: spread(rounds.map(({ done }) => done)),
    seconds: spread(rounds.map(({ seconds }) => seconds)),
    rate: spread(rounds.map(({ done, seconds }) => done / seconds)),
    actions: Object.fromEntries(ACTIONS.filter(action => valuesOf(action, 'count').length).map(action => [action, {
      count: Math.round(median(valuesOf(action, 'count'))),
      miss: Math.round(median(valuesOf(action, 'miss'))),
      ...Object.fromEntries(RANKS.map(rank => [rank, spread(valuesOf(action, rank))])),
      max: round(Math.max(...valuesOf(action, 'max'))),
      total: round(median(valuesOf(action, 'total')))
    }])),
    behind: { count: Math.round(median(rounds.map(({ behind }) => behind))), longest: round(
      Math.max(...rounds.map(({ longest }) => longest))
    ) },
    errors: errorsOf(rounds)
  }
}

/** Counts by error message, summed over all parts. */
function errorsOf (parts) {
  const sums = {}
  for (const { errors } of parts) for (const [message, count] of Object.entries(errors)) {
    sums[message] = (sums[message] ?? 0) + count
  }
  return sums
}

/** Rounds to the significant digits. */
const round = number => Number(number.toPrecision(number >= 1000 ? 6 : 4))
