// Serves one tile a thousand times over a hundred connections, as a write-up of 2012 did with TileStache and nginx, and
// ten thousand different tiles. Compares other tile servers, CouchDB, the gateway, and nginx on files.
import { NEW, fillStore, placesOf, shuffled } from './block.js'
import * as ab from './programs/ab.js'
import * as wrk from './programs/wrk.js'
import { prepare } from './serve/contenders.js'
import { measureRounds } from './serve/rounds.js'
import { stoppable, temporaryFolder } from './stoppable.js'
import { tileOfLength } from './tiles.js'
import { apart, asksForOne } from './tilestache/one.js'
import { startServers } from './tilestache/servers.js'

const LENGTH = 16_915 // bytes of the tile of 2012
const CONNECTIONS = 100
const REQUESTS = 1000 // of one run of ab

/** @type {import('./block.js').TileOf} */
const tileOf = index => tileOfLength(index, LENGTH)

export async function run ({ server, quick, log }) {
  const [abBin, wrkBin] = [ab.findAb(), wrk.findWrk()]
  if (!abBin || !wrkBin) throw new Error(abBin ? wrk.MISSING : ab.MISSING)
  const scale = quick
    ? { tiles: 2000, rounds: 1, manyRounds: 1, seconds: 1, warm: 1 }
    : { tiles: 10_000, rounds: 9, manyRounds: 5, seconds: 5, warm: 2 }
  const versions = { ab: await ab.abVersion(abBin), wrk: await wrk.wrkVersion(wrkBin) }
  const url = `${server}/bench_tilestache`
  return stoppable(log, async ({ signal, closing }) => {
    const dir = await temporaryFolder('tilestache', closing)
    const [unused, ...places] = placesOf(scale.tiles + 1)
    const order = shuffled(places, 1)
    log(`${scale.tiles} tiles of ${LENGTH} bytes; ab ${versions.ab}, wrk ${versions.wrk}`)
    const store = await fillStore(url, [unused, ...places], { times: [NEW], tileOf, signal, closing })
      log('Servers')
    const { tasks, missing, programs } =
      await startServers({ url, dir, places, unused, tileOf, store, signal, closing, log })

    log('Warming up, comparing answers with the source')
    const many = []
    for (const [index, task] of tasks.entries()) {
      many.push(
        await prepare(task, { wrk: wrkBin, dir, order, at: index, tileOf, length: LENGTH, seconds: scale.warm, signal })
      )
    }
    const [place] = order
    const singles = []
    for (const task of tasks) {
      singles.push(await asksForOne(task, { ab: abBin, place, tile: tileOf(place.index, NEW), requests: REQUESTS }))
    }
    for (const { check } of singles) await check()

    log(`\nOne tile: ab -c ${CONNECTIONS} -n ${REQUESTS}, and with -k`)
    const oneTile = apart(await measureRounds(singles.flatMap(({ contenders }) => contenders),
      { ...scale, levels: [CONNECTIONS], signal, log }))
    log(`\n${scale.tiles} tiles: wrk`)
    const manyTiles =
      await measureRounds(many, { ...scale, rounds: scale.manyRounds, levels: [CONNECTIONS], signal, log })
    for (const { check } of [...singles, ...many]) await check()
    const figuresOf = figure => Object.fromEntries(singles.map(contender => [contender.name, contender[figure]()]))
    return {
      ...scale, ...versions, bytes: LENGTH, connections: CONNECTIONS, requests: REQUESTS, programs, missing,
      one: oneTile, kept: figuresOf('kept'), lengths: figuresOf('length'), many: manyTiles, budgets: []
    }
  })
}
