// Tests of a gateway whose store or upstream is killed, frozen and started again while clients ask for tiles.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import PouchDB from 'pouchdb-node'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { Store } from '../../loader/store/index.js'
import { startEmbeddedProcess } from '../support/embedded-process.js'
import { png, square } from '../support/tiles.js'
import { LOOPBACK, startUpstream } from '../support/upstream-server.js'
import { openGateway, openStore } from '../support/gateway/stand.js'
import { ask, closeConnections } from '../support/gateway/wire.js'

const T1 = '2021-06-01T00:00:00Z'
const later = step => `2022-01-01T00:00:${String(step).padStart(2, '0')}Z`

const kinds = [
  { name: 'the embedded store', start: startEmbeddedProcess },
  // the tests kill the server, so they never use a shared CouchDB
  ...(findCouchDb() ? [{ name: 'CouchDB', start: () => startCouchDb() }] : [])
]

for (const { name, start } of kinds) {
  describe(`the gateway, when ${name} is killed`, function () {
    this.timeout(120000)
    let server
    let upstream
    let gateway

    before(async () => {
      server = await start()
      upstream = await startUpstream()
      await openStore(`${server.url}/tiles`, async store => {
        await store.defineLayer('osm', { minzoom: 3, maxzoom: 5 })
        await store.write(square({ layer: 'osm', time: T1, z: 3, seed: (x, y) => x * 8 + y }))
        await store.write(square({ layer: 'osm', time: T1, z: 5, side: 20, seed: (x, y) => 100 + x * 20 + y }))
        // its tiles expire after a second, so the gateway serves stale tiles
        await store.defineLayer('old', { minzoom: 3, maxzoom: 3, ttl: 1 })
        await store.write(square({ layer: 'old', time: T1, z: 3, side: 2, seed: (x, y) => 600 + x * 2 + y }))
        await store.defineLayer('far', {
          minzoom: 0, maxzoom: 10, ttl: 1,
          upstream: { type: 'xyz', url: `${upstream.url}/xyz/{z}/{x}/{y}.png`, timeout: 5 }
        })
      })
      const tileLimits = { rest: 1000, timeout: 6000 } // milliseconds; both defaults are ten seconds
      gateway = await openGateway(`${server.url}/tiles`, { upstreamNetworks: LOOPBACK }, { tileLimits })
    })

    after(async () => {
      closeConnections()
      await gateway?.close()
      await upstream?.close()
      await server?.close()
    })

    const get = (path, options) => ask(gateway.url, path, options)
    const tile = (x, y, z = 3, layer = 'osm') => get(`/${layer}/${z}/${x}/${y}.png`)
    const waitUntilHealthy =
      () => until(async () => (await get('/health')).status === 200, { timeout: 30000, what: 'a green /health' })

    const stopFunctions = /** @type {(() => Promise<any>)[]} */ ([])
    // stops the clients of a failed test, which would run for ever
    afterEach(() => Promise.all(stopFunctions.splice(0).map(stop => stop())))

    /** Starts clients that request tiles in a loop. Returns a function that stops them and returns their results. */
    function startLoad (paths, clients = 8) {
      let stopped = false
      const results = { answers: 0, others: /** @type {string[]} */ ([]), longest: 0 }
      const running = Array.from({ length: clients }, async (_, client) => {
        for (let turn = client; !stopped; turn++) {
          const path = paths[turn % paths.length]
          const started = performance.now()
          const { status, cut } = await get(path).catch(error => ({ status: error.code, cut: true }))
          results.longest = Math.max(results.longest, performance.now() - started)
          results.answers++
          if (status !== 200 || cut) results.others.push(`${path} ${status}`)
          await new Promise(resolve => { setImmediate(resolve) })
        }
      })
      const stop = async () => {
        stopped = true
        await Promise.all(running)
        return results
      }
      stopFunctions.push(stop)
      return stop
    }

    it('serves tiles from memory, fails /health and other requests, and catches up afterwards', async () => {
      const { _rev: rev } = (await get('/db/osm:3:1:1')).json
      const warm = [0, 1, 2, 3].flatMap(x => [0, 1].map(y => `/osm/3/${x}/${y}.png`))
        .concat('/old/3/0/0.png', '/far/2/1/1.png', '/osm@2021/3/0/0.png', `/db/osm:3:1:1/tile?rev=${rev}`)
      for (const path of warm) assert.equal((await get(path)).status, 200, path)
      await until(async () => /max-age=0/.test((await tile(0, 0, 3, 'old')).headers['cache-control']),
        { what: 'the tile to be old' })
      const stop = startLoad(warm)
      await server.kill()
      await until(async () => (await get('/health')).status === 503, { what: 'a red /health' })
      const staleTile = await tile(0, 0, 3, 'old')
      assert.deepEqual([staleTile.status, staleTile.body.equals(png(600))], [200, true])
      assert.match(staleTile.headers['cache-control'], /max-age=0.*stale-if-error/)
      for (const path of ['/osm/5/7/7.png', '/osm@2021/5/7/7.png',
        '/db/layer:osm', '/db/osm:3:1:1/tile', '/db/_all_docs', '/db/_changes?feed=longpoll']) {
        const { status, headers, json } = await get(path)
        assert.deepEqual([status, headers['cache-control']], [503, 'no-store'], path)
        assert.ok(+headers['retry-after'] > 0, path)
        assert.ok(json.reason && !/127\.0\.0\.1|admin/.test(JSON.stringify(json)), JSON.stringify(json))
      }
      assert.equal((await get('/')).status, 200, 'the viewer can say it')
      await server.start()
      const store = await Store.open(`${server.url}/tiles`)
      await store.write([{ layer: 'osm', z: 3, x: 0, y: 0, time: later(1), bytes: png(700) }])
      await until(async () => (await tile(0, 0)).body.equals(png(700)),
        { timeout: 15000, what: 'what changed meanwhile' })
      await waitUntilHealthy()
      assert.equal((await tile(7, 7, 5)).status, 200)
      assert.equal((await get('/db/layer:osm')).status, 200)
      const { answers, others: failures, longest } = await stop()
      assert.deepEqual(failures, [], `of ${answers}`)
      assert.ok(answers > 500, `${answers} answers`)
      assert.ok(longest < 5000, `the slowest took ${longest} ms`)
    })

    it('lets PouchDB go on replicating once the store is back', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'tilecouch-pouch-'))
      const local = new PouchDB(join(folder, 'local'))
      const replication = local.replicate.from(`${gateway.url}/db`, {
        live: true,
        retry: true,
        back_off_function: () => 300, // milliseconds; the default delay grows to minutes
        selector: { layer: 'osm', z: 3, current: true }
      })
      let ended
      replication.once('error', error => { ended = error })
      const image = () => local.getAttachment('osm:3:6:6', 'tile').then(Buffer.from, () => null)
      try {
        await until(async () => (await image())?.equals(png(54)), { timeout: 30000, what: 'the first image' })
        await server.kill()
        await server.start()
        const store = await Store.open(`${server.url}/tiles`)
        await store.write([{ layer: 'osm', z: 3, x: 6, y: 6, time: later(1), bytes: png(730) }])
        await until(async () => {
          assert.equal(ended, undefined, 'it goes on')
          return (await image())?.equals(png(730))
        }, { timeout: 60000, what: 'the image of afterwards' })
      } finally {
        replication.cancel()
        await Promise.race(
          [replication, new Promise(resolve => replication.once('complete', resolve).once('error', resolve))]
        )
        await local.close()
        await rm(folder, { recursive: true, force: true })
      }
    })

    it('answers every request for uncached tiles with 200 or 503', async () => {
      const cold = Array.from({ length: 400 }, (_, index) => `/osm/5/${index % 20}/${Math.floor(index / 20)}.png`)
      const answers = cold.map(path => get(path).then(({ status, body, cut }) => ({ path, status, body, cut })))
      await Promise.race(answers)
      await server.kill()
      for (const { path, status, body, cut } of await Promise.all(answers)) {
        assert.ok(!cut && (status === 200 || status === 503), `${path}: ${status}`)
        const [, x, y] = /5\/(\d+)\/(\d+)/.exec(path) ?? []
        if (status === 200) assert.ok(body.equals(png(100 + +x * 20 + +y)), path)
      }
      await server.start()
      await waitUntilHealthy()
      for (const path of cold) assert.equal((await get(path)).status, 200, path)
    })

    it('serves tiles from memory while the store hangs, and answers 503 for others', async () => {
      const warm = ['/osm/3/0/0.png', '/osm/3/1/1.png', '/osm@2021/3/0/0.png']
      for (const path of warm) assert.equal((await get(path)).status, 200, path)
      const stop = startLoad(warm, 4)
      server.freeze()
      try {
        // on a busy machine the signal takes a moment to reach all threads
        const { origin } = new URL(server.url) // fetch refuses an address with a password
        const isSilent = () => fetch(origin, { signal: AbortSignal.timeout(300) })
          .then(() => false, error => error.name === 'TimeoutError')
        await until(isSilent, { what: 'a store that stands still' })
        const started = performance.now()
        const pendingAnswers = ['/osm/4/1/1.png', '/osm@2021/4/2/2.png'].map(path => get(path))
        await until(async () => (await get('/health')).status === 503, { what: 'a red /health' })
        for (const { status, headers } of await Promise.all(pendingAnswers)) {
          assert.equal(status, 503)
          assert.equal(headers['cache-control'], 'no-store')
        }
        assert.ok(performance.now() - started < 20000 * TIME_FACTOR, 'nobody waits for longer')
      } finally {
        server.thaw()
      }
      await waitUntilHealthy()
      assert.equal((await get('/osm/4/1/1.png')).status, 404, 'there is none, and now that is known')
      const store = await Store.open(`${server.url}/tiles`)
      await store.write([{ layer: 'osm', z: 3, x: 1, y: 1, time: later(40), bytes: png(720) }])
      await until(async () => (await tile(1, 1)).body.equals(png(720)), { what: 'what was stored afterwards' })
      assert.deepEqual((await stop()).others, [])
    })

    it('shows a newly written tile within a second', async () => {
      const store = await Store.open(`${server.url}/tiles`)
      await tile(5, 5)
      for (let step = 1; step <= 8; step++) {
        await store.write([{ layer: 'osm', z: 3, x: 5, y: 5, time: later(step), bytes: png(710 + step) }])
        await until(async () => (await tile(5, 5)).body.equals(png(710 + step)),
          { timeout: 1000, every: 10, what: `version ${step}` })
      }
      await store.write([{ layer: 'osm', z: 3, x: 5, y: 5, time: later(30), gone: true }])
      await until(async () => (await tile(5, 5)).status === 404, { timeout: 1000, what: 'the tile to be gone' })
    })

    it('serves expired tiles while the upstream is away, and fetches again when it is back', async () => {
      const paths = ['/far/4/3/2.png', '/far/4/3/3.png']
      for (const path of paths) assert.equal((await get(path)).status, 200, path)
      await upstream.close()
      const stop = startLoad(paths, 4)
      await until(async () => (await get(paths[0])).headers['x-tilecouch-cache'] === 'stale', { what: 'an old tile' })
      const missing = await get('/far/4/9/9.png')
      assert.ok([502, 503, 504].includes(missing.status), `${missing.status}`)
      assert.equal(missing.headers['cache-control'], 'no-store')
      assert.equal((await get('/health')).status, 200, 'the gateway is well')
      upstream.epoch++
      await upstream.start()
      const [changedTile, addedTile] = [await upstream.tile(4, 3, 2), await upstream.tile(4, 9, 9)]
      await until(async () => (await get('/far/4/9/9.png')).body.equals(addedTile),
        { timeout: 60000, every: 200, what: 'the tile that was missing' })
      await until(async () => (await get(paths[0])).body.equals(changedTile),
        { timeout: 60000, every: 200, what: 'the tile that changed upstream' })
      assert.deepEqual((await stop()).others, [])
    })
  })
}
