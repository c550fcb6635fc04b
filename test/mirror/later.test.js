// A mirror after its first fill, run again or live: it continues at its checkpoint and copies later changes. Tiles that
// were deleted and loaded again for the same time arrive with their new images: their versions are compared by bytes.
import assert from 'node:assert/strict'
import { Store, mirror, removeEdition, removeTiles } from '../../loader/index.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { json, onEachStore, request } from '../support/backends.js'
import { png, square } from '../support/tiles.js'
import { PouchDB } from '../support/client/pouches.js'
import { T1, T2, createLargeOrigin, limits, replication, whileFollowing } from '../support/bad-lines.js'
import { differences, theirs } from './compare.js'
import { startLink } from './link.js'
import { documentsOf } from './part.js'
import { publishFunctions } from '../support/published.js'

const small = { page: 20, pages: 2, batch: 5, smallBytes: 1, concurrency: 2, checkpoint: 0 }

onEachStore('a mirror that is run again', backend => {
  it('goes on where it was stopped, and writes nothing twice', async () => {
    const [from, to] = [await backend.database(), await backend.database()]
    const runMirror = async (...options) => replication(from, to, ...options).run()
    await createLargeOrigin(from, { count: 300, size: 500 })
    await request(to, { method: 'PUT' })
    const totalDocs = (await runMirror({ dryRun: true })).missing
    let docs = 0
    let changes = 0
    for (let stopped = true; stopped;) {
      const stop = new AbortController()
      const stopAt = docs + 60
      const status = await runMirror({
        limits: small, signal: stop.signal, onProgress: progress => { if (docs + progress.docs >= stopAt) stop.abort() }
      }).catch(error => {
        assert.equal(error.code, 'ABORTED')
        return error.status
      })
      docs += status.docs
      changes += status.changes
      stopped = stop.signal.aborted && docs < totalDocs
    }
    // a batch that was in flight at the stop may be stored without being counted
    assert.ok(docs <= totalDocs, `${docs} of ${totalDocs}`)
    assert.ok(changes < 2.5 * totalDocs, `${changes} changes for ${totalDocs} documents`)
    assert.deepEqual(await differences(from, to), [])
    const { docs: laterDocs, changes: laterChanges, checked } = await runMirror()
    assert.deepEqual([laterDocs, laterChanges, checked], [0, 0, 0], 'nothing is read again when nothing changed')
  })
}, { timeout: 60000 })

const tile = (x, time, seed = x) => ({ layer: 'osm', z: 8, x, y: 1, time, bytes: png(seed) })
const quickLimits = { ...limits, checkpoint: 100, heartbeat: 200 }

onEachStore('a live mirror', backend => {
  let from, to, store

  beforeEach(async () => {
    from = await backend.database()
    to = await backend.database()
    store = await Store.create(from)
    await store.defineLayer('osm', { format: 'png' })
    await store.write([0, 1, 2, 3].map(x => tile(x, T1)))
    await request(to, { method: 'PUT' })
  })

  const has = async id => (await request(`${to}/${encodeURIComponent(id)}`)).status === 200

  it('gets new tiles, new versions, deletions and later versions', async () => {
    await whileFollowing(from, to, { limits: quickLimits }, async live => {
      await store.write([tile(9, T1)])
      await until(() => has('osm:8:9:1'))
      await store.write([tile(9, T2, 90)])
      await until(() => has(`osm:8:9:1@${T1}`))
      const { _rev: rev } = await json(`${from}/osm%3A8%3A0%3A1`)
      await request(`${from}/osm%3A8%3A0%3A1?rev=${rev}`, { method: 'DELETE' })
      await until(async () => !await has('osm:8:0:1'))
      await store.write([tile(0, T2, 50)])
      await until(() => has('osm:8:0:1'))
      await until(() => live.status().lag === 0)
      assert.deepEqual(await differences(from, to), [])
    })
  })

  it('gets a change at once, not at the next poll', async () => {
    await whileFollowing(from, to, { limits: { ...quickLimits, poll: 60000 } }, async () => {
      const began = performance.now()
      await store.write([tile(7, T1)])
      await until(() => has('osm:8:7:1'))
      assert.ok(performance.now() - began < 8000 * TIME_FACTOR)
    })
  })

  it('writes its state to the target', async () => {
    const link = await startLink(from)
    const about = { from: 'there', to: 'here', live: true }
    await whileFollowing(link.url, to, { limits: quickLimits, about }, async live => {
      const written = async () => json(`${to}/_local/${live.status().checkpoint}`)
      await until(async () => live.is('following') && (await written()).state === 'following')
      const { noted, up_to_date: upToDate, live: isLive, history } = await written()
      assert.ok(isLive && history.length && noted >= upToDate)
      await until(async () => (await written()).noted > noted) // the note is renewed even if nothing changes
      await link.cut()
      await until(async () => (await written()).error === 'UNREACHABLE')
      assert.equal((await written()).state, 'away')
    }).finally(() => link.close())
  })
})

onEachStore('A mirror of tiles that were deleted and loaded again', backend => {
  const tiles = seed => square({ layer: 'osm', time: T1, side: 6, seed: (x, y) => seed + 6 * x + y })
  let from, to, store
  const runMirror = async () => replication(from, to).run()

  beforeEach(async () => {
    [from, to] = [await backend.database(), await backend.database()]
    store = await Store.create(from)
    await store.write(tiles(0))
    await request(to, { method: 'PUT' })
    await runMirror()
  })

  for (const isSeen of [false, true]) {
    it(`has the new images, ${isSeen ? 'after it saw' : 'even if it did not read'} the deletions`, async () => {
      const oldTiles = (await documentsOf(from)).filter(({ type }) => type === 'tile')
      await store.couch.bulk(oldTiles.map(({ _id, _rev }) => ({ _id, _rev, _deleted: true })))
      if (isSeen) await runMirror()
      await store.write(tiles(100))
      await runMirror()
      assert.deepEqual(await differences(from, to), [])
    })
  }

  it('copies changed fields without the image that it has', async () => {
    await store.extend(tiles(0).map(({ x, y }) => ({ id: `osm:5:${x}:${y}`, expires: '2099-01-01T00:00:00Z' })))
    const { docs, bytes } = await runMirror()
    assert.equal(docs, 36)
    // the embedded store sets revpos anew when bytes arrive
    assert.deepEqual(await differences(from, to, { revpos: backend.name === 'CouchDB' }), [])
    if (backend.name === 'CouchDB') assert.ok(bytes < 36 * 1000, `${bytes} bytes`)
  })
})

const load = async (store, time, seed) => {
  const { failures } = await store.write(square({ layer: 'osm', time, side: 3, seed: (x, y) => seed + 3 * x + y }))
  assert.deepEqual(failures, [])
  await store.putEdition('osm', time, { title: time })
}
/** Removes an edition and loads it again for the same time, as the documentation says. */
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
    await publishFunctions(store)
    await mirror(from, to)
  })

  for (const [name, replicate] of Object.entries(replicators)) {
    for (const [correction, applyCorrection] of Object.entries(corrections)) {
      it(`${correction} arrives by ${name}`, async () => {
        await applyCorrection(store)
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
