// The tables and plots of the results of bench/keyspace.js, for docs/benchmarks/keyspace.md.
import { plural } from '../../loader/cli/output.js'
import { lines, spans } from '../plots/charts.js'
import { machineLine, programList, range, rounds as inRounds, thousands } from '../plots/words.js'
import { BATCHES, GATEWAY, SINGLE } from './contenders.js'

const OURS = [SINGLE, BATCHES, GATEWAY]
const DONE = { writes: 'Values written', reads: 'Values read', mixes: 'Values written and read' }
const threads = level => plural(level, 'thread')

/** @param {any} result bench/results/keyspace.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { keys, bytes, levels, rounds, seconds, counts, mix, results } = result
  const shownLevels = [...new Set([levels[0], largestLevel(result)])]
  const rows = Object.entries(results).flatMap(([kind, contenders]) =>
    Object.entries(contenders).map(([name, figures]) => [
      `${name}, ${kind}`,
      ...shownLevels.map(level => range(figures[level].rate))
    ])
  )
  return {
    keyspaceMachine:
      `${machineLine(result)}; ${thousands(keys)} values of ${thousands(bytes)} bytes to begin with; ` +
      `${inRounds(rounds)}, ` +
      `in each of them and for each number of threads ${thousands(counts.writes)} new values, ${seconds} s of reads, ` +
      `and ${thousands(counts.mixes / mix.writes)} times ${mix.writes} writes and ${mix.reads} reads.`,
    keyspaceRates: table(['values a second: median (lowest–highest)', ...shownLevels.map(threads)], rows),
    keyspacePrograms: programList(result)
  }
}

const largestLevel = ({ levels }) => levels[levels.length - 1]

/** Each kind of call of each contender: writes and reads alone, and within a mix. */
const callsOf = ({ results, levels }) => Object.entries(results).flatMap(([kind, contenders]) =>
  Object.entries(contenders).flatMap(([name, figures]) => ['write', 'read'].filter(what => figures[levels[0]].ms[what])
    .map(what => (
      { name: `${name}, ${what}${kind === 'mixes' ? ' of a mix' : ''}`, figures, what, kind, ours: OURS.includes(name) }
    ))))

export function plots (result) {
  const { levels, results } = result
  const rates = kind => lines({
    title: `${DONE[kind]} a second by the number of threads`, x: { title: 'threads' },
    y: { title: 'values a second, median, lowest and highest run', log: true },
    rows: Object.entries(results[kind])
      .flatMap(([series, figures]) => levels.map(
        x => ({ series, x, y: figures[x].rate.median, low: figures[x].rate.min, high: figures[x].rate.max })
      ))
  })
  return {
    'keyspace-writes': rates('writes'),
    'keyspace-reads': rates('reads'),
    'keyspace-mixes': rates('mixes'),
    'keyspace-latencies': spans({
      title: `How long a call takes, ${threads(largestLevel(result))}`, unit: 'milliseconds',
      rows: callsOf(result).filter(({ kind }) => kind !== 'mixes')
        .map(({ name, figures, what, ours }) => ({ name, ...figures[largestLevel(result)].ms[what], ours }))
    })
  }
}
