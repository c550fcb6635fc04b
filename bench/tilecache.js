// The benchmark that asked first: how long does it take to get 780 tiles out of CouchDB, and how long out of the file system? Asked again
// of what there is today, one tile at a time as then and as a browser does, with the page cache warm and dropped.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { stoppable } from './stoppable.js'
import { describe, drawTiles } from './tilecache/map.js'
import * as names from './tilecache/names.js'
import { filesIn, openPageCache } from './tilecache/page-cache.js'
import { measureLaps, warmUp } from './tilecache/rounds.js'
import { fill, measureSeeding, writeFiles } from './tilecache/seeding.js'
import { startContenders } from './tilecache/servers.js'
import { CONNECTIONS, PACE, SCREEN, USERS, measureUsers, tilesOf } from './tilecache/users.js'

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]'])
const DATABASE = 'bench_tilecache'

/** warm, dropped: laps; seedings: rounds of them; users: rounds of so many seconds. */
const SCALE = {
  quick: { warm: { rounds: 3, connections: [1, CONNECTIONS] }, dropped: { rounds: 3, connections: [1] }, seedings: 2, users: { rounds: 1, seconds: 1 } },
  full: { warm: { rounds: 20, connections: [1, CONNECTIONS] }, dropped: { rounds: 15, connections: [1, CONNECTIONS] }, seedings: 5, users: { rounds: 5, seconds: 3 } }
}

/** @param {{server: string, quick: boolean, log: (text: string) => void}} options @returns {Promise<any>} */
export async function run ({ server, quick, log }) {
  const scale = quick ? SCALE.quick : SCALE.full
  return stoppable(log, async ({ signal, closing }) => {
    const dir = await mkdtemp(path.join(tmpdir(), 'tilecouch-tilecache-'))
    closing.push(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }))
    log('Drawing the tiles')
    const tiles = await drawTiles({ signal })
    const about = describe(tiles)
    log(`${about.tiles} tiles, ${about.distinct} of them different, ${(about.bytes.total / about.tiles / 1000).toFixed(1)} kB on average\n\nSeeding`)
    const [files, tree, url] = [path.join(dir, 'files'), path.join(dir, 'tree'), `${server}/${DATABASE}`]
    await writeFiles(files, tiles, { signal })
    const store = await fill(url, tiles, tree, { signal, closing })
    const seeding = await measureSeeding({ server, dir, store, tiles, rounds: scale.seedings, signal, closing, log })
    log('\nServers')
    const { contenders, programs, missing } = await startContenders({ url, store, files, tree, dir, probe: tiles[0], connections: CONNECTIONS, closing, log })
    programs.sharp = { version: sharp.versions.sharp, settings: 'draws the tiles: PNG, three colours of 8 bits' }
    await warmUp(contenders, tiles, { connections: [1, CONNECTIONS], signal })
    const cache = await openCache({ store, files, tree })
    if (cache.why) log(`  page cache: not dropped, ${cache.why}`)
    const forgotten = await tryDropping(cache, signal)
    const laps = await measureLaps(contenders, tiles, {
      states: { [names.WARM]: scale.warm, ...(cache.how && { [names.DROPPED]: scale.dropped }) }, drop: cache.drop, signal, log
    })
    const users = await measureUsers(contenders, tiles, { dir, ...scale.users, signal, log })
    if (users.missing) {
      missing.wrk = users.missing
      log(`\nUsers at once: not measured, ${users.missing}`)
    }
    return {
      ...about,
      scale,
      rounds: scale.warm.rounds,
      pageCache: { how: cache.how ?? null, why: cache.why, ...forgotten },
      programs,
      missing,
      seeding,
      laps,
      users: { ...users, users: USERS, connections: CONNECTIONS, screen: { ...SCREEN, tiles: tilesOf(), pace: PACE } },
      budgets: []
    }
  })
}

/** The page cache of all files concerned: the tiles, the tree, and CouchDB's own, where they are on this machine. */
async function openCache ({ store, files, tree }) {
  if (!LOOPBACK.has(new URL(store.url).hostname)) return { how: undefined, why: 'CouchDB runs on another machine', drop: async () => {}, look: async () => undefined }
  const { database_dir: data } = await store.couch.request({ path: '_node/_local/_config/couchdb', server: true })
  const shards = name => name.startsWith(`${DATABASE}.`)
  return openPageCache(async () => [...await filesIn(data, shards), ...await filesIn(files), ...await filesIn(tree)])
}

/** Whether dropping drops: how much of the files was in memory before, and how much after. */
async function tryDropping ({ how, drop, look }, signal) {
  if (!how) return {}
  const before = await look()
  await drop(signal)
  const after = await look()
  return before && after ? { bytes: before.bytes, before: before.resident, after: after.resident } : {}
}
