// Interleaved repetitions: A B C A B C, so that a machine that slows down slows all of them.

export const median = values => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {() => Promise<any>} [before] not measured
 * @property {(prepared: any) => Promise<number>} run answers how many documents it stored or looked at
 * @property {(prepared: any) => Promise<void>} [after] not measured
 */

/**
 * @param {Contender[]} contenders
 * @param {number} rounds
 * @param {(text: string) => void} log
 * @returns {Promise<Record<string, {rates: number[], median: number, min: number, max: number}>>} documents a second
 */
export async function interleave (contenders, rounds, log) {
  /** @type {Record<string, {rates: number[], median: number, min: number, max: number}>} */
  const results = {}
  for (let round = 0; round < rounds; round++) {
    for (const { name, before, run, after } of contenders) {
      const prepared = await before?.()
      const start = performance.now()
      const count = await run(prepared)
      const rate = count / (performance.now() - start) * 1000
      await after?.(prepared)
      const entry = results[name] ??= { rates: [], median: 0, min: 0, max: 0 }
      entry.rates.push(Math.round(rate))
      log(`  round ${round + 1}  ${name.padEnd(44)} ${Math.round(rate).toString().padStart(6)}/s`)
    }
  }
  for (const entry of Object.values(results)) {
    Object.assign(entry, { median: Math.round(median(entry.rates)), min: Math.min(...entry.rates), max: Math.max(...entry.rates) })
  }
  return results
}

/** A budget of DESIGN.md 7 as a row. */
export const budget = (what, target, figure, unit = '') => ({
  what, target: `>= ${target}${unit}`, figure: `${figure.toFixed(2)}${unit}`, met: figure >= target
})
