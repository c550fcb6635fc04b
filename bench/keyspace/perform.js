// One thread's part of a sample: each call timed, each answer compared with what was written.
import { keyOf, stepsOf, valueOf } from './workload.js'

/**
 * @typedef {object} Done
 * @property {number} writes values that were stored
 * @property {number} reads that were answered
 * @property {number} errors calls that failed
 * @property {number} misses values that were not there
 * @property {number} wrong values that were others
 * @property {string} [error] the first
 * @property {boolean} cut the time was up before everything was done
 * @property {number[]} writeMs of each call: a value or a batch of them
 * @property {number[]} readMs
 * @property {number} begin @property {number} end milliseconds of the clock that all threads share
 */

const clock = () => performance.timeOrigin + performance.now()

/**
 * @param {any} client one of bench/clients; with `setMany` when batches are written, and without what is not asked of it
 * @param {import('./workload.js').Part} part
 * @param {{seconds: number}} limit
 * @returns {Promise<Done>}
 */
export async function perform (client, part, { seconds }) {
  /** @type {Done} */
  const done = { writes: 0, reads: 0, errors: 0, misses: 0, wrong: 0, cut: false, writeMs: [], readMs: [], begin: clock(), end: 0 }
  const until = performance.now() + seconds * 1000
  const timed = async (times, call) => {
    const start = performance.now()
    try {
      const answer = await call()
      times.push(performance.now() - start)
      return { answer }
    } catch (error) {
      done.errors++
      done.error ??= error.message
    }
  }
  for (const step of stepsOf(part)) {
    if (performance.now() > until) {
      done.cut = part.kind !== 'reads' // they end in no other way
      break
    }
    if ('write' in step) {
      const entries = step.write.map(index => /** @type {[string, Buffer]} */ ([keyOf(index), valueOf(index)]))
      const [[key, value]] = entries
      if (await timed(done.writeMs, () => entries.length > 1 ? client.setMany(entries) : client.set(key, value))) done.writes += entries.length
    } else {
      const read = await timed(done.readMs, () => client.get(keyOf(step.read)))
      if (!read) continue
      if (!read.answer) done.misses++
      else if (!valueOf(step.read).equals(read.answer)) done.wrong++
      else done.reads++
    }
  }
  done.end = clock()
  return done
}
