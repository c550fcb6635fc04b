// Runs one export in its own process, so that its memory can be measured: node bench/export/alone.js '{"url": …,
// "kind": …, …}'. Prints a JSON object.
import { exportLayer } from '../../loader/export/index.js'
import { Store } from '../../loader/store/index.js'
import { exportTree } from '../../loader/export/tree/index.js'

const { url, layer, kind, target, time } = JSON.parse(process.argv[2])

/** Reads the layer and discards the tiles: the upper limit for the speed of every target. */
async function readAll (store) {
  let [tiles, bytes] = [0, 0]
  for await (const tile of store.fetch(store.list(layer, { time }))) {
    tiles++
    bytes += tile.bytes.length
  }
  return { tiles, bytes, size: 0 }
}

function runKind () {
  if (kind === 'read') return readAll(store)
  if (kind === 'tree') return exportTree(store, layer, target, {})
  return exportLayer(store, layer, target, { time, format: kind })
}

// The memory is sampled, because the peak that the system reports starts with that of the parent process.
let peak = 0
const timer = setInterval(() => { peak = Math.max(peak, process.memoryUsage.rss()) }, 20)

const store = await Store.open(url)
const start = performance.now()
const summary = await runKind()
const seconds = (performance.now() - start) / 1000
clearInterval(timer)
process.stdout.write(JSON.stringify({ summary, seconds, peak: Math.round(peak / 1e6) }) + '\n')
