// Purging on a real CouchDB: nothing is left, indexes follow, and whoever was away knows that it does not know.
import assert from 'node:assert/strict'
import { compact, sizesOf } from '../../loader/maintain/compact.js'
import { Store, removeEdition, removeLayer, removeTiles } from '../../loader/index.js'
import { Follower } from '../../loader/store/follow.js'
import { Couch } from '../../loader/store/couch.js'
import { until } from '../../bench/wait.js'
import { as, backends, json, onEachStore } from '../support/backends.js'
import { withPeople } from '../support/people.js'
import { HISTORY, T, historyOf, storeOf, useStage, versionsOf, without } from '../support/removals.js'

const limits = { heard: 0 }
const couchDb = backends.find(({ name }) => name === 'CouchDB')
const suite = couchDb ? describe : describe.skip
const manyTiles = (count, yearsOf) => Object.fromEntries(
  Array.from({ length: count }, (_, at) => [`${at % 16}/${Math.floor(at / 16)}`, yearsOf(at)]))

suite('purging', () => {
  let store, url, follower
  useStage(couchDb, stage => ({ store, url } = stage))
  afterEach(() => follower?.close())

  const follow = async (position, more) => {
    const told = { deleted: [], resets: 0 }
    follower = new Follower(store, {
      position, limits: { firstDelay: 10, longestDelay: 50, ...more }, onReset: () => told.resets++,
      onChange: ({ id, deleted }) => { if (deleted) told.deleted.push(id) }
    })
    await follower.start()
    await until(() => follower.state.up)
    return told
  }

  it('leaves no trace in the changes and in the indexes', async () => {
    const tally = await removeEdition(store, 'osm', T(2022), { purge: true, limits })
    assert.deepEqual([tally.versions, tally.fallen, tally.heads, tally.changed, tally.refused], [5, 4, 1, 0, 0])
    // a head that went, and the edition: what other heads fell back to stays where it is
    assert.equal(tally.purged, 2)
    const { results } = await json(`${url}/_changes`)
    const left = results.filter(({ deleted }) => deleted).map(({ id }) => id).filter(id => id.includes('osm'))
    assert.deepEqual(left, [])
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2022'))
    const stats = await store.stats('osm')
    const fallen = 4 // what they fell back to stands in the past as well, and is counted there
    assert.deepEqual([stats.versions, stats.last],
      [[...versionsOf(without(HISTORY, (tile, year) => year === '2022'))].length + fallen, T(2021)])
    assert.equal((await store.info()).doc_del_count, 0)
  })

  it('is not in the change feed, but the deletion before it is', async () => {
    const told = await follow()
    const before = told.resets
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 4 }], purge: true, limits: { ...limits, heard: 300 } })
    await until(() => told.deleted.length >= 3)
    assert.deepEqual([told.deleted.sort(), told.resets - before],
      [['osm:4:1:4', `osm:4:1:4@${T(2020)}`, `osm:4:1:4@${T(2021)}`], 0])
  })

  it('resets a follower that returns after it, but a deletion does not', async () => {
    await follow()
    const { position } = follower
    await follower.close()
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 1 }], limits })
    assert.equal((await follow(position)).resets, 0)
    await until(() => follower.state.changes > 0)
    const { position: later } = follower
    await follower.close()
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 2 }], purge: true, limits })
    assert.equal((await follow(later)).resets, 2, 'it loses its place, and finds another')
  })

  it('resets a follower that stays connected', async () => {
    const told = await follow(undefined, { renew: 200 })
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 1 }], limits })
    await until(() => told.deleted.length > 0)
    await until(() => follower.state.connections > 3)
    assert.equal(told.resets, 1, 'it looks again and again, and forgets nothing')
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 2 }], purge: true, limits })
    await until(() => told.resets === 3, { what: 'the purge to be noticed' })
  })

  it('is done in batches, and reaches indexes that were behind, even when they are compacted at once', async () => {
    await store.write(versionsOf(manyTiles(120, at => ({ 2020: at % 50, 2021: (at + 1) % 50 })), 'other'))
    const { purged } = await removeLayer(store, 'other', { purge: true, limits })
    assert.equal(purged, 240)
    const { results } = await json(`${url}/_changes`)
    assert.deepEqual(results.filter(({ id }) => id.startsWith('other')), [])
    await store.write(versionsOf(manyTiles(100, at => ({ 2020: at % 50 })), 'other'))
    await store.stats('other')
    const only = Array.from({ length: 40 }, (_, at) => ({ z: 4, x: at % 16, y: Math.floor(at / 16) }))
    await removeTiles(store, 'other', { only, purge: true, limits })
    await compact(store, { when: 'always', limits: { begin: 300, poll: 50 } })
    assert.equal((await store.stats('other')).versions, 60)
  }).timeout(60000)
})

withPeople('a user who is not an admin', start => {
  it('neither purges nor compacts, and a refused purge deletes nothing', async () => {
    const people = await start()
    try {
      const { database, writer: [name, password] } = people
      const store = await storeOf(database)
      const own = await Store.open(as(database, name, password))
      await assert.rejects(removeEdition(own, 'osm', T(2022), { purge: true, limits }),
        error => /FORBIDDEN|UNAUTHORIZED|PURGE_UNSUPPORTED/.test(error.code))
      assert.deepEqual(await historyOf(database), HISTORY)
      const { done, why } = await compact(own, { when: 'always' })
      assert.deepEqual([done, why], [false, 'only an admin may compact'])
      assert.equal((await removeEdition(own, 'osm', T(2022), { limits })).versions, 5, 'a writer removes')
      await store.destroy()
    } finally {
      await people.close()
    }
  }).timeout(60000)
})

onEachStore('a removal that is stopped between the deletion and the purge', backend => {
  it('is completed by the next removal with a purge', async () => {
    const url = await backend.database()
    await storeOf(url)
    // notes what is purged; the embedded store only plays it. isKilled: at the purge
    const purging = isKilled => {
      const store = new Store(new Couch(url))
      const { request } = store.couch
      const ids = []
      store.couch.request = async function (asked) {
        if (asked.path !== '_purge') return request.call(store.couch, asked)
        ids.push(...Object.keys(asked.body))
        if (ids.length && isKilled) throw new Error('killed')
        return backend.name === 'CouchDB' ? request.call(store.couch, asked) : { purged: asked.body }
      }
      return { store, ids }
    }
    await assert.rejects(removeLayer(purging(true).store, 'osm', { purge: true, limits }), { message: 'killed' })
    const planned = await removeLayer(purging(false).store, 'osm', { purge: true, dryRun: true, limits })
    const { store, ids } = purging(false)
    const { unpurged, purged } = await removeLayer(store, 'osm', { purge: true, limits })
    assert.deepEqual([planned.unpurged, purged], [unpurged, unpurged])
    for (const id of ['layer:osm', 'osm:4:1:4', `osm:4:1:4@${T(2020)}`]) assert.ok(ids.includes(id), id)
    if (backend.name === 'CouchDB') assert.equal((await store.info()).doc_del_count, 0)
    await assert.rejects(removeLayer(purging(false).store, 'osm', { purge: true, limits }), { code: 'LAYER_NOT_FOUND' })
    await store.destroy()
  }).timeout(60000)
})

onEachStore('compacting', backend => {
  it('frees disk space, waits for its end, and reports how much', async () => {
    const url = await backend.database()
    const store = await storeOf(url)
    await store.write(versionsOf(manyTiles(256, at => ({ 2020: 1 + at % 50 })), 'other'))
    await store.stats('other')
    await removeLayer(store, 'other', { limits })
    const little = await compact(store)
    assert.deepEqual([little.done, little.why], [false, 'there is too little to be had'])
    assert.equal((await compact(store, { when: 'never' })).done, false)
    const waiting = { begin: 200, poll: 50 }
    const { before, after, done } = await compact(store, backend.name === 'CouchDB'
      ? { limits: { slack: 1000, ratio: 1.1, ...waiting } } : { when: 'always', limits: waiting })
    assert.equal(done, true)
    if (backend.name === 'CouchDB') {
      assert.ok(after.file < before.file - 200_000, `${before.file} -> ${after.file}: what stays is the viewer`)
      assert.ok(after.views.file < before.views.file, `${before.views.file} -> ${after.views.file}`)
      assert.deepEqual(await sizesOf(store), after)
    }
    assert.deepEqual(await historyOf(url), HISTORY)
    await store.destroy()
  }).timeout(60000)
})
