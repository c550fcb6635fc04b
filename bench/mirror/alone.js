// Runs one replication in its own process, so that its memory can be measured: node bench/mirror/alone.js '{"source":
// …, "target": …}'. Prints a JSON object.
import { Replication } from '../../core/mirror/index.js'
import { peerOf } from '../../loader/store/peer.js'
import { Couch } from '../../loader/store/couch.js'

const { source, target } = JSON.parse(process.argv[2])

let peak = 0
const timer = setInterval(() => { peak = Math.max(peak, process.memoryUsage.rss()) }, 20)
const start = performance.now()
const { docs, refused, bytes } =
  await new Replication({ source: peerOf(new Couch(source)), target: peerOf(new Couch(target)) }).run()
const seconds = (performance.now() - start) / 1000
clearInterval(timer)
process.stdout.write(JSON.stringify({ docs, refused, bytes, seconds, peak: Math.round(peak / 1e6) }) + '\n')
