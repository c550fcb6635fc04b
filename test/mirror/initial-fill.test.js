import assert from 'node:assert/strict'
import { parseArea, tileBounds } from '../../core/index.js'
import { Store } from '../../loader/index.js'
import { warmIndexes } from '../../loader/couchapp/publish.js'
import { json, onEachStore, request } from '../support/backends.js'
import { square } from '../support/tiles.js'
import { differences } from './compare.js'
import { caughtUp, documentsOf, replicationOf } from './part.js'
import { publishFunctions } from '../support/published.js'

const ANY = { least: 0, share: 0.9 }
const [OLD, NEW] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']

/** A box around columns and rows of a zoom. */
function box (z, first, last) {
  const [[west, , , north], [, south, east]] = [tileBounds(z, first, first), tileBounds(z, last, last)]
  return [west + 1e-6, south + 1e-6, east - 1e-6, north - 1e-6]
}

onEachStore('The initial fill of a new mirror', backend => {
  let from, to, store

  async function load (side) {
    from = await backend.database()
    store = await Store.create(from)
    await store.defineLayer('osm', { name: 'Map' })
    await store.defineLayer('day')
    await store.putEdition('osm', NEW, { title: 'new' })
    await store.putStyle('osm',
      { time: OLD, digest: 'x', style: { version: 8, sources: {}, layers: [] }, files: {
        'sprite.json': { type: 'application/json', bytes: Buffer.from('{}') }
      } })
    await store.write(square({ layer: 'osm', z: 6, time: OLD, side, seed: (x, y) => x + y }))
    await store.write(square({ layer: 'osm', z: 6, time: NEW, side, seed: (x, y) => x % 3 ? x + y + 1 : null }))
    await store.write(square({ layer: 'day', z: 6, time: OLD, side: 2, seed: (x, y) => x + y }))
    await publishFunctions(store)
    await warmIndexes(store)
  }

  beforeEach(async () => { to = await backend.database() })

  /** Documents that differ from those of a mirror that read the whole feed. */
  async function unlikeTheFeed (wanted) {
    const other = await backend.database()
    await (await replicationOf(from, other, wanted)).run()
    const lists =
      await Promise.all([to, other].map(async url => (await documentsOf(url)).map(({ _id, _rev }) => `${_id} ${_rev}`)))
    assert.ok(lists[1].length > 3)
    assert.deepEqual(lists[0], lists[1])
    const ids = new Set((await documentsOf(other)).map(({ _id }) => _id))
    return differences(from, to, { selects: id => ids.has(id) })
  }

  it('copies the same documents as the change feed for every kind of selection', async () => {
    await load(8)
    for (const [name, wanted] of Object.entries({
      'an area': { bbox: box(6, 3, 5) },
      'an area, since a time': { bbox: box(6, 3, 5), since: '2023-06' },
      'an area, now': { bbox: box(6, 3, 5), current: true },
      'a layer, and one that is not there': { layers: ['day', 'other'] },
      'some zooms': { zooms: { min: 6, max: 9 } },
      'a polygon': {
        polygon: parseArea(
          { polygon: { type: 'Polygon', coordinates: [[[-179, 84], [-150, 84], [-179, 80], [-179, 84]]] } }
        )
      }
    })) {
      to = await backend.database()
      const status = await (await replicationOf(from, to, wanted, { shortcut: ANY })).run()
      const { update_seq: newest, doc_count: documents } = await json(from)
      assert.ok(parseInt(status.since) >= parseInt(newest), `${name}: it goes on from where the source was`)
      if (!wanted.zooms) {
        assert.ok(status.changes < documents, `${name}: ${status.changes} of ${documents} were looked at`)
      }
      assert.deepEqual(await unlikeTheFeed(wanted), [], name)
    }
  }).timeout(60000)

  it('needs the same requests for an area in a larger store', async () => {
    const counts = []
    for (const side of [8, 14]) {
      await load(side)
      const asked = []
      const replication = await replicationOf(from, await backend.database(),
        { bbox: box(6, 3, 5) }, { shortcut: ANY, onRequest: ({ path }) => { asked.push(path) } })
      const { changes, docs } = await replication.run()
      counts.push({ requests: asked.filter(path => !path.startsWith('_local')).length, changes, docs })
    }
    assert.deepEqual(counts[0], counts[1])
    assert.equal(counts[0].docs, 18 + 5, 'two versions of nine tiles, two layers, an edition, a style, the store')
  }).timeout(60000)

  it('copies changes that are made during it and after it', async () => {
    await load(8)
    const stop = new AbortController()
    let changed = 0
    const replication = await replicationOf(from, to, { bbox: box(6, 3, 5) }, {
      live: true,
      signal: stop.signal,
      shortcut: { ...ANY, page: 5 },
      async onRequest ({ path }) {
        if (path !== '_bulk_get' || changed++ > 3) return
        const [x, y, time] = [2 + changed, 3, `2024-0${changed + 1}-01T00:00:00Z`]
        const stored = new Store(store.couch)
        await stored.write(
          [{ layer: 'osm', z: 6, x, y, time, gone: true },
            { layer: 'osm', z: 6, x: 5, y: 5, time: `201${changed}-01-01T00:00:00Z`, gone: false, bytes: square(
              { layer: 'osm', time, side: 1, seed: () => changed }
            )[0].bytes }]
        )
        const doomed = (await documentsOf(from)).find(({ _id: id }) => id === `osm:6:4:${3 + changed}`)
        if (doomed) await store.couch.bulk([{ _id: doomed._id, _rev: doomed._rev, _deleted: true }])
      }
    })
    const running = replication.run().catch(error => error)
    try {
      await caughtUp(replication, from)
      assert.ok(changed > 3)
      assert.deepEqual(await unlikeTheFeed({ bbox: box(6, 3, 5) }), [])
      await store.write([{ layer: 'osm', z: 6, x: 3, y: 3, time: '2025-01-01T00:00:00Z', gone: true }])
      await caughtUp(replication, from)
      assert.deepEqual(await unlikeTheFeed({ bbox: box(6, 3, 5) }), [])
    } finally {
      stop.abort()
      const ended = await running
      assert.equal(ended.code, 'ABORTED', ended.stack)
    }
  }).timeout(60000)

  it('continues after an interruption, copies nothing twice and applies deletions', async () => {
    await load(8)
    const wanted = { bbox: box(6, 1, 6) }
    let reads = 0
    const broken = await replicationOf(from, to, wanted, {
      shortcut: { ...ANY, page: 10, pages: 1 },
      onRequest ({ path, qs }) {
        if (path === '_bulk_get' && qs?.attachments && ++reads > 3) {
          throw Object.assign(new Error('cut'), { code: 'CUT' })
        }
      }
    })
    await assert.rejects(broken.run(), { code: 'CUT' })
    const first = broken.status()
    assert.ok(first.docs > 0)
    const [head] = (await documentsOf(to)).filter(({ current }) => current)
    await store.couch.bulk([{ _id: head._id, _rev: head._rev, _deleted: true }])
    const asked = []
    const again = await replicationOf(from, to, wanted, {
      shortcut: { ...ANY, page: 10 }, onRequest: ({ path, qs }) => { if (path === '_changes') asked.push(qs.since) }
    })
    const second = await again.run()
    assert.ok(parseInt(asked[0]) > 0, 'the feed is not read from its beginning')
    assert.equal(second.deleted, 1, 'what was deleted meanwhile is deleted')
    assert.equal(first.docs + second.docs, 2 * 36 + 1 + 5 + 1,
      'tiles of two layers, what describes them, and the tombstone')
    assert.ok(!(await documentsOf(to)).some(({ _id: id }) => id === head._id))
    // a mirror that never had a document need not know that it is deleted
    assert.deepEqual(await unlikeTheFeed(wanted), [`${head._id} should not be there`])
  }).timeout(60000)

  it('fails if the source is away when the start of the fill is noted there', async () => {
    await load(4)
    let notes = 0
    const replication = await replicationOf(from, to, { bbox: box(6, 1, 2) }, {
      shortcut: ANY,
      onRequest ({ method, path }) {
        if (method === 'PUT' && /begin/.test(path) && !notes++) throw Object.assign(new Error('away'), { code: 'AWAY' })
      }
    })
    await assert.rejects(replication.run(), { code: 'AWAY' })
  }).timeout(60000)

  it('is not used for a filled target, a small store, a large selection or a missing index', async () => {
    await load(8)
    const since = async (wanted, shortcut, url = to) => {
      const asked = []
      await (await replicationOf(from, url, wanted,
        { shortcut, onRequest: ({ path, qs }) => { if (path === '_changes') asked.push(parseInt(qs.since)) } })).run()
      return asked[0]
    }
    const wanted = { bbox: box(6, 3, 5) }
    assert.equal(await since(wanted, {}, await backend.database()), 0, 'a small store')
    assert.equal(await since(wanted, { ...ANY, share: 0.05 }, await backend.database()), 0, 'a large part of it')
    assert.equal(await since({}, ANY, await backend.database()), 0, 'all of it')
    assert.ok(await since(wanted, ANY) > 0)
    assert.ok(await since(wanted, ANY) > 0, 'it goes on from its checkpoint')
    // somebody's tile that was deleted at the source long ago
    const other = await backend.database()
    await request(other, { method: 'PUT' })
    await request(`${other}/osm:6:4:4`, { method: 'PUT', body: '{}' })
    assert.equal(await since(wanted, ANY, other), 0, 'something is there')

    const { _rev: rev } = await json(`${from}/_design/versions`)
    await request(`${from}/_design/versions?rev=${rev}`, { method: 'DELETE' })
    assert.equal(await since(wanted, ANY, to = await backend.database()), 0, 'no index')
    assert.deepEqual(await unlikeTheFeed(wanted), [])
  }).timeout(60000)
})
