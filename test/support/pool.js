// Runs test files in worker processes (worker.js). A worker runs one file after the other, so that modules are loaded
// and stores are started once. A free worker takes the next file.
import { fork } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('worker.js', import.meta.url))
const MAX_TIME = 15 * 60000 // milliseconds for one file
// bytes of a process: files leave data behind that slow it down, so a larger process is replaced before the next file
const MAX_MEMORY = 600e6

/**
 * @typedef {object} FileResult
 * @property {string} file
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {string[]} reasons why tests were skipped
 * @property {string} output what the file printed
 * @property {number} memory bytes of its process
 * @property {number} ms
 */

/**
 * @param {string[][]} lists files; files of different lists never share a process
 * @param {object} options
 * @param {number} options.jobs processes at a time
 * @param {NodeJS.ProcessEnv} options.env
 * @param {(result: FileResult, progress: {done: number, files: number, left: number}) => void} options.onFile left:
 *   milliseconds, estimated
 * @returns {Promise<string[]>} messages about workers that failed to end
 */
export async function runFiles (lists, { jobs, env, onFile }) {
  const files = lists.flat()
  const sizes = new Map(files.map(file => [file, statSync(file).size]))
  const began = performance.now()
  const faults = []
  let [done, size] = [0, 0]

  function report (result) {
    done++
    size += sizes.get(result.file)
    // the size of a file is a good enough estimate of its time
    const left = (performance.now() - began) / size * ([...sizes.values()].reduce((a, b) => a + b) - size)
    onFile(result, { done, files: files.length, left })
  }

  const queues = lists.map(list => [...list])
  await Promise.all(Array.from({ length: jobs }, async (_, index) => {
    // each process begins with a different list
    for (const list of [...queues.slice(index % queues.length), ...queues.slice(0, index % queues.length)]) {
      let worker
      for (let file = list.shift(); file; file = list.shift()) {
        worker ??= startWorker(env)
        const result = await worker.run(file)
        report(result)
        if (worker.hasEnded()) worker = undefined
        else if (result.memory > MAX_MEMORY) {
          faults.push(...await worker.end())
          worker = undefined
        }
      }
      if (worker) faults.push(...await worker.end())
    }
  }))
  return faults
}

/** @param {NodeJS.ProcessEnv} env */
function startWorker (env) {
  const child = fork(script, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const ended = new Promise(resolve => { child.once('close', (code, signal) => resolve(signal ?? code)) })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => { output += text })

  return {
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,

    /** @param {string} file @returns {Promise<FileResult>} */
    async run (file) {
      output = ''
      const began = performance.now()
      const tooLong = setTimeout(() => child.kill('SIGKILL'), MAX_TIME)
      const answer = new Promise(resolve => { child.once('message', resolve) })
      child.send(file, () => {}) // an error means that the process has ended, which is reported below
      const result =
        await Promise.race([answer, ended.then(code => ({ failed: 1, fault: `its process ended with ${code}` }))])
      clearTimeout(tooLong)
      await new Promise(setImmediate) // the last output may arrive after the message
      const { passed = 0, failed, skipped = 0, reasons = [], memory = 0, fault = '' } = result
      return { file, passed, failed, skipped, reasons, memory, output: output + fault, ms: performance.now() - began }
    },

    /** @returns {Promise<string[]>} a message if the process failed to end */
    async end () {
      output = ''
      if (child.connected) child.send('end')
      const code = await ended
      return code === 0 ? [] : [`a process of the tests ended with ${code}\n${output}`]
    }
  }
}
