// The documented way to correct an edition is to remove it and to load it again for the same time. A mirror that did
// not look in between gets the new images of it, whoever replicates: versions of one time are told apart by their
// bytes.
import assert from 'node:assert/strict'
import { mirror, publish, removeEdition, removeTiles } from '../../loader/index.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { square } from '../support/tiles.js'
import { PouchDB } from '../support/client/pouches.js'
import { until } from '../../bench/wait.js'
import { differences, theirs } from './compare.js'
import { follow } from '../support/bad-lines.js'

const [T1, T2] = ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z']

onEachStore('an edition that was removed and loaded again, corrected', backend => {
  const withoutDesigns = { filter: ({ _id: id }) => !id.startsWith('_design/') }
  const replicators = {
    'tilecouch mirror': (from, to) => mirror(from, to),
    'PouchDB.replicate': (from, to) => PouchDB.replicate(from, to, withoutDesigns),
    ...(backend.name === 'CouchDB' &&
      { 'the replicator of CouchDB': async (from, to) => theirs(await backend.url(), from, to) })
  }
  const load = async (store, time, seed) => {
    const { failures } = await store.write(square({ layer: 'osm', time, side: 3, seed: (x, y) => seed + 3 * x + y }))
    assert.deepEqual(failures, [])
    await store.putEdition('osm', time, { title: time })
  }

  for (const [name, replicate] of Object.entries(replicators)) {
    describe(`copied by ${name}`, () => {
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

      const arrives = async () => {
        await replicate(from, to)
        assert.deepEqual(
          await differences(from, to, { revpos: backend.name === 'CouchDB' && name !== 'PouchDB.replicate' }), []
        )
      }

      it('arrives if it is older than the newest edition', async () => {
        await removeEdition(store, 'osm', T1)
        await load(store, T1, 200)
        await arrives()
      })

      it('arrives if it is the newest edition', async () => {
        await removeEdition(store, 'osm', T2)
        await load(store, T2, 200)
        await arrives()
      })

      it('arrives after all versions of its tiles were removed', async () => {
        await removeTiles(store, 'osm', { zooms: { min: 0, max: 30 } })
        await load(store, T1, 200)
        await load(store, T2, 300)
        await arrives()
      })

      it('arrives after two corrections', async () => {
        for (const seed of [200, 300]) {
          await removeEdition(store, 'osm', T1)
          await load(store, T1, seed)
        }
        await arrives()
      })
    })
  }

  it('reaches a live mirror after several corrections', async () => {
    const [from, to] = [await backend.database(), await backend.database()]
    const store = await Store.create(from)
    await store.defineLayer('osm', { format: 'png' })
    await load(store, T1, 0)
    await load(store, T2, 100)
    await publish(store)
    await mirror(from, to)
    const live = follow(from, to)
    try {
      await until(() => live.is('following'), { what: 'following' })
      for (const seed of [200, 300, 400]) {
        await removeEdition(store, 'osm', T1)
        await load(store, T1, seed)
      }
      await until(async () => live.is('following') && !(
        await differences(from, to, { revpos: backend.name === 'CouchDB' })
      ).length, { timeout: 20000, what: 'the correction' })
      assert.deepEqual([live.status().lacking, live.status().refused], [0, 0])
    } finally {
      await live.stop()
    }
  })
})
