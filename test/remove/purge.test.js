// Purging on a real CouchDB: no documents are left, indexes follow, and followers that missed the purge are reset.
import assert from 'node:assert/strict'
import { compact, sizesOf } from '../../loader/maintain/compact.js'
import { Store, removeEdition, removeLayer, removeTiles } from '../../loader/index.js'
import { Follower } from '../../loader/store/follow.js'
import { Couch } from '../../loader/store/couch.js'
import { until } from '../../bench/wait.js'
import { as, backends, json, onEachStore } from '../support/backends.js'
import { withPeople } from '../support/people.js'
import { HISTORY, historyOf, storeOf, useStage, versionsOf, without } from '../support/removals.js'
import { yearStart } from '../support/tiles.js'

const limits = { heard: 0 }
const couchDb = backends.find(({ name }) => name === 'CouchDB')
const suite = couchDb ? describe : describe.skip
const manyTiles = (count, yearsOf) => Object.fromEntries(
  Array.from({ length: count }, (_, index) => [`${index % 16}/${Math.floor(index / 16)}`, yearsOf(index)]))

suite('purging', () => {
  let store, url, follower
  useStage(couchDb, stage => ({ store, url } = stage))
  afterEach(() => follower?.close())

  const follow = async (position, more) => {
    const events = { deleted: [], resets: 0 }
    follower = new Follower(store, {
      position, limits: { firstDelay: 10, longestDelay: 50, ...more }, onReset: () => events.resets++,
      onChange: ({ id, deleted }) => { if (deleted) events.deleted.push(id) }
    })
    await follower.start()
    await until(() => follower.state.up)
    return events
  }

  it('leaves no trace in the changes and in the indexes', async () => {
    const tally = await removeEdition(store, 'osm', yearStart(2022), { purge: true, limits })
    assert.deepEqual([tally.versions, tally.fallen, tally.heads, tally.changed, tally.refused], [5, 4, 1, 0, 0])
    // a removed head, and the edition; past documents that heads fell back to stay in place
    assert.equal(tally.purged, 2)
    const { results } = await json(`${url}/_changes`)
    const deletedIds = results.filter(({ deleted }) => deleted).map(({ id }) => id).filter(id => id.includes('osm'))
    assert.deepEqual(deletedIds, [])
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2022'))
    const stats = await store.stats('osm')
    const fallen = 4 // past documents that heads fell back to are counted as well
    assert.deepEqual([stats.versions, stats.last],
      [[...versionsOf(without(HISTORY, (tile, year) => year === '2022'))].length + fallen, yearStart(2021)])
    assert.equal((await store.info()).doc_del_count, 0)
  })

  it('is not in the change feed, but the deletion before it is', async () => {
    const events = await follow()
    const before = events.resets
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 4 }], purge: true, limits: { ...limits, heard: 300 } })
    await until(() => events.deleted.length >= 3)
    assert.deepEqual([events.deleted.sort(), events.resets - before],
      [['osm:4:1:4', `osm:4:1:4@${yearStart(2020)}`, `osm:4:1:4@${yearStart(2021)}`], 0])
  })

  it('resets a follower that returns after it, but a deletion does not', async () => {
    await follow()
    const { position } = follower
    await follower.close()
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 1 }], limits })
    assert.equal((await follow(position)).resets, 0)
    await until(() => follower.state.changes > 0)
    const { position: laterPosition } = follower
    await follower.close()
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 2 }], purge: true, limits })
    assert.equal((await follow(laterPosition)).resets, 2, 'it loses its place, and finds another')
  })

  it('resets a follower that stays connected', async () => {
    const events = await follow(undefined, { renew: 200 })
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 1 }], limits })
    await until(() => events.deleted.length > 0)
    await until(() => follower.state.connections > 3)
    assert.equal(events.resets, 1, 'it looks again and again, and forgets nothing')
    await removeTiles(store, 'osm', { only: [{ z: 4, x: 1, y: 2 }], purge: true, limits })
    await until(() => events.resets === 3, { what: 'the purge to be noticed' })
  })

  it('is done in batches, and reaches indexes that were behind, even when they are compacted at once', async () => {
    await store.write(versionsOf(manyTiles(120, index => ({ 2020: index % 50, 2021: (index + 1) % 50 })), 'other'))
    const { purged } = await removeLayer(store, 'other', { purge: true, limits })
    assert.equal(purged, 240)
    const { results } = await json(`${url}/_changes`)
    assert.deepEqual(results.filter(({ id }) => id.startsWith('other')), [])
    await store.write(versionsOf(manyTiles(100, index => ({ 2020: index % 50 })), 'other'))
    await store.stats('other')
    const only = Array.from({ length: 40 }, (_, index) => ({ z: 4, x: index % 16, y: Math.floor(index / 16) }))
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
      const writerStore = await Store.open(as(database, name, password))
      await assert.rejects(removeEdition(writerStore, 'osm', yearStart(2022), { purge: true, limits }),
        error => /FORBIDDEN|UNAUTHORIZED|PURGE_UNSUPPORTED/.test(error.code))
      assert.deepEqual(await historyOf(database), HISTORY)
      const { done, why } = await compact(writerStore, { when: 'always' })
      assert.deepEqual([done, why], [false, 'only an admin may compact'])
      const { versions } = await removeEdition(writerStore, 'osm', yearStart(2022), { limits })
      assert.equal(versions, 5, 'a writer removes')
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
    // Records purged ids; the embedded store only simulates a purge. isKilled: fail at the purge
    const purging = isKilled => {
      const store = new Store(new Couch(url))
      const { request } = store.couch
      const ids = []
      store.couch.request = async function (options) {
        if (options.path !== '_purge') return request.call(store.couch, options)
        ids.push(...Object.keys(options.body))
        if (ids.length && isKilled) throw new Error('killed')
        return backend.name === 'CouchDB' ? request.call(store.couch, options) : { purged: options.body }
      }
      return { store, ids }
    }
    await assert.rejects(removeLayer(purging(true).store, 'osm', { purge: true, limits }), { message: 'killed' })
    const planned = await removeLayer(purging(false).store, 'osm', { purge: true, dryRun: true, limits })
    const { store, ids } = purging(false)
    const { unpurged, purged } = await removeLayer(store, 'osm', { purge: true, limits })
    assert.deepEqual([planned.unpurged, purged], [unpurged, unpurged])
    for (const id of ['layer:osm', 'osm:4:1:4', `osm:4:1:4@${yearStart(2020)}`]) assert.ok(ids.includes(id), id)
    if (backend.name === 'CouchDB') assert.equal((await store.info()).doc_del_count, 0)
    await assert.rejects(removeLayer(purging(false).store, 'osm', { purge: true, limits }), { code: 'LAYER_NOT_FOUND' })
    await store.destroy()
  }).timeout(60000)
})

onEachStore('compacting', backend => {
  it('frees disk space, waits for its end, and reports how much', async () => {
    const url = await backend.database()
    const store = await storeOf(url)
    await store.write(versionsOf(manyTiles(256, index => ({ 2020: 1 + index % 50 })), 'other'))
    await store.stats('other')
    await removeLayer(store, 'other', { limits })
    const result = await compact(store)
    assert.deepEqual([result.done, result.why], [false, 'there is too little to be had'])
    assert.equal((await compact(store, { when: 'never' })).done, false)
    const waitLimits = { begin: 200, poll: 50 }
    const { before, after, done } = await compact(store, backend.name === 'CouchDB'
      ? { limits: { slack: 1000, ratio: 1.1, ...waitLimits } } : { when: 'always', limits: waitLimits })
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
