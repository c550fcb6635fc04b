// Measures rounds. At each number of threads, every contender takes part once in a round, and each round begins with
// another one.
import { plural } from '../../loader/cli/output.js'
import { percentiles, turns } from '../measure.js'
import { summarise } from '../serve/rounds.js'

/** @typedef {import('./contenders.js').Contender} Contender */

/** `spaces`: the number of the next new value of each space. */
export async function measureKind ({ kind, contenders, generator, spaces, scale, log }) {
  const { keys, levels, rounds, seconds, timeout, counts } = scale
  const count = counts[kind] ?? 0
  const sample = async (contender, threads) => {
    const space = spaces[contender.space]
    const part = { kind, threads, first: space.next, count, batch: contender.batch, keys }
    space.next += count
    return measureOne(contender, () => generator.run(contender, part, kind === 'reads' ? seconds : timeout))
  }
  const participants = contenders.filter(({ kinds }) => kinds.includes(kind))
  // a first sample: every thread connects, and its code is compiled
  for (const contender of participants) await sample(contender, Math.max(...levels))
  const samples = Object.fromEntries(participants.map(({ name }) => [name, {}]))
  for (const threads of levels) {
    log(`\n${kind}, ${plural(threads, 'thread')}`)
    for (const { round, contender } of turns(participants, rounds)) {
      const result = await sample(contender, threads);
      (samples[contender.name][threads] ??= []).push(result)
      log(
        `  round ${round + 1}  ${contender.name.padEnd(24)} ` +
          `${Math.round(result.requests / result.seconds).toString().padStart(6)}/s${wordsOf(result)}`
      )
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([name, byThreads]) => [
    name, Object.fromEntries(Object.entries(byThreads).map(([threads, sampleList]) => [threads, figuresOf(sampleList)]))
  ]))
}

const wordsOf = ({ ms, errors, misses, error, cut }) => [
  ...Object.entries(ms)
    .map(([what, { p50, p99 }]) => `  ${what} p50 ${p50.toFixed(2).padStart(7)}  p99 ${p99.toFixed(2).padStart(7)} ms`),
  errors ? `  ${errors} errors (${error})` : '',
  misses ? `  ${misses} misses` : '',
  cut ? '  the time was up' : ''
].join('')

/** @param {Contender} contender @param {() => Promise<import('./perform.js').Done[]>} run */
async function measureOne ({ name }, run) {
  const parts = await run()
  const sum = field => parts.reduce((total, part) => total + part[field], 0)
  if (sum('wrong')) throw new Error(`${name}: ${sum('wrong')} values were not those that had been written`)
  const times = field => percentiles(parts.flatMap(part => part[field]), 3)
  return {
    requests: sum('writes') + sum('reads'),
    writes: sum('writes'),
    seconds: (Math.max(...parts.map(({ end }) => end)) - Math.min(...parts.map(({ begin }) => begin))) / 1000,
    ms: { ...(sum('writes') && { write: times('writeMs') }), ...(sum('reads') && { read: times('readMs') }) },
    errors: sum('errors'),
    misses: sum('misses'),
    error: parts.find(({ error }) => error)?.error,
    cut: parts.some(({ cut }) => cut)
  }
}

export function figuresOf (samples) {
  const sum = pick => samples.reduce((total, sample) => total + pick(sample), 0)
  const { rates, rate } = summarise(samples.map(sample => ({ ...sample, ms: {} })))
  const times = kind => {
    if (!samples.every(({ ms }) => ms[kind])) return {}
    const { count: _, ...ranks } =
      /** @type {any} */ (summarise(samples.map(sample => ({ ...sample, ms: sample.ms[kind] }))).ms)
    return { [kind]: ranks }
  }
  return {
    requests: sum(({ requests }) => requests), rates, rate, ms: { ...times('write'), ...times('read') },
    errors: sum(({ errors }) => errors),
    misses: sum(({ misses }) => misses),
    cut: sum(({ cut }) => Number(cut))
  }
}
