// Processes that begin together and work at the same time, each with its own connection.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { end } from '../wait.js'

const GRACE = 120_000 // milliseconds beside their time limit: to start, to warm up, to end a last operation

/** @typedef {import('./worker.js').Task} Task */
/** @typedef {import('./worker.js').Outcome & {timings: Float64Array}} Done */

/**
 * @param {[string, string[]]} command file and arguments
 * @param {Task[]} tasks one a process
 * @returns {Promise<Done[]>}
 */
export async function runWorkers ([file, args], tasks, { signal }) {
  const late = AbortSignal.timeout(GRACE + tasks[0].limit)
  const stop = AbortSignal.any([signal, late])
  const workers = tasks.map(() => begin(file, args))
  const kill = () => { for (const { child } of workers) child.kill('SIGKILL') }
  stop.addEventListener('abort', kill)
  try {
    for (const [at, { send }] of workers.entries()) send(JSON.stringify(tasks[at]))
    // one after the other: the first one writes what exists before
    for (const { receive } of workers) if (await receive() !== 'ready') throw new Error(`${file} is not ready`)
    for (const { send } of workers) send('go')
    return await Promise.all(workers.map(async ({ receive }, at) =>
      ({ ...JSON.parse(await receive()), timings: await readTimings(tasks[at].timings) })))
  } catch (error) {
    signal.throwIfAborted()
    throw late.aborted ? new Error(`${file} took longer than ${(GRACE + tasks[0].limit) / 1000} s`, { cause: error })
      : error
  } finally {
    stop.removeEventListener('abort', kill)
    await Promise.all(workers.map(({ child }) => end(child, 'SIGKILL')))
  }
}

function begin (file, args) {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, NODE_ENV: 'production' } })
  let output = ''
  child.stderr.on('data', data => { output = (output + data).slice(-3000) })
  child.stdin.on('error', () => {}) // it has ended: `receive` reports that
  const failed = new Promise((_, reject) => { child.once('error', reject) })
  failed.catch(() => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const receive = async () => {
    const { value, done } = await Promise.race([lines.next(), failed])
    if (done) throw new Error(`${file} ended: ${output.trim() || 'no output'}`)
    return value
  }
  return { child, receive, send: line => child.stdin.write(`${line}\n`) }
}

async function readTimings (file) {
  const bytes = await readFile(file)
  return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}
