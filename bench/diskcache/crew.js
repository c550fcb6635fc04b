// So many processes that begin together and work beside each other: each a child with a connection of its own.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { end } from '../wait.js'

const PATIENCE = 120_000 // milliseconds that they may take besides what they are given: to start, to warm up, to end a last operation

/** @typedef {import('./worker.js').Task} Task */
/** @typedef {import('./worker.js').Outcome & {timings: Float64Array}} Done */

/**
 * @param {[string, string[]]} command file and arguments
 * @param {Task[]} tasks one a process
 * @param {{signal: AbortSignal}} options
 * @returns {Promise<Done[]>}
 */
export async function runCrew ([file, args], tasks, { signal }) {
  const late = AbortSignal.timeout(PATIENCE + tasks[0].limit)
  const stop = AbortSignal.any([signal, late])
  const workers = tasks.map(() => begin(file, args))
  const kill = () => { for (const { child } of workers) child.kill('SIGKILL') }
  stop.addEventListener('abort', kill)
  try {
    for (const [at, { say }] of workers.entries()) say(JSON.stringify(tasks[at]))
    // one after the other: what is there before is written by the first
    for (const { hear } of workers) if (await hear() !== 'ready') throw new Error(`${file} did not say that it is ready`)
    for (const { say } of workers) say('go')
    return await Promise.all(workers.map(async ({ hear }, at) => ({
      ...JSON.parse(await hear()), timings: await readTimings(tasks[at].timings)
    })))
  } catch (error) {
    signal.throwIfAborted()
    throw late.aborted ? new Error(`${file} took longer than ${(PATIENCE + tasks[0].limit) / 1000} s`, { cause: error }) : error
  } finally {
    stop.removeEventListener('abort', kill)
    await Promise.all(workers.map(({ child }) => end(child, 'SIGKILL')))
  }
}

function begin (file, args) {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, NODE_ENV: 'production' } })
  let words = ''
  child.stderr.on('data', data => { words = (words + data).slice(-3000) })
  child.stdin.on('error', () => {}) // it has ended; that is told where its words are waited for
  const failed = new Promise((_, reject) => { child.once('error', reject) })
  failed.catch(() => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const hear = async () => {
    const { value, done } = await Promise.race([lines.next(), failed])
    if (done) throw new Error(`${file} ended: ${words.trim() || 'without a word'}`)
    return value
  }
  return { child, hear, say: line => child.stdin.write(`${line}\n`) }
}

async function readTimings (file) {
  const bytes = await readFile(file)
  return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}
