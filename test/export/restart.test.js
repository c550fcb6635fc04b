// The database is killed under an export and comes back: the export waits for it, and every byte is right.
import assert from 'node:assert/strict'
import path from 'node:path'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { noiseTile } from '../../bench/tiles.js'
import { exportLayer } from '../../loader/export/index.js'
import { Store } from '../../loader/store/index.js'
import { startEmbeddedProcess } from '../support/embedded-process.js'
import { useFolder } from '../support/folder.js'
import { assertSame, contentsOf, writeTiles } from '../support/exports.js'

const TIME = '2021-01-01T00:00:00Z'
const kinds = { embedded: startEmbeddedProcess, CouchDB: findCouchDb() && startCouchDb }
const wanted = new Map(Array.from({ length: 1500 }, (_, n) => [`9/${n >> 5}/${n & 31}`, noiseTile(n, 3000)]))

for (const [kind, start] of Object.entries(kinds)) {
  (start ? describe : describe.skip)(`exporting while ${kind} is killed`, () => {
    const folder = useFolder()
    let server, store
    before(async function () {
      this.timeout(60000)
      server = await start()
      store = await Store.create(`${server.url}/export_restart`)
      await writeTiles(store, wanted, TIME)
    })
    after(() => server?.close())

    for (const [target, time] of Object.entries({ out: undefined, 'out.mbtiles': TIME })) {
      it(`waits until the database is back, and writes every tile: ${target}`, async function () {
        this.timeout(120000)
        let killed
        const { tiles, missing } = await exportLayer(store, 'osm', path.join(folder.dir, target), {
          time,
          onProgress (progress) { if (progress.tiles === 300) killed = server.kill().then(() => server.start()) }
        })
        await killed
        assert.deepEqual([tiles, missing], [wanted.size, 0])
        assertSame(await contentsOf(path.join(folder.dir, target)), wanted)
      })
    }
  })
}
