// Measures a cache under gets, sets and deletes by one process and by eight: the benchmark of python-diskcache,
// extended by tilecouch and CouchDB. It reports percentiles of each operation, never averages.
import path from 'node:path'
import { prepare } from './diskcache/contenders.js'
import { clockCost, roundOf, summarise } from './diskcache/figures.js'
import { runWorkers } from './diskcache/workers.js'
import { KEYS, SHARES, checkSamples, writeOperations } from './diskcache/operations.js'
import { GATEWAY, processes } from './diskcache/names.js'
import { turns } from './measure.js'
import { stoppable, temporaryFolder } from './stoppable.js'

const LEVELS = [1, 8] // processes

export async function run ({ server, quick, log }) {
  // operations: of each process; warmup: operations at the start that do not count; limit: seconds after which a
  // process stops, finished or not
  const scale = quick
    ? { operations: 5000, warmup: 200, rounds: 2, limit: 2 }
    : { operations: 100_000, warmup: 1000, rounds: 3, limit: 15 }
  return stoppable(log, async ({ signal, closing }) => {
    const dir = await temporaryFolder('diskcache', closing)
    log(
      `${scale.operations} operations a process on ${KEYS} keys, ${scale.warmup} to warm up, ${scale.limit} s at most`
    )
    const work = await writeOperations(dir, { processes: Math.max(...LEVELS), count: scale.operations, signal })
    const { contenders, programs, missing } = await prepare({ server, dir, signal, closing, log })
    const results = await measureLevels(contenders, { ...scale, dir, work, signal, log })
    return {
      ...scale, processes: LEVELS, keys: KEYS, shares: SHARES, bytes: work.bytes,
      clock: clockCost(), programs, missing, results, budgets: []
    }
  })
}

/**
 * Measures every contender once in each round, for each number of processes. Each round begins with another contender.
 * @param {import('./diskcache/contenders.js').Contender[]} contenders
 * @param {any} options
 * @returns {Promise<Record<string, Record<string, ReturnType<typeof summarise>>>>} name -> processes -> figures
 */
export async function measureLevels (contenders, options) {
  const { levels = LEVELS, rounds, log } = options
  const results = Object.fromEntries(contenders.map(({ name }) => [name, {}]))
  for (const level of levels) {
    log(`\n${processes(level)}`)
    for (const { contender, round } of turns(contenders, rounds)) {
      const figures = await sample(contender, level, options);
      (results[contender.name][level] ??= []).push(figures)
      log(`  round ${round + 1}  ${contender.name.padEnd(32)} ${describe(figures)}`)
    }
    for (const figures of Object.values(results)) {
      figures[level] = summarise(figures[level], level * (options.operations - options.warmup))
    }
  }
  return results
}

/** One sample: one contender in one round, with an empty cache. */
async function sample ({ name, kind, command, open, apart = false }, level, { warmup, limit, dir, work, signal }) {
  const closing = []
  try {
    const connection = await open(closing)
    const isAlone = apart || level === 1
    const outcomes = await runWorkers(command, Array.from({ length: level }, (_, slot) => ({
      kind,
      where: { ...connection, slot, slots: level },
      operations: work.files[slot],
      ...((apart || slot === 0) && { preset: work.preset }),
      warmup, limit: limit * 1000, alone: isAlone, timings: path.join(dir, `timings-${slot}`)
    })), { signal })
    checkSamples(name, outcomes.flatMap(({ samples }) => samples), work.known)
    const figures = roundOf(outcomes, warmup)
    // The gateway sees a write a moment after the store. All other contenders must not answer old values.
    if (figures.behind && name !== GATEWAY) {
      throw new Error(`${name}: ${figures.behind} gets did not answer what was set last`)
    }
    return figures
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

const describe = ({ done, seconds, actions, errors }) => {
  const errorCounts = Object.entries(errors)
  return `${done.toString().padStart(7)} in ${seconds.toFixed(1).padStart(5)} s  ` +
    Object.entries(actions).map(([action, { p50, p99 }]) => `${action} ${p50}/${p99}`).join('  ') + ' µs p50/p99' +
    errorCounts.map(([message, count]) => `\n      ${count} x ${message}`).join('')
}
