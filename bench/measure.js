// Statistics of benchmarks, and interleaved repetitions: A B C B C A, so that a machine that slows down slows all
// contenders.

export const median = values => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

export const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length

/** The standard deviation of a sample, or 0 for a single value. */
export function deviation (values) {
  const middle = mean(values)
  return values.length > 1
    ? Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1)) : 0
}

/**
 * The order of contenders: each takes part once in a round, and each round begins with another one.
 * @template T
 * @param {T[]} contenders
 * @param {number} rounds
 * @returns {Generator<{round: number, contender: T}>}
 */
export function * turns (contenders, rounds) {
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      yield { round, contender: contenders[(turn + round) % contenders.length] }
    }
  }
}

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {() => Promise<any>} [before] not measured
 * @property {(prepared: any) => Promise<number>} run returns the number of documents that it stored or read
 * @property {(prepared: any) => Promise<void>} [after] not measured
 */

/**
 * @param {Contender[]} contenders
 * @param {number} rounds
 * @param {(text: string) => void} log
 * @param {AbortSignal} [signal]
 * @returns {Promise<Record<string, {rates: number[], median: number, min: number, max: number}>>} documents a second
 */
export async function interleave (contenders, rounds, log, signal) {
  const results = /** @type {Record<string, {rates: number[], median: number, min: number, max: number}>} */ ({})
  for (const { round, contender: { name, before, run, after } } of turns(contenders, rounds)) {
    signal?.throwIfAborted()
    const prepared = await before?.()
    const start = performance.now()
    const count = await run(prepared)
    const rate = count / (performance.now() - start) * 1000
    await after?.(prepared)
    const entry = results[name] ??= { rates: [], median: 0, min: 0, max: 0 }
    entry.rates.push(Math.round(rate))
    log(`  round ${round + 1}  ${name.padEnd(44)} ${Math.round(rate).toString().padStart(6)}/s`)
  }
  for (const entry of Object.values(results)) {
    Object.assign(entry,
      { median: Math.round(median(entry.rates)), min: Math.min(...entry.rates), max: Math.max(...entry.rates) })
  }
  return results
}

/** A budget of DESIGN.md 7 as a row. */
export const budget = (what, target, figure, unit = '') => ({
  what, target: `>= ${target}${unit}`, figure: `${figure.toFixed(2)}${unit}`, met: figure >= target
})

/** Percentiles by nearest rank: each is a value that was measured. @param {number} [digits] behind the point */
export function percentiles (values, digits = 1) {
  const sorted = [...values].sort((a, b) => a - b)
  const rank = percent =>
    Math.round(sorted[Math.max(0, Math.ceil(percent / 100 * sorted.length) - 1)] * 10 ** digits) / 10 ** digits
  return { count: sorted.length, p50: rank(50), p90: rank(90), p99: rank(99), max: rank(100) }
}

/**
 * Measures latencies. Every contender takes part once in a round, and each round begins with another one.
 * @param {{name: string, run: (round: number) => Promise<Record<string, number> | void>, every?: number}[]} contenders
 *   run: may return figures, which are collected with the milliseconds; every: takes part in every n-th round
 * @returns {Promise<Record<string, {ms: ReturnType<typeof percentiles>, [figure: string]: ReturnType<typeof
 *   percentiles>}>>}
 */
export async function interleaveLatencies (contenders, rounds, signal) {
  const values = Object.fromEntries(contenders.map(({ name }) => [name, {}]))
  for (const { round, contender: { name, run, every = 1 } } of turns(contenders, rounds)) {
    if (round % every) continue
    signal?.throwIfAborted()
    const start = performance.now()
    const figures = await run(round)
    const ms = performance.now() - start
    for (const [figure, value] of Object.entries({ ms, ...figures })) (values[name][figure] ??= []).push(value)
  }
  return /** @type {any} */ (Object.fromEntries(Object.entries(values).map(([name, figures]) => [
    name, Object.fromEntries(Object.entries(figures).map(([figure, numbers]) => [figure, percentiles(numbers)]))
  ])))
}
