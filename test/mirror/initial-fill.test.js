// The initial fill of a mirror of a part: it copies the same documents as the change feed, with fewer requests.
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

/** The bounding box of the columns and rows `first` to `last` of a zoom. */
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

  /** Compares `to` with a mirror that read the whole change feed, and lists its differences from the source. */
  async function compareWithFeedMirror (selection) {
    const feedMirror = await backend.database()
    await (await replicationOf(from, feedMirror, selection)).run()
    const lists = await Promise.all([to, feedMirror].map(async url =>
      (await documentsOf(url)).map(({ _id, _rev }) => `${_id} ${_rev}`)))
    assert.ok(lists[1].length > 3)
    assert.deepEqual(lists[0], lists[1])
    const ids = new Set((await documentsOf(feedMirror)).map(({ _id }) => _id))
    return differences(from, to, { selects: id => ids.has(id) })
  }

  it('copies the same documents as the change feed for every kind of selection', async () => {
    await load(8)
    for (const [name, selection] of Object.entries({
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
      const status = await (await replicationOf(from, to, selection, { shortcut: ANY })).run()
      const { update_seq: newest, doc_count: documents } = await json(from)
      assert.ok(parseInt(status.since) >= parseInt(newest), `${name}: it goes on from where the source was`)
      if (!selection.zooms) {
        assert.ok(status.changes < documents, `${name}: ${status.changes} of ${documents} were looked at`)
      }
      assert.deepEqual(await compareWithFeedMirror(selection), [], name)
    }
  }).timeout(60000)

  it('needs the same requests for an area in a larger store', async () => {
    const counts = []
    for (const side of [8, 14]) {
      await load(side)
      const requestedPaths = []
      const replication = await replicationOf(from, await backend.database(),
        { bbox: box(6, 3, 5) }, { shortcut: ANY, onRequest: ({ path }) => { requestedPaths.push(path) } })
      const { changes, docs } = await replication.run()
      counts.push({ requests: requestedPaths.filter(path => !path.startsWith('_local')).length, changes, docs })
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
        const otherStore = new Store(store.couch)
        await otherStore.write(
          [{ layer: 'osm', z: 6, x, y, time, gone: true },
            { layer: 'osm', z: 6, x: 5, y: 5, time: `201${changed}-01-01T00:00:00Z`, gone: false, bytes: square(
              { layer: 'osm', time, side: 1, seed: () => changed }
            )[0].bytes }]
        )
        const headToDelete = (await documentsOf(from)).find(({ _id: id }) => id === `osm:6:4:${3 + changed}`)
        if (headToDelete) await store.couch.bulk([{ _id: headToDelete._id, _rev: headToDelete._rev, _deleted: true }])
      }
    })
    const running = replication.run().catch(error => error)
    try {
      await caughtUp(replication, from)
      assert.ok(changed > 3)
      assert.deepEqual(await compareWithFeedMirror({ bbox: box(6, 3, 5) }), [])
      await store.write([{ layer: 'osm', z: 6, x: 3, y: 3, time: '2025-01-01T00:00:00Z', gone: true }])
      await caughtUp(replication, from)
      assert.deepEqual(await compareWithFeedMirror({ bbox: box(6, 3, 5) }), [])
    } finally {
      stop.abort()
      const ended = await running
      assert.equal(ended.code, 'ABORTED', ended.stack)
    }
  }).timeout(60000)

  it('continues after an interruption, copies nothing twice and applies deletions', async () => {
    await load(8)
    const selection = { bbox: box(6, 1, 6) }
    let reads = 0
    const interrupted = await replicationOf(from, to, selection, {
      shortcut: { ...ANY, page: 10, pages: 1 },
      onRequest ({ path, qs }) {
        if (path === '_bulk_get' && qs?.attachments && ++reads > 3) {
          throw Object.assign(new Error('cut'), { code: 'CUT' })
        }
      }
    })
    await assert.rejects(interrupted.run(), { code: 'CUT' })
    const firstStatus = interrupted.status()
    assert.ok(firstStatus.docs > 0)
    const [head] = (await documentsOf(to)).filter(({ current }) => current)
    await store.couch.bulk([{ _id: head._id, _rev: head._rev, _deleted: true }])
    const starts = []
    const resumed = await replicationOf(from, to, selection, {
      shortcut: { ...ANY, page: 10 }, onRequest: ({ path, qs }) => { if (path === '_changes') starts.push(qs.since) }
    })
    const secondStatus = await resumed.run()
    assert.ok(parseInt(starts[0]) > 0, 'the feed is not read from its beginning')
    assert.equal(secondStatus.deleted, 1, 'what was deleted meanwhile is deleted')
    assert.equal(firstStatus.docs + secondStatus.docs, 2 * 36 + 1 + 5 + 1,
      'tiles of two layers, what describes them, and the tombstone')
    assert.ok(!(await documentsOf(to)).some(({ _id: id }) => id === head._id))
    // the feed mirror never had the deleted document, so it has no tombstone of it
    assert.deepEqual(await compareWithFeedMirror(selection), [`${head._id} should not be there`])
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
    const readStart = async (selection, shortcut, url = to) => {
      const starts = []
      await (await replicationOf(from, url, selection,
        { shortcut, onRequest: ({ path, qs }) => { if (path === '_changes') starts.push(parseInt(qs.since)) } })).run()
      return starts[0]
    }
    const selection = { bbox: box(6, 3, 5) }
    assert.equal(await readStart(selection, {}, await backend.database()), 0, 'a small store')
    assert.equal(await readStart(selection, { ...ANY, share: 0.05 }, await backend.database()), 0, 'a large part of it')
    assert.equal(await readStart({}, ANY, await backend.database()), 0, 'all of it')
    assert.ok(await readStart(selection, ANY) > 0)
    assert.ok(await readStart(selection, ANY) > 0, 'it goes on from its checkpoint')
    // the target has a tile of another program
    const filledTarget = await backend.database()
    await request(filledTarget, { method: 'PUT' })
    await request(`${filledTarget}/osm:6:4:4`, { method: 'PUT', body: '{}' })
    assert.equal(await readStart(selection, ANY, filledTarget), 0, 'something is there')

    const { _rev: rev } = await json(`${from}/_design/versions`)
    await request(`${from}/_design/versions?rev=${rev}`, { method: 'DELETE' })
    assert.equal(await readStart(selection, ANY, to = await backend.database()), 0, 'no index')
    assert.deepEqual(await compareWithFeedMirror(selection), [])
  }).timeout(60000)
})
