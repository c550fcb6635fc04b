// Performs one thread's part of a sample. It measures each call, and compares each answer with the written value.
import { keyOf, stepsOf, valueOf } from './workload.js'

/** @typedef {Awaited<ReturnType<typeof perform>>} Done */

const clock = () => performance.timeOrigin + performance.now()

/** @param {any} client one of bench/clients @param {import('./workload.js').Part} part */
export async function perform (client, part, { seconds }) {
  const tally = {
    writes: 0, // values that were stored
    reads: 0, // values that were answered
    errors: 0, // calls that failed
    misses: 0, // values that did not exist
    wrong: 0, // values that differ
    error: /** @type {string | undefined} */ (undefined), // the first error
    cut: false, // whether the time ended too early
    writeMs: /** @type {number[]} */ ([]), // of each call, with one value or a batch
    readMs: /** @type {number[]} */ ([]),
    begin: clock(),
    end: 0
  }
  const deadline = performance.now() + seconds * 1000
  const timed = async (times, call) => {
    const start = performance.now()
    try {
      const answer = await call()
      times.push(performance.now() - start)
      return { answer }
    } catch (error) {
      tally.errors++
      tally.error ??= error.message
    }
  }
  for (const step of stepsOf(part)) {
    if (performance.now() > deadline) {
      tally.cut = part.kind !== 'reads' // reads always end by time
      break
    }
    if ('write' in step) {
      const entries = step.write.map(index => /** @type {[string, Buffer]} */ ([keyOf(index), valueOf(index)]))
      const [[key, value]] = entries
      if (await timed(tally.writeMs, () => entries.length > 1 ? client.setMany(entries) : client.set(key, value))) {
        tally.writes += entries.length
      }
    } else {
      const read = await timed(tally.readMs, () => client.get(keyOf(step.read)))
      if (!read) continue
      if (!read.answer) tally.misses++
      else if (!valueOf(step.read).equals(read.answer)) tally.wrong++
      else tally.reads++
    }
  }
  tally.end = clock()
  return tally
}
