// Measures how fast tiles are served: by CouchDB itself, by the gateway with and without tiles in memory, by nginx, and
// by other tile servers. All serve the same tiles to one load generator, in turns.
import { nodeClients, prepare, tasksOf } from './serve/contenders.js'
import { LENGTH, NEW, OLD, fillStore, placesOf, shuffled } from './block.js'
import { AT, budgetsOf, measureRounds } from './serve/rounds.js'
import { startServers } from './serve/servers.js'
import { MISSING, findWrk, wrkVersion } from './programs/wrk.js'
import { stoppable, temporaryFolder } from './stoppable.js'

export async function run ({ server, quick, log }) {
  const wrk = findWrk()
  if (!wrk) throw new Error(MISSING)
  const scale = quick
    // a short run needs no second warm-up
    ? { tiles: 1000, levels: [32], rounds: 1, seconds: 1, warm: 0 }
    : { tiles: 10_000, levels: [1, 8, 32, 100], rounds: 3, seconds: 2, warm: 1 }
  const url = `${server}/bench_serve`
  return stoppable(log, async ({ signal, closing }) => {
    const dir = await temporaryFolder('serve', closing)
    const places = placesOf(scale.tiles)
    const order = shuffled(places, 1)
    log(`${scale.tiles} tiles of ${LENGTH} bytes, two editions; wrk ${await wrkVersion(wrk)}`)
    const store = await fillStore(url, places, { times: [OLD, NEW], signal, closing })
      log('Servers')
    const servers = await startServers({ url, dir, places, store, closing, log })
    /** @type {(import('./serve/rounds.js').Contender & {check: () => Promise<void>})[]} */
    const contenders = nodeClients({ db: store.url, order })
    for (const { run: request } of contenders) await request({ connections: AT, seconds: scale.seconds, signal })
    const tasks = tasksOf({ db: store.url, servers, order })
    log('Warming up, comparing answers with the source')
    for (const [index, task] of tasks.entries()) {
      contenders.push(await prepare(task, { wrk, dir, order, at: index, seconds: scale.seconds, signal }))
    }
    const results = await measureRounds(contenders, { ...scale, signal, log })
    for (const { check } of contenders) await check()
    const budgets = budgetsOf(results, scale.levels)
    return {
      ...scale, bytes: LENGTH, wrk: await wrkVersion(wrk), programs: servers.programs,
      missing: servers.missing, results, budgets
    }
  })
}
