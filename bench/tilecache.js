// Repeats the first benchmark of its kind: how long does it take to get 780 tiles out of CouchDB, and out of the file
// system? It reads one tile at a time as the original did, and several as a browser does, with a warm and with a
// dropped page cache.
import path from 'node:path'
import sharp from 'sharp'
import { stoppable, temporaryFolder } from './stoppable.js'
import { describe, drawTiles } from './tilecache/map.js'
import * as names from './tilecache/names.js'
import { openPageCache } from './tilecache/page-cache.js'
import { measureLaps, warmUp } from './tilecache/rounds.js'
import { fill, measureSeeding, writeFiles } from './tilecache/seeding.js'
import { startContenders } from './tilecache/servers.js'

const DATABASE = 'bench_tilecache'
const CONNECTIONS = 6 // connections that a browser opens to a host

/** warm, dropped: laps with the page cache warm or dropped; seedings: number of rounds. */
const SCALE = {
  quick: { warm: { rounds: 3, connections: [1, CONNECTIONS] }, dropped: { rounds: 3, connections: [1] }, seedings: 2 },
  full: { warm: { rounds: 20, connections: [1, CONNECTIONS] }, dropped: {
    rounds: 15, connections: [1, CONNECTIONS]
  }, seedings: 5 }
}

export async function run ({ server, quick, log }) {
  const scale = quick ? SCALE.quick : SCALE.full
  return stoppable(log, async ({ signal, closing }) => {
    const dir = await temporaryFolder('tilecache', closing)
    log('Drawing the tiles')
    const tiles = await drawTiles({ signal })
    const description = describe(tiles)
    log(
      `${description.tiles} tiles, ${description.distinct} of them different, ` +
        `${(description.bytes.total / description.tiles / 1000).toFixed(1)} kB on average\n\nSeeding`
    )
    const [files, tree, url] = [path.join(dir, 'files'), path.join(dir, 'tree'), `${server}/${DATABASE}`]
    await writeFiles(files, tiles, { signal })
    const store = await fill(url, tiles, tree, { signal, closing })
    const seeding = await measureSeeding({ server, dir, store, tiles, rounds: scale.seedings, signal, closing, log })
    log('\nServers')
    const { contenders, programs, missing } =
      await startContenders({ url, store, files, tree, dir, probe: tiles[0], connections: CONNECTIONS, closing, log })
    programs.sharp = { version: sharp.versions.sharp, settings: 'draws the tiles: PNG, three colours of 8 bits' }
    await warmUp(contenders, tiles, { connections: [1, CONNECTIONS], signal })
    const cache = await openPageCache(store.url)
    if (cache.why) log(`  page cache: not dropped, ${cache.why}`)
    const laps = await measureLaps(contenders, tiles, {
      states: { [names.WARM]: scale.warm, ...(!cache.why && { [names.DROPPED]: scale.dropped }) },
      drop: cache.drop, signal, log
    })
    return {
      ...description,
      scale,
      rounds: scale.warm.rounds,
      ...(cache.why && { notDropped: cache.why }),
      programs,
      missing,
      seeding,
      laps,
      connections: CONNECTIONS,
      budgets: []
    }
  })
}
