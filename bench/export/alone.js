// One export in a process of its own, so that its memory is its own: node bench/export/alone.js '{"url": …, "kind": …,
// …}'.
// Prints a JSON object.
import { exportLayer } from '../../loader/export/index.js'
import { Store } from '../../loader/store/index.js'
import { exportTree } from '../../loader/export/tree/index.js'

const { url, layer, kind, target, time } = JSON.parse(process.argv[2])

/** Reading alone, thrown away: what no target can be quicker than. */
async function readAll (store) {
  let [tiles, bytes] = [0, 0]
  for await (const tile of store.fetch(store.list(layer, { time }))) {
    tiles++
    bytes += tile.bytes.length
  }
  return { tiles, bytes, size: 0 }
}

// sampled: what the system calls the peak of a process begins with that of the process which started it
let peak = 0
const watch = setInterval(() => { peak = Math.max(peak, process.memoryUsage.rss()) }, 20)

const store = await Store.open(url)
const start = performance.now()
const summary = kind === 'read' ? await readAll(store)
  : kind === 'tree' ? await exportTree(store, layer, target, {})
    : await exportLayer(store, layer, target, { time, format: kind })
const seconds = (performance.now() - start) / 1000
clearInterval(watch)
process.stdout.write(JSON.stringify({ summary, seconds, peak: Math.round(peak / 1e6) }) + '\n')
