// The database is killed under a seed and comes back: the seed waits for it, and every version has its bytes.
import assert from 'node:assert/strict'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { parseArea } from '../../core/index.js'
import { seed } from '../../loader/load/seed/index.js'
import { Store } from '../../loader/store/index.js'
import { startEmbeddedProcess } from '../support/embedded-process.js'
import { checkInvariants } from '../support/invariants.js'
import { LOOPBACK, startUpstream } from '../support/upstream-server.js'
import { QUICK, TILE, counts, pyramid } from '../support/seeding.js'

const kinds = { embedded: startEmbeddedProcess, CouchDB: findCouchDb() && startCouchDb }

for (const [kind, start] of Object.entries(kinds)) {
  (start ? describe : describe.skip)(`seeding while ${kind} is killed`, () => {
    let server, upstream
    before(async function () {
      this.timeout(60000)
      server = await start()
      upstream = await startUpstream({ tileSize: TILE })
    })
    after(async () => {
      await upstream.close()
      await server.close()
    })

    it('waits until the server is back, and loses no tile', async function () {
      this.timeout(120000)
      const url = `${server.url}/seed_restart`
      const store = await Store.create(url)
      await store.defineLayer('map', { tileSize: TILE, upstream: { url: `${upstream.url}/xyz/{z}/{x}/{y}.png` } })
      let killed
      const summary = await seed(store, 'map', {
        area: parseArea({ bbox: '-180,-85,180,85' }),
        zooms: { min: 0, max: 4 },
        networks: LOOPBACK,
        fetching: QUICK,
        onProgress ({ fetched }) {
          // in the middle of fetching: batches are stored and looked up while it is away
          if (fetched > 150) killed ??= server.kill().then(() => server.start())
        }
      })
      await killed
      assert.deepEqual([summary.tiles, summary.failed, summary.new + summary.unchanged],
        [pyramid(4), 0, pyramid(4)], JSON.stringify(counts(summary)))
      const tiles = await checkInvariants(url)
      assert.equal(tiles.size, pyramid(4))
      for (const [id, [{ bytes }]] of tiles) {
        const [, z, x, y] = id.split(':').map(Number)
        assert.deepEqual(bytes, await upstream.tile(z, x, y), id)
      }
    })
  })
}
