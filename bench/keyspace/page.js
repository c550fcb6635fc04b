// What bench/keyspace.js measured, for docs/benchmarks/keyspace.md.
import { plural } from '../../loader/cli/output.js'
import { groupedBars, lines, spans } from '../plots/charts.js'
import { brief, machineLine, megabytes, ms, programRows, range, rounds as inRounds, thousands } from '../plots/words.js'
import { ATTACHMENT, BATCHES, GATEWAY, SINGLE } from './contenders.js'

const OURS = [SINGLE, BATCHES, GATEWAY]
const DONE = { writes: 'Values written', reads: 'Values read', mixes: 'Values written and read' }
const threads = level => plural(level, 'thread')
const RANKS = ['p50', 'p90', 'p99', 'max']

/** @param {any} result bench/results/keyspace.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { keys, bytes, levels, rounds, seconds, counts, mix, results } = result
  const rates = kind => table(['values a second: median (lowest–highest)', ...levels.map(threads)],
    Object.entries(results[kind]).map(([name, figures]) => [name, ...levels.map(level => range(figures[level].rate))]))
  return {
    keyspaceMachine: `${machineLine(result)}; ${thousands(keys)} values of ${thousands(bytes)} bytes to begin with; ${inRounds(rounds)}, in each of them and for each number of threads ${thousands(counts.writes)} new values, ${seconds} s of reads, and ${thousands(counts.mixes / mix.writes)} times ${mix.writes} writes and ${mix.reads} reads.`,
    keyspaceWrites: rates('writes'),
    keyspaceReads: rates('reads'),
    keyspaceMixes: rates('mixes'),
    keyspaceLatencies: table([`milliseconds of a call, p50 / p90 / p99 / max`, ...levels.map(threads)], callsOf(result).map(({ name, figures, what }) => [
      name, ...levels.map(level => figures[level].ms[what] ? RANKS.map(rank => ms(figures[level].ms[what][rank])).join(' / ') : '')
    ])),
    keyspaceCpu: table(['microseconds of processor time a value', 'server', 'load generator', 'server, of all cores', 'load generator, of all cores'], busyOf(result).map(({ name, cpu }) => [
      name, inWords(cpu.servers), inWords(cpu.generator), inWords(cpu.serversShare, ' %'), inWords(cpu.generatorShare, ' %')
    ])),
    keyspaceLimit: limitOf(result),
    keyspaceMemory: table(['at the end', 'values', 'their bytes', 'resident', 'resident at the beginning', 'what it says itself', 'on the disk'], result.memory.after.map(({ name, values, rss, says, disk }) => [
      name, thousands(values), megabytes(values * bytes), memory(rss), memory(result.memory.before.find(other => other.name === name).rss), megabytes(says), disk ? megabytes(disk) : ''
    ])),
    keyspaceErrors: errorsOf(result),
    keyspaceMeaning: meaningOf(result),
    keyspacePrograms: table(['server', 'version', 'settings'], programRows(result))
  }
}

const inWords = (value, unit = '') => value === null ? 'not to be seen' : `${thousands(value)}${unit}`
const memory = rss => rss === null ? 'not to be seen' : megabytes(rss)
const most = ({ levels }) => levels[levels.length - 1]
const times = (a, b) => `${brief(a / b)} times`

/** Each kind of call of each contender: the writes and reads apart, and within a mix. */
const callsOf = ({ results, levels }) => Object.entries(results).flatMap(([kind, contenders]) =>
  Object.entries(contenders).flatMap(([name, figures]) => ['write', 'read'].filter(what => figures[levels[0]].ms[what])
    .map(what => ({ name: `${name}, ${what}${kind === 'mixes' ? ' of a mix' : ''}`, figures, what, kind, ours: OURS.includes(name) }))))

/** At the most threads, writes and reads alone. */
const busyOf = result => ['writes', 'reads'].flatMap(kind => Object.entries(result.results[kind])
  .map(([name, figures]) => ({ name: `${name}, ${kind}`, cpu: figures[most(result)].cpu })))

/** Whose figure is that of the load generator. */
function limitOf (result) {
  const limited = busyOf(result).filter(({ cpu }) => cpu.servers !== null && cpu.generator > cpu.servers)
  return limited.length
    ? `With ${threads(most(result))} the load generator took more of the processors than the server that it asked in: ${limited.map(({ name, cpu }) => `${name} (${thousands(cpu.generator)} to ${thousands(cpu.servers)} µs a value)`).join('; ')}. There the rate is that of the client, and says what a Node program gets from the server, not what the server could do.`
    : `With ${threads(most(result))} no server took less of the processors than the load generator that asked it.`
}

function errorsOf ({ results, patience, memory: { after } }) {
  const all = Object.entries(results).flatMap(([kind, contenders]) => Object.entries(contenders).map(([name, figures]) => {
    const sum = field => Object.values(figures).reduce((total, level) => total + level[field], 0)
    return { name: `${name}, ${kind}`, calls: sum('requests'), errors: sum('errors'), misses: sum('misses'), cut: sum('cut') }
  }))
  const [bad, cut, full] = [all.filter(({ errors, misses }) => errors || misses), all.filter(entry => entry.cut), after.filter(({ evictions }) => evictions)]
  const calls = all.reduce((sum, entry) => sum + entry.calls, 0)
  return [
    `Of ${thousands(calls)} values that were written or read, ${bad.length ? bad.map(({ name, errors, misses }) => `${name}: ${thousands(errors)} calls failed and ${thousands(misses)} values were missing`).join('; ') : 'none failed and none was missing'}.`,
    full.length ? `To make room, ${full.map(({ name, evictions }) => `${name} threw out ${thousands(evictions)} values`).join('; ')}.` : 'Nothing was thrown out to make room.',
    ...(cut.length ? [`After ${patience} s a run ends although it is not through, so that its proportions are others: ${cut.map(entry => `${entry.name}, ${inRounds(entry.cut)}`).join('; ')}.`] : [])
  ].join(' ')
}

function meaningOf (result) {
  const at = (kind, name) => result.results[kind][name]?.[most(result)].rate.median
  const [reads, writes] = [name => at('reads', name), name => at('writes', name)]
  const caches = ['memcached', 'Redis'].filter(name => reads(name))
  return [
    `With ${threads(most(result))}, the gateway answered ${thousands(reads(GATEWAY))} reads a second, ${times(reads(GATEWAY), reads(SINGLE))} as many as CouchDB through the store and ${times(reads(GATEWAY), reads(ATTACHMENT))} as many as plain GETs of attachments.`,
    ...caches.map(name => `${name} answered ${times(reads(name), reads(GATEWAY))} as many reads as the gateway, and stored ${times(writes(name), writes(SINGLE))} as many values as CouchDB tile by tile and ${times(writes(name), writes(BATCHES))} as many as CouchDB in batches.`)
  ].join(' ')
}

export function plots (result) {
  const { levels, results, memory: { after } } = result
  const rates = kind => lines({
    title: `${DONE[kind]} a second by the number of threads`, x: { title: 'threads' }, y: { title: 'values a second, median, lowest and highest run', log: true },
    rows: Object.entries(results[kind]).flatMap(([series, figures]) => levels.map(x => ({ series, x, y: figures[x].rate.median, low: figures[x].rate.min, high: figures[x].rate.max })))
  })
  return {
    'keyspace-writes': rates('writes'),
    'keyspace-reads': rates('reads'),
    'keyspace-mixes': rates('mixes'),
    'keyspace-latencies': spans({
      title: `How long a call takes, ${threads(most(result))}`, unit: 'milliseconds',
      rows: callsOf(result).filter(({ kind }) => kind !== 'mixes').map(({ name, figures, what, ours }) => ({ name, ...figures[most(result)].ms[what], ours }))
    }),
    'keyspace-cpu': groupedBars({
      title: `Processor time a value, ${threads(most(result))}`, unit: 'microseconds', log: true,
      rows: busyOf(result).flatMap(({ name, cpu }) => [{ group: name, name: 'server', value: cpu.servers }, { group: name, name: 'load generator', value: cpu.generator }]).filter(({ value }) => value)
    }),
    'keyspace-memory': groupedBars({
      title: 'Memory at the end', unit: 'MB',
      rows: after.flatMap(({ name, rss, says, values }) => [
        { group: name, name: 'resident', value: rss }, { group: name, name: 'what it says itself', value: says }, { group: name, name: 'bytes of its values', value: values * result.bytes }
      ]).filter(({ value }) => value).map(row => ({ ...row, value: Math.round(row.value / 1e6) }))
    })
  }
}
