// Several benchmarks one after the other, each in its own process with its own CouchDB: none inherits the heap, the
// open connections or the page cache of the one before.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** What only we measure. */
export const ours =
  ['load', 'command', 'memory', 'history', 'growth', 'serve', 'cold', 'export', 'mirror', 'cluster', 'offline']
/** Ours, and the five write-ups; the longest last. */
export const all = [...ours, 'tilecache', 'tilestache', 'diskcache', 'keyspace', 'bulk']

const runner = fileURLToPath(new URL('run.js', import.meta.url))

/** @returns {Promise<{name: string, seconds: number, code: number | null}>} */
async function runOne (name, { quick, out }) {
  const start = performance.now()
  const child =
    spawn(process.execPath, [runner, name, '--out', out, ...(quick ? ['--quick'] : [])], { stdio: 'inherit' })
  // Ctrl-C reaches it through the terminal; what is sent to this process alone is passed on
  const pass = () => { child.kill('SIGTERM') }
  const ignore = () => {} // the child reports it
  process.once('SIGTERM', pass).on('SIGINT', ignore)
  const code = await new Promise(resolve => { child.once('close', resolve) })
  process.removeListener('SIGTERM', pass).removeListener('SIGINT', ignore)
  return { name, seconds: Math.round((performance.now() - start) / 1000), code }
}

/** `pages`: write docs/benchmarks from bench/results. @returns {Promise<boolean>} whether each of them succeeded */
export async function runSeveral (names, { quick, out, pages, log }) {
  const done = []
  for (const name of names) {
    log(`\n${'='.repeat(8)} ${name}\n`)
    const ended = await runOne(name, { quick, out })
    done.push(ended)
    if (ended.code === 130) break
  }
  if (pages) await (await import('./pages.js')).writePages()
  log(`\n${'='.repeat(8)} all of it\n`)
  for (const { name, seconds, code } of done) {
    log(
      `  ${name.padEnd(12)} ${String(seconds).padStart(5)} s  ` +
        `${code === 0 ? await missingOf(name, out) : code === 130 ? 'interrupted' : `FAILED with ${code}`}`
    )
  }
  log(`\n${Math.round(done.reduce((sum, { seconds }) => sum + seconds, 0) / 6) / 10} minutes`)
  return done.length === names.length && done.every(({ code }) => code === 0)
}

async function missingOf (name, out) {
  const { missing = {} } = JSON.parse(await readFile(path.join(out, `${name}.json`), 'utf8'))
  return Object.entries(missing).map(([who, why]) => `without ${who} (${why})`).join('; ')
}
