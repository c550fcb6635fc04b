// Reading a store: tiles as of a time, versions, times, sums, layers and editions.
import assert from 'node:assert/strict'
import { asOf } from '../../core/index.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { useStore } from '../support/store.js'
import { png, square } from '../support/tiles.js'

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2023-06-01T12:30:00Z']
const WORLD = [-180, -85, 180, 85]

onEachStore('reading a store', backend => {
  /** @type {Store} */
  let store
  const editions = [
    square({ layer: 'osm', time: T1, z: 3, seed: (x, y) => x * 8 + y }),
    square({ layer: 'osm', time: T2, z: 3, seed: (x, y) => x < 2 ? 100 + x * 8 + y : undefined }),
    square({ layer: 'osm', time: T3, z: 3, seed: x => x === 0 ? null : undefined }),
    square({ layer: 'osm', time: T1, z: 2, side: 4, seed: (x, y) => x * 4 + y }),
    square({ layer: 'osm-2', time: T1, z: 3, side: 1, seed: () => 7 })
  ]
  const fill = async openedStore => {
    store = openedStore
    await store.defineLayer('osm', { name: 'Test' })
    for (const edition of editions) await store.write(edition)
  }
  useStore(backend, { once: true, published: true, fill })

  it('gives the same identity for a store at another address', async () => {
    const otherUrl = new URL(store.couch.access.origin + store.couch.access.path)
    otherUrl.hostname = 'localhost'
    const sameStore = new Store(new Couch(otherUrl.href, {}))
    sameStore.couch.get = id => store.couch.get(id)
    assert.notEqual(sameStore.url, store.url)
    assert.equal(await sameStore.identity(), await store.identity())
    const otherStore = await Store.create(await backend.database())
    assert.notEqual(await otherStore.identity(), await store.identity())
    await otherStore.destroy()
  })

  it('gives the version of a tile as of any time', async () => {
    const bytesAt = async time => (await store.at('osm', 3, 1, 0, time)).bytes
    assert.deepEqual(await bytesAt('2021-06-01'), png(8))
    assert.deepEqual(await bytesAt('2022-05'), png(8))
    assert.deepEqual(await bytesAt('2022'), png(108))
    assert.deepEqual(await bytesAt(T3), png(108))
    await assert.rejects(store.at('osm', 3, 1, 0, '2021-05'), { code: 'TILE_NOT_FOUND' })
    await assert.rejects(store.at('osm', 3, 0, 0, '2024'), { code: 'TILE_NOT_FOUND' }, 'gone')
    assert.equal((await store.at('osm', 3, 0, 0, '2023-06-01T12:29')).time, T2, 'not yet gone')
  })

  it('receives images from CouchDB as multipart, and from the embedded store in JSON', async () => {
    const { couch } = store
    const answers = []
    couch.request = request => Couch.prototype.request.call(couch, {
      ...request,
      parse (bytes) {
        answers.push(bytes.toString('latin1', 0, 10).trim().slice(0, 2))
        return request.parse(bytes)
      }
    })
    try {
      await couch.docs(['osm:3:1:0'], { attachments: true })
    } finally {
      delete couch.request
    }
    assert.deepEqual(answers, [backend.name === 'CouchDB' ? '--' : '{"'])
  })

  it('lists the versions of one tile, oldest first', async () => {
    const versions = await store.versions('osm', 3, 0, 1)
    assert.deepEqual(versions.map(({ time, current, gone, size }) => [time, current, gone, size]), [
      [T1, false, false, png(1).length], [T2, false, false, png(101).length], [T3, true, true, 0]
    ])
    assert.deepEqual(await store.versions('osm', 9, 9, 9), [])
  })

  it('lists all versions of the tiles in a view of the map', async () => {
    const versions = await store.versionsIn('osm', { bbox: [-180, 0, -90.1, 85], z: 3 })
    assert.deepEqual([...new Set(versions.map(({ x, y }) => `${x}/${y}`))],
      ['0/0', '0/1', '0/2', '0/3', '1/0', '1/1', '1/2', '1/3'])
    const tileVersions = versions.filter(({ x, y }) => x === 0 && y === 2)
    assert.deepEqual(tileVersions.map(({ time, gone, current }) => [time, gone, current]),
      [[T1, false, false], [T2, false, false], [T3, true, true]])
    assert.equal(asOf(tileVersions, '2022-12-31T23:59:59Z').time, T2)
    assert.equal(tileVersions[0].bytes, png(2).length)
    assert.match(tileVersions[0].rev, /^\d+-/)
  })

  it('lists the times of changes and their tiles, of a layer and of a view', async () => {
    assert.deepEqual((await store.times('osm')).map(({ time, tiles }) => [time, tiles]), [[T1, 80], [T2, 16], [T3, 8]])
    assert.deepEqual((await store.times('osm', { z: 2 })).map(({ time, tiles }) => [time, tiles]), [[T1, 16]])
    assert.deepEqual((await store.times('osm', { z: 3, bbox: [-135, 0, -0.1, 85] }))
      .map(({ time, tiles }) => [time, tiles]), [[T1, 12], [T2, 4]])
    await assert.rejects(store.times('osm', { bbox: WORLD }), { code: 'BAD_OPTION' })
  })

  it('sums the tiles, versions, bytes, times and bounds of a layer', async () => {
    const stats = await store.stats('osm')
    const size = seeds => seeds.reduce((sum, seed) => sum + png(seed).length, 0)
    const range = (from, to) => Array.from({ length: to - from }, (_, index) => from + index)
    assert.deepEqual([stats.tiles, stats.versions, stats.first, stats.last], [72, 104, T1, T3])
    const z3 = stats.zooms.find(({ z }) => z === 3)
    assert.deepEqual([z3.tiles, z3.versions], [56, 88])
    assert.equal(z3.bytes, size([...range(0, 64), ...range(100, 116)]))
    assert.equal(z3.currentBytes, size([...range(108, 116), ...range(16, 64)]))
    assert.deepEqual(z3.bounds.map(Math.round), [-135, -85, 180, 85], 'column 0 is gone')
    assert.equal((await store.stats('osm-2')).tiles, 1)
    await assert.rejects(store.stats('nope'), { code: 'LAYER_NOT_FOUND' })
  })

  it('walks the heads of one layer in the order of their ids', async () => {
    const ids = []
    for await (const { id } of store.heads('osm')) ids.push(id)
    assert.equal(ids.length, 80)
    assert.deepEqual(ids, [...ids].sort())
  })

  it('lists and describes layers and editions', async () => {
    assert.deepEqual((await store.layers()).map(({ layer }) => layer), ['osm'])
    await store.defineLayer('osm', { ttl: 60, attribution: 'me' })
    assert.deepEqual(await store.layer('osm'), { layer: 'osm', name: 'Test', attribution: 'me', ttl: 60 })
    await store.defineLayer('osm', { ttl: null })
    assert.equal((await store.layer('osm')).ttl, undefined)
    await store.putEdition('osm', T2, { title: 'two' })
    await store.putEdition('osm', T1, { title: 'one' })
    await store.putEdition('osm', T2, { tiles: 5 })
    assert.deepEqual((await store.editions('osm')).map(({ time, title, tiles }) => [time, title, tiles]),
      [[T1, 'one', undefined], [T2, 'two', 5]])
    await assert.rejects(store.layer('nope'), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(store.defineLayer('osm', { minzoom: 99 }), { code: 'BAD_LAYER_FIELD' })
    await assert.rejects(store.defineLayer('layer'), { code: 'BAD_LAYER' })
  })
})
