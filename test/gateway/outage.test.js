// After an outage of CouchDB, a gateway answers again whatever it answered before: nothing keeps the failure.
import assert from 'node:assert/strict'
import { load } from '../../loader/load/index.js'
import { publish } from '../../loader/couchapp/publish.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { startFront } from '../support/client/front.js'
import { onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { useStore } from '../support/store.js'
import { openGateway, throughFront } from '../support/gateway/stand.js'
import { ask } from '../support/gateway/wire.js'

const [T1, T2] = ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z']
const VIEW = { bbox: [-180, -85, 180, 85], z: 3 }
const PATHS = ['/osm/3/1/1.json', '/osm/times.json?bbox=-180,-85,180,85&z=3', '/osm.json', '/osm@2021/3/1/1.png']

onEachStore('an outage of the store', backend => {
  const own = useStore(backend, {
    once: true,
    async fill (store) {
      for (const time of [T1, T2]) await load(store, memorySource({ '3/1/1': 1, '3/1/2': 2 }), { layer: 'osm', time })
      await publish(store)
    }
  })
  let front
  let through // the address of the store, by a server that can be stopped
  before(async () => {
    front = await startFront(own.url)
    through = throughFront(front, own.url)
  })
  after(() => front.close().catch(() => {}))

  /** What a reading answers while the front is away: at the first request, or at one of those that follow. */
  async function failThen (read, allowed) {
    let requests = 0
    const release =
      front.rule(() => ++requests > allowed ? { status: 503, body: '{"error":"away","reason":"away"}' } : undefined)
    await assert.rejects(read(), { code: 'COUCHDB_ERROR' })
    release()
    await read().catch(() => {}) // it may wait for a request of the first reading, which fails only now
    return read()
  }

  for (const [name, read] of /** @type {[string, (store: Store) => Promise<any>][]} */ ([
    ['versions of a tile', store => store.versions('osm', 3, 1, 1)],
    ['times at which editions read the view', store => store.timesLooked('osm', VIEW)],
    ['the last check of a tile', store => store.shownSince('osm', 3, 1, 1)]
  ])) {
    it(`leaves no failure behind for ${name}, whichever request failed`, async () => {
      const expected = await read(own.store)
      const count = await (async () => {
        front.forget()
        await read(new Store(new Couch(through)))
        return front.requests().length
      })()
      for (let allowed = 0; allowed < count; allowed++) {
        const store = new Store(new Couch(through, { retries: 0 }))
        assert.deepEqual(await failThen(() => read(store), allowed), expected, `after ${allowed} of ${count} requests`)
      }
    })
  }

  it('leaves no failure behind at any address of a running gateway', async function () {
    this.timeout(60000)
    const gateway = await openGateway(through)
    try {
      await front.stop()
      const statuses = async () => (await Promise.all(PATHS.map(path => ask(gateway.url, path))))
        .map(({ status }) => status)
      assert.deepEqual(await statuses(), PATHS.map(() => 503))
      await front.restart(+new URL(through).port)
      assert.deepEqual(await statuses(), PATHS.map(() => 200))
    } finally {
      await gateway.close()
    }
  })
})
