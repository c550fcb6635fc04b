// One thread's part of a sample: each call timed, each answer compared with what was written.
import { keyOf, stepsOf, valueOf } from './workload.js'

/** @typedef {Awaited<ReturnType<typeof perform>>} Done */

const clock = () => performance.timeOrigin + performance.now()

/** @param {any} client one of bench/clients @param {import('./workload.js').Part} part */
export async function perform (client, part, { seconds }) {
  const done = {
    writes: 0, // values that were stored
    reads: 0, // values that were answered
    errors: 0, // calls that failed
    misses: 0, // values that did not exist
    wrong: 0, // values that differ
    error: /** @type {string | undefined} */ (undefined), // the first
    cut: false, // the time ended before everything was done
    writeMs: /** @type {number[]} */ ([]), // of each call: a value or a batch
    readMs: /** @type {number[]} */ ([]),
    begin: clock(),
    end: 0
  }
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
      if (await timed(done.writeMs, () => entries.length > 1 ? client.setMany(entries) : client.set(key, value))) {
        done.writes += entries.length
      }
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
