// Following from a place that was kept.
import assert from 'node:assert/strict'
import { Store } from '../../loader/index.js'
import { canContinue, feedPosition } from '../../core/feed-position.js'
import { Follower } from '../../loader/store/follow.js'
import { readChanges } from '../../loader/export/tree/changes.js'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { tile } from '../support/trees.js'

const T = '2022-03-01T00:00:00Z'

onEachStore('a position in the change feed', backend => {
  let store, follower, told
  const follow = async place => {
    told = { ids: /** @type {string[]} */ ([]), resets: /** @type {boolean[]} */ ([]) }
    follower = new Follower(store, {
      position: place, onChange: ({ id }) => told.ids.push(id), onReset: () => told.resets.push(follower.isAnchored)
    })
    await follower.start()
    await until(() => follower.state.up)
  }
  const hears = id => until(() => told.ids.includes(id))
  const now = async () => feedPosition(await store.info())

  beforeEach(async () => {
    store = await Store.create(await backend.database())
    await store.write([tile(1, 1, T, 1)])
  })
  afterEach(async () => {
    await follower?.close()
    await store.destroy()
  })

  it('is continued with the changes since then only, without a reset', async () => {
    const place = await now()
    await store.write([tile(2, 2, T, 2)])
    await follow(place)
    await hears('osm:5:2:2')
    assert.deepEqual([told.ids, told.resets], [['osm:5:2:2'], []])
    const later = follower.position
    assert.ok(canContinue(place, later) && !canContinue(later, place))
    await follower.close()
    await store.write([tile(3, 3, T, 3)])
    await follow(later)
    await hears('osm:5:3:3')
    assert.deepEqual(told.ids, ['osm:5:3:3'])
  })

  it('leads to a reset if it is of another database, or ahead of the feed', async () => {
    const place = await now()
    for (const bad of [{ ...place, identity: 'another' }, { ...place, since: '999999999-x' }]) {
      await follow(bad)
      assert.deepEqual(told.resets, [false, true])
      assert.equal(follower.position.identity, place.identity)
      await follower.close()
    }
  })

  it('can be used to read the changes once, without following', async () => {
    const place = await now()
    await store.write([tile(2, 2, T, 2), tile(3, 3, T, 3)])
    const ids = /** @type {string[]} */ ([])
    const since = await readChanges(store.couch, place.since, { onChange: id => ids.push(id) })
    assert.deepEqual(ids.sort(), ['osm:5:2:2', 'osm:5:3:3'])
    await readChanges(store.couch, since, { onChange: id => ids.push(id) })
    assert.equal(ids.length, 2)
  })
})
