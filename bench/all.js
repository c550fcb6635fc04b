// Runs several benchmarks one after the other, each in its own process with its own CouchDB. No benchmark inherits the
// heap, the open connections or the page cache of the previous one.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The benchmarks of tilecouch alone. */
export const ours =
  ['load', 'command', 'memory', 'history', 'growth', 'serve', 'cold', 'export', 'mirror', 'cluster', 'offline']
/** The benchmarks of tilecouch, and the five repetitions of published benchmarks. The longest come last. */
export const all = [...ours, 'tilecache', 'tilestache', 'diskcache', 'keyspace', 'bulk']

const runner = fileURLToPath(new URL('run.js', import.meta.url))

/** @returns {Promise<{name: string, seconds: number, code: number | null}>} */
async function runOne (name, { quick, out }) {
  const start = performance.now()
  const child =
    spawn(process.execPath, [runner, name, '--out', out, ...(quick ? ['--quick'] : [])], { stdio: 'inherit' })
  // The terminal sends Ctrl-C to the child as well. A signal to this process alone is passed on.
  const terminate = () => { child.kill('SIGTERM') }
  const ignore = () => {} // the child reports it
  process.once('SIGTERM', terminate).on('SIGINT', ignore)
  const code = await new Promise(resolve => { child.once('close', resolve) })
  process.removeListener('SIGTERM', terminate).removeListener('SIGINT', ignore)
  return { name, seconds: Math.round((performance.now() - start) / 1000), code }
}

/** `pages`: write docs/benchmarks from bench/results. @returns {Promise<boolean>} whether every benchmark succeeded */
export async function runSeveral (names, { quick, out, pages, log }) {
  const outcomes = []
  for (const name of names) {
    log(`\n${'='.repeat(8)} ${name}\n`)
    const outcome = await runOne(name, { quick, out })
    outcomes.push(outcome)
    if (outcome.code === 130) break
  }
  if (pages) await (await import('./pages.js')).writePages()
  log(`\n${'='.repeat(8)} all of it\n`)
  for (const { name, seconds, code } of outcomes) {
    const failure = code === 130 ? 'interrupted' : `FAILED with ${code}`
    log(`  ${name.padEnd(12)} ${String(seconds).padStart(5)} s  ${code === 0 ? await missingOf(name, out) : failure}`)
  }
  log(`\n${Math.round(outcomes.reduce((sum, { seconds }) => sum + seconds, 0) / 6) / 10} minutes`)
  return outcomes.length === names.length && outcomes.every(({ code }) => code === 0)
}

async function missingOf (name, out) {
  const { missing = {} } = JSON.parse(await readFile(path.join(out, `${name}.json`), 'utf8'))
  return Object.entries(missing).map(([program, reason]) => `without ${program} (${reason})`).join('; ')
}
