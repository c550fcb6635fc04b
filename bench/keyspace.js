// Measures values of 8 kB under keys: CouchDB through tilecouch and through the gateway, memcached and Redis. Values
// are written one by one, read in turns, and both, by one thread and by several. Only a tile store keeps overwritten
// values.
import { contendersOf } from './keyspace/contenders.js'
import { measureKind } from './keyspace/rounds.js'
import { startServers } from './keyspace/servers.js'
import { startThreads } from './keyspace/threads.js'
import { BATCH, BYTES, MIX } from './keyspace/workload.js'
import { stoppable, temporaryFolder } from './stoppable.js'

// keys: values that exist from the start; counts: new values of a sample, equal for all contenders, a multiple of each
// number of threads times the writes of one request; seconds: of a sample of reads; timeout: seconds that any other
// sample may take
const scales = {
  quick: { keys: 800, levels: [1, 4, 8], rounds: 2, seconds: 0.4, timeout: 10, counts: { writes: 400, mixes: 80 } },
  full: {
    keys: 4000, levels: [1, 2, 4, 6, 8], rounds: 3, seconds: 1, timeout: 30, counts: { writes: 2400, mixes: 480 }
  }
}

export async function run ({ server, quick, log }) {
  const scale = quick ? scales.quick : scales.full
  const url = `${server}/bench_keyspace`
  return stoppable(log, async ({ signal, closing }) => {
    const dir = await temporaryFolder('keyspace', closing)
    log(`${scale.keys} values of ${BYTES} bytes to begin with; servers`)
    const servers = await startServers({ url, keys: scale.keys, dir, signal, closing, log })
    const contenders = contendersOf({ url, servers })
    const generator = startThreads(Math.max(...scale.levels), signal)
    closing.push(generator.close)
    const spaces = Object.fromEntries(contenders.map(({ space }) => [space, { next: scale.keys }]))
    const results = {}
    for (const kind of /** @type {const} */ (['writes', 'reads', 'mixes'])) {
      results[kind] = await measureKind({ kind, contenders, generator, spaces, scale, log })
    }
    return {
      ...scale, bytes: BYTES, batch: BATCH, mix: MIX, programs: servers.programs,
      missing: servers.missing, results, budgets: []
    }
  })
}
