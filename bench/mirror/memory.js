// Checks that the memory of a mirror stays flat, with many tiles in one process.
import { ours } from './contenders.js'
import { newDatabase } from '../stoppable.js'
import { storeOf } from './data.js'

const LIMIT = 250 // MB, DESIGN.md 7
const BYTES = 3000 // per tile: only the number of tiles matters

export async function memoryOf ({ server, target, tiles, signal, closing, log }) {
  log(`\nMemory: ${tiles} tiles of ${BYTES / 1000} kB`)
  const store = await storeOf(`${server}/bench_mirror_memory`, { tiles, bytes: BYTES, signal, closing })
  await newDatabase(`${target}/bench_mirror_memory_to`, closing)
  const { docs, seconds, peak } =
    await ours(`${server}/bench_mirror_memory`, `${target}/bench_mirror_memory_to`, { signal })
  log(`  ${docs} documents in ${seconds.toFixed(1)} s (${Math.round(docs / seconds)}/s), peak ${peak} MB`)
  await store.destroy()
  const met = peak <= LIMIT && docs >= tiles
  return { figures: { tiles, seconds, peak }, budgets: [
    { what: 'memory of a mirror', target: `<= ${LIMIT} MB`, figure: `${peak} MB`, met }
  ] }
}
