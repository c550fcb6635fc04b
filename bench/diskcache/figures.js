// From the microseconds of every operation to the figures of the original's tables.
import { median, percentiles } from '../measure.js'
import { ACTIONS } from './operations.js'

const RANKS = /** @type {const} */ (['p50', 'p90', 'p99'])

/** Microseconds that reading the clock twice takes: part of every figure. */
export function clockCost () {
  const times = Array.from({ length: 20_000 }, () => {
    const start = performance.now()
    return (performance.now() - start) * 1000
  })
  return round(median(times))
}

/** @param {import('./workers.js').Done[]} outcomes */
export function roundOf (outcomes, warmup) {
  const found = Object.fromEntries(ACTIONS.map(action => [action, { times: /** @type {number[]} */ ([]), miss: 0 }]))
  for (const { timings } of outcomes) {
    for (let at = 0; at < timings.length; at += 2) {
      const entry = found[ACTIONS[timings[at] >> 1]]
      entry.times.push(timings[at + 1])
      entry.miss += timings[at] & 1
    }
  }
  return {
    done: outcomes.reduce((sum, { done }) => sum + done - warmup, 0),
    seconds: Math.max(...outcomes.map(({ ms }) => ms)) / 1000,
    actions: Object.fromEntries(ACTIONS.filter(action => found[action].times.length).map(action => {
      const { times, miss } = found[action]
      return [action, { ...percentiles(times, 2), miss, total: times.reduce((sum, time) => sum + time, 0) / 1e6 }]
    })),
    behind: outcomes.reduce((sum, { behind }) => sum + behind, 0),
    longest: Math.max(...outcomes.map(({ longest }) => longest)),
    errors: errorsOf(outcomes)
  }
}

/**
 * Medians of the rounds with the lowest and the highest; the longest of all; the counts of the middle round.
 * @param {any[]} rounds @param {number} asked operations that were to be done, the warm-up not counted
 */
export function summarise (rounds, asked) {
  const spread =
    values => ({ median: round(median(values)), min: round(Math.min(...values)), max: round(Math.max(...values)) })
  // a round that was cut short may have come to no delete at all
  const of = (action, figure) => rounds.flatMap(({ actions }) => actions[action]?.[figure] ?? [])
  return {
    asked,
    done: spread(rounds.map(({ done }) => done)),
    seconds: spread(rounds.map(({ seconds }) => seconds)),
    rate: spread(rounds.map(({ done, seconds }) => done / seconds)),
    actions: Object.fromEntries(ACTIONS.filter(action => of(action, 'count').length).map(action => [action, {
      count: Math.round(median(of(action, 'count'))),
      miss: Math.round(median(of(action, 'miss'))),
      ...Object.fromEntries(RANKS.map(rank => [rank, spread(of(action, rank))])),
      max: round(Math.max(...of(action, 'max'))),
      total: round(median(of(action, 'total')))
    }])),
    behind: { count: Math.round(median(rounds.map(({ behind }) => behind))), longest: round(
      Math.max(...rounds.map(({ longest }) => longest))
    ) },
    errors: errorsOf(rounds)
  }
}

/** Message -> how often, of all. */
function errorsOf (parts) {
  const sums = {}
  for (const { errors } of parts) for (const [message, count] of Object.entries(errors)) {
    sums[message] = (sums[message] ?? 0) + count
  }
  return sums
}

/** Digits that mean something, and no more. */
const round = number => Number(number.toPrecision(number >= 1000 ? 6 : 4))
