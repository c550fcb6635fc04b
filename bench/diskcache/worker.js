// One process of the benchmark. It reads its task from standard input, prints "ready" when it is connected, starts
// after "go", and prints its result as a line of JSON. worker.py does the same with DiskCache.
import { hash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { ACTIONS, decoded, keys } from './operations.js'

const SAMPLE = 100 // one answer of so many is compared with all values ever written to its key
const MAX_BEHIND = 1000 // outdated answers whose digests are kept

/** Kind -> client. @type {Record<string, (where: any) => any>} */
const open = {
  memory: async () => (await import('./clients/memory.js')).openMemory(),
  files: async where => (await import('./clients/files.js')).openFiles(where),
  documents: async where => (await import('./clients/documents.js')).openDocuments(where),
  gateway: async where => (await import('./clients/gateway.js')).openGateway(where),
  memcached: async where => (await import('../clients/memcached.js')).openMemcached(where),
  redis: async where => (await import('../clients/redis.js')).openRedis(where)
}

/**
 * @typedef {object} Task
 * @property {string} kind of client
 * @property {any} where it connects to
 * @property {string} operations file
 * @property {string} [preset] file of the operations that fill the cache before "ready"
 * @property {number} warmup operations that do not count
 * @property {number} limit milliseconds after the warm-up; then it stops, finished or not
 * @property {boolean} alone whether no other process writes its keys, so that every answer is known
 * @property {string} timings output file with two numbers per operation, its code and its microseconds
 *
 * @typedef {Awaited<ReturnType<typeof work>>['outcome']} Outcome
 */

/** The code of an operation: its action, and whether it missed. */
export const codeOf = (action, missed) => ACTIONS.indexOf(action) * 2 + (missed ? 1 : 0)

/**
 * @param {any} client whose methods return a value or a promise
 * @param {import('./operations.js').Operation[]} operations
 * @param {Pick<Task, 'warmup' | 'limit' | 'alone'> & {preset?: import('./operations.js').Operation[]}} options
 */
export async function work (client, operations, { warmup, limit, alone, preset = [] }) {
  const timings = new Float64Array(2 * Math.max(0, operations.length - warmup))
  // the expected value of each key
  const expectedValues = new Map(preset.map(({ key, value = null }) => [key, { value, at: 0 }]))
  const outcome = {
    done: 0, // operations, the warm-up included
    ms: 0, // of the operations that count
    behind: 0, // gets that did not return the last value that this process set, if it is alone
    longest: 0, // most milliseconds between the last set and such a get
    errors: /** @type {Record<string, number>} */ ({}), // message -> operations
    samples: /** @type {[string, string][]} */ ([]) // key and digest of answers
  }
  let [timingCount, countingStart, hits] = [0, 0, 0]
  for (const { action, key, value } of operations) {
    const start = performance.now()
    if (outcome.done === warmup) countingStart = start
    else if (outcome.done > warmup && start - countingStart > limit) break
    let answer
    let failure
    try {
      answer = action === 'set' ? client.set(keys[key], value) : client[action](keys[key])
      if (typeof answer?.then === 'function') answer = await answer
    } catch (error) {
      failure = error
    }
    const end = performance.now()
    const missed = Boolean(failure) || (action === 'get' ? answer === null : answer === false)
    if (outcome.done++ >= warmup) {
      timings[timingCount++] = codeOf(action, missed)
      timings[timingCount++] = (end - start) * 1000
    }
    if (failure) {
      const message = String(failure.message).split('\n', 1)[0]
      outcome.errors[message] = (outcome.errors[message] ?? 0) + 1
      expectedValues.delete(key)
    } else if (action !== 'get') {
      if (action === 'set' && missed) expectedValues.delete(key)
      else expectedValues.set(key, { value: value ?? null, at: end })
    } else {
      const last = alone ? expectedValues.get(key) : undefined
      const isBehind = last !== undefined && !(last.value === null ? answer === null : answer?.equals(last.value))
      if (isBehind) {
        outcome.behind++
        outcome.longest = Math.max(outcome.longest, start - last.at)
      }
      if (answer && (isBehind ? outcome.behind < MAX_BEHIND : hits++ % SAMPLE === 0)) {
        outcome.samples.push([keys[key], hash('md5', answer)])
      }
    }
  }
  outcome.ms = performance.now() - countingStart
  return { outcome, timings: timings.subarray(0, timingCount) }
}

if (process.argv[1] === import.meta.filename) {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const receive = async () => (await lines.next()).value
  const send = line => process.stdout.write(`${line}\n`)
  const task = JSON.parse(await receive())
  const operations = decoded(await readFile(task.operations))
  const preset = task.preset ? decoded(await readFile(task.preset)) : []
  const client = await open[task.kind](task.where)
  for (const { key, value } of preset) await client.set(keys[key], value)
  send('ready')
  await receive()
  const { outcome, timings } = await work(client, operations, { ...task, preset })
  await client.close()
  await writeFile(task.timings, timings)
  send(JSON.stringify(outcome))
  process.exit()
}
