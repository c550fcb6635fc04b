// Runs worker processes that start together and work at the same time, each with its own connection.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { end } from '../wait.js'

const GRACE = 120_000 // milliseconds beyond their time limit: to start, to warm up, to finish a last operation

/** @typedef {import('./worker.js').Task} Task */
/** @typedef {import('./worker.js').Outcome & {timings: Float64Array}} Done */

/**
 * @param {[string, string[]]} command file and arguments
 * @param {Task[]} tasks one per process
 * @returns {Promise<Done[]>}
 */
export async function runWorkers ([file, args], tasks, { signal }) {
  const timeout = AbortSignal.timeout(GRACE + tasks[0].limit)
  const stopSignal = AbortSignal.any([signal, timeout])
  const workers = tasks.map(() => startWorker(file, args))
  const kill = () => { for (const { child } of workers) child.kill('SIGKILL') }
  stopSignal.addEventListener('abort', kill)
  try {
    for (const [index, { send }] of workers.entries()) send(JSON.stringify(tasks[index]))
    // In turns: the first worker fills the cache.
    for (const { receive } of workers) if (await receive() !== 'ready') throw new Error(`${file} is not ready`)
    for (const { send } of workers) send('go')
    return await Promise.all(workers.map(async ({ receive }, index) =>
      ({ ...JSON.parse(await receive()), timings: await readTimings(tasks[index].timings) })))
  } catch (error) {
    signal.throwIfAborted()
    throw timeout.aborted ? new Error(`${file} took longer than ${(GRACE + tasks[0].limit) / 1000} s`, { cause: error })
      : error
  } finally {
    stopSignal.removeEventListener('abort', kill)
    await Promise.all(workers.map(({ child }) => end(child, 'SIGKILL')))
  }
}

function startWorker (file, args) {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, NODE_ENV: 'production' } })
  let output = ''
  child.stderr.on('data', data => { output = (output + data).slice(-3000) })
  child.stdin.on('error', () => {}) // the process has ended: `receive` reports it
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
