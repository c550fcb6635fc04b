// Tiles that were deleted and loaded again, for the same time, arrive at a mirror with their new images: versions of
// one time are told apart by their bytes.
import assert from 'node:assert/strict'
import { Store, mirror, publish, removeEdition, removeTiles } from '../../loader/index.js'
import { until } from '../../bench/wait.js'
import { onEachStore, request } from '../support/backends.js'
import { square } from '../support/tiles.js'
import { PouchDB } from '../support/client/pouches.js'
import { T1, T2, replication, whileFollowing } from '../support/bad-lines.js'
import { differences, theirs } from './compare.js'
import { documentsOf } from './part.js'

onEachStore('A mirror of tiles that were deleted and loaded again', backend => {
  const tiles = seed => square({ layer: 'osm', time: T1, side: 6, seed: (x, y) => seed + 6 * x + y })
  let from, to, store
  const mirrored = async () => replication(from, to).run()

  beforeEach(async () => {
    [from, to] = [await backend.database(), await backend.database()]
    store = await Store.create(from)
    await store.write(tiles(0))
    await request(to, { method: 'PUT' })
    await mirrored()
  })

  for (const isSeen of [false, true]) {
    it(`has the new images, ${isSeen ? 'after it saw' : 'even if it did not read'} the deletions`, async () => {
      const old = (await documentsOf(from)).filter(({ type }) => type === 'tile')
      await store.couch.bulk(old.map(({ _id, _rev }) => ({ _id, _rev, _deleted: true })))
      if (isSeen) await mirrored()
      await store.write(tiles(100))
      await mirrored()
      assert.deepEqual(await differences(from, to), [])
    })
  }

  it('copies changed fields without the image that it has', async () => {
    await store.extend(tiles(0).map(({ x, y }) => ({ id: `osm:5:${x}:${y}`, expires: '2099-01-01T00:00:00Z' })))
    const { docs, bytes } = await mirrored()
    assert.equal(docs, 36)
    // the embedded store counts anew when bytes come
    assert.deepEqual(await differences(from, to, { revpos: backend.name === 'CouchDB' }), [])
    if (backend.name === 'CouchDB') assert.ok(bytes < 36 * 1000, `${bytes} bytes`)
  })
})

const load = async (store, time, seed) => {
  const { failures } = await store.write(square({ layer: 'osm', time, side: 3, seed: (x, y) => seed + 3 * x + y }))
  assert.deepEqual(failures, [])
  await store.putEdition('osm', time, { title: time })
}
/** As documented: the edition is removed, and loaded again for the same time. */
const correct = async (store, time, seed) => {
  await removeEdition(store, 'osm', time)
  await load(store, time, seed)
}
const corrections = {
  'of an older edition': store => correct(store, T1, 200),
  'of the newest edition': store => correct(store, T2, 200),
  'of editions whose tiles were all removed': async store => {
    await removeTiles(store, 'osm', { zooms: { min: 0, max: 30 } })
    await load(store, T1, 200)
    await load(store, T2, 300)
  },
  'that was corrected itself': async store => {
    for (const seed of [200, 300]) await correct(store, T1, seed)
  }
}

onEachStore('a correction that a mirror did not see being made', backend => {
  const withoutDesigns = { filter: ({ _id: id }) => !id.startsWith('_design/') }
  const replicators = {
    'tilecouch mirror': (from, to) => mirror(from, to),
    'PouchDB.replicate': (from, to) => PouchDB.replicate(from, to, withoutDesigns),
    ...(backend.name === 'CouchDB' &&
      { 'the replicator of CouchDB': async (from, to) => theirs(await backend.url(), from, to) })
  }
  let from, to, store

  beforeEach(async () => {
    [from, to] = [await backend.database(), await backend.database()]
    store = await Store.create(from)
    await store.defineLayer('osm', { format: 'png' })
    await load(store, T1, 0)
    await load(store, T2, 100)
    await publish(store)
    await mirror(from, to)
  })

  for (const [name, replicate] of Object.entries(replicators)) {
    for (const [what, make] of Object.entries(corrections)) {
      it(`${what} arrives by ${name}`, async () => {
        await make(store)
        await replicate(from, to)
        const revpos = backend.name === 'CouchDB' && name !== 'PouchDB.replicate'
        assert.deepEqual(await differences(from, to, { revpos }), [])
      })
    }
  }

  it('reaches a live mirror after several others', () => whileFollowing(from, to, {}, async live => {
    for (const seed of [200, 300, 400]) await correct(store, T1, seed)
    await until(async () => live.is('following') && !(
      await differences(from, to, { revpos: backend.name === 'CouchDB' })
    ).length, { timeout: 20000, what: 'the correction' })
    assert.deepEqual([live.status().lacking, live.status().refused], [0, 0])
  }))
})
