// A layer of a store as a source, in its newest state or as of a time.
import assert from 'node:assert/strict'
import { Store, load, openSource } from '../../loader/index.js'
import { Couch } from '../../loader/store/couch.js'
import { checkInvariants } from '../support/invariants.js'
import { as, onEachStore } from '../support/backends.js'
import { square } from '../support/tiles.js'
import { publishFunctions } from '../support/published.js'

const [T1, T2, T3] = ['2021-01-01T00:00:00Z', '2022-06-01T00:00:00Z', '2023-01-01T00:00:00Z']

onEachStore('another store as a source', backend => {
  let origin, url
  before(async function () {
    this.timeout(60000)
    url = await backend.database()
    origin = await Store.create(url)
    await origin.defineLayer('osm', {
      name: 'Town', attribution: '© Town', minzoom: 0, maxzoom: 12,
      ttl: 3600, format: 'png', encoding: 'mapbox', retention: { last: 3 }
    })
    await origin.write(square({ layer: 'osm', time: T1, z: 5, side: 12, seed: (x, y) => x * 12 + y }))
    await origin.write(
      square({ layer: 'osm', time: T2, z: 5, side: 12, seed: (x, y) => x < 3 ? 500 + x * 12 + y : undefined })
    )
    await origin.write(square({ layer: 'osm', time: T3, z: 5, side: 12, seed: x => x === 0 ? null : undefined }))
    await origin.write(square({ layer: 'other', time: T1, z: 5, side: 2, seed: () => 1 }))
    await publishFunctions(origin)
  })
  after(() => origin.destroy())

  const collect = async source => {
    const tiles = []
    for await (const { z, x, y, read } of source.tiles()) tiles.push({ z, x, y, bytes: await read() })
    return tiles
  }
  const seedAsOf = (time, x, y) => {
    if (time === T1 || x > 2) return x * 12 + y
    return time === T3 && x === 0 ? undefined : 500 + x * 12 + y
  }
  const tilesAsOf = time => square({ layer: 'osm', time, z: 5, side: 12, seed: (x, y) => seedAsOf(time, x, y) })
    .map(({ z, x, y, bytes }) => ({ z, x, y, bytes })).sort((a, b) => `${a.x}:${a.y}` < `${b.x}:${b.y}` ? -1 : 1)
  const assertSameTiles = (actual, expected) => {
    assert.deepEqual(actual.map(({ z, x, y }) => [z, x, y]).map(String),
      expected.map(({ z, x, y }) => [z, x, y]).map(String))
    actual.forEach(({ bytes }, index) => assert.ok(Buffer.compare(bytes, expected[index].bytes) === 0))
  }
  const byId = tiles => tiles.sort((a, b) => `5:${a.x}:${a.y}` < `5:${b.x}:${b.y}` ? -1 : 1)

  it('yields the tiles of the layer now or as of a time, in the order of ids', async () => {
    for (const [from, time] of [[undefined, T3], ['2021', T1], ['2022-06', T2], ['2030', T3]]) {
      const source = await openSource(url, { from: { layer: 'osm', ...(from && { time: from }) }, layer: 'elsewhere' })
      assertSameTiles(await collect(source), byId(tilesAsOf(time)))
      assertSameTiles(await collect(source), byId(tilesAsOf(time)))
      assert.equal(source.name, `osm${from ? `@${from}` : ''} of ${as(url).replace(/\/$/, '')}`)
      assert.equal(source.time, from && time, 'the time at which it last changed')
      assert.equal(source.total, from ? undefined : 12 * 11)
      await source.close()
    }
  })

  it('has the description of the layer, without settings of its store', async () => {
    const source = await openSource(url, { from: { layer: 'osm' } })
    assert.deepEqual(source.fields, {
      name: 'Town', attribution: '© Town', minzoom: 0, maxzoom: 12, format: 'png', encoding: 'mapbox',
      grid: 'WebMercatorQuad'
    })
    assert.doesNotMatch(JSON.stringify(source), /admin|test@|password/)
    assert.equal((await openSource(url, { layer: 'other' })).name,
      `other of ${as(url).replace(/\/$/, '')}`, 'the layer that is loaded, unless another is named')
  })

  it('reads tiles ahead in bulk, and reads none when they are only listed', async () => {
    const { docs } = Couch.prototype
    let requests = 0
    Couch.prototype.docs = function (ids, options) {
      if (options?.attachments) requests++
      return docs.call(this, ids, options)
    }
    try {
      const source = await openSource(url, { from: { layer: 'osm' } })
      for await (const tile of source.tiles()) assert.ok(tile.read)
      assert.equal(requests, 0)
      assert.equal((await collect(source)).length, 132)
      assert.ok(requests <= 3, `${requests} requests for 132 tiles`)
    } finally {
      Couch.prototype.docs = docs
    }
  })

  it('gives null for a tile that became gone after it was listed; load counts it as missing', async () => {
    const copy = await Store.create(await backend.database())
    await copy.defineLayer('osm')
    await copy.write(square({ layer: 'osm', time: T1, z: 3, side: 3, seed: x => x }))
    await publishFunctions(copy)
    const target = await Store.create(await backend.database())
    const credentialed = url.replace(/[^/]*$/, new URL(copy.url).pathname.slice(1))
    const source = await openSource(credentialed, { from: { layer: 'osm' } })
    const originalTiles = source.tiles
    source.tiles = async function * () {
      for await (const tile of originalTiles()) {
        if (tile.x === 0 && tile.y === 0) await copy.write([{ layer: 'osm', z: 3, x: 0, y: 1, time: T2, gone: true }])
        yield tile
      }
    }
    const summary = await load(target, source, { layer: 'osm', time: T1 })
    assert.deepEqual([summary.created, summary.failed, summary.missing], [8, 0, 1])
    await copy.destroy()
    await target.destroy()
  })

  it('fills another store with the same history when it is loaded once for each time', async () => {
    const targetUrl = await backend.database()
    const target = await Store.create(targetUrl)
    for (const time of ['2021', '2022', '2023']) {
      const source = await openSource(url, { from: { layer: 'osm', time } })
      const { time: loadedTime, failed, edition } = await load(target, source, { layer: 'osm', complete: true })
      assert.deepEqual([loadedTime, failed], [source.time, 0])
      assert.ok(edition.source.startsWith(`osm@${time} of http`) && !edition.source.includes('@127'), edition.source)
    }
    await publishFunctions(target)
    const history = async store => {
      const entries = []
      for await (const { id, versions } of store.listTiles('osm')) {
        entries.push([id, versions.map(({ time, gone, size }) => [time, gone, size])])
      }
      return entries
    }
    assert.deepEqual(await history(target), await history(origin))
    const layer = await target.layer('osm')
    assert.deepEqual([layer.name, layer.attribution, layer.ttl, layer.retention],
      ['Town', '© Town', undefined, undefined])
    await checkInvariants(targetUrl)
    const repeated = await load(target, await openSource(url, { from: { layer: 'osm', time: '2022' } }),
      { layer: 'osm', complete: true })
    assert.deepEqual([repeated.unchanged, repeated.tiles], [144, 144])
    await target.destroy()
  }).timeout(60000)

  it('may be the store that is loaded into: an old state becomes the newest state', async () => {
    const source = await openSource(url, { from: { layer: 'osm', time: '2021' } })
    assert.equal((await openSource(url, { from: { layer: 'osm', time: '2021' }, home: url })).name,
      'osm@2021', 'by whatever address')
    const { advanced, unchanged, failed } = await load(origin, source, { layer: 'osm', time: '2024' })
    assert.deepEqual([advanced, unchanged, failed], [36, 108, 0])
    assertSameTiles(await collect(await openSource(url, { from: { layer: 'osm' } })), byId(tilesAsOf(T1)))
    assertSameTiles(await collect(await openSource(url, { from: { layer: 'osm', time: '2023' } })), byId(tilesAsOf(T3)))
  })

  it('reports errors before anything is loaded', async () => {
    await assert.rejects(openSource(url, { from: { layer: 'nothere' } }), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(openSource(url, { from: { layer: 'nothere', time: '2021' } }), { code: 'LAYER_NOT_FOUND' })
    assert.equal((await openSource(url, { from: { layer: 'other', time: '2021' } })).time, T1, 'which has no document')
    await assert.rejects(openSource(url, { from: { layer: 'osm', time: 'soon' } }), { code: 'BAD_TIME' })
    await assert.rejects(openSource(await backend.database(), { from: { layer: 'osm' } }), { code: 'SOURCE_NOT_FOUND' })
    const foreign = new Couch(await backend.database())
    await foreign.request({ method: 'PUT' })
    await foreign.put({ _id: 'webmercator-3-1-2' })
    await assert.rejects(openSource(`${await backend.url()}/${foreign.db}`, { from: { layer: 'osm' } }), error => {
      assert.equal(error.code, 'SOURCE_UNREADABLE')
      assert.match(error.message, /webmercator-3-1-2.*--id-template/)
      assert.doesNotMatch(error.message, /admin:/)
      return true
    })
    await foreign.request({ method: 'DELETE' })
  })

  it('stops at once on abort', async () => {
    const stop = new AbortController()
    const source = await openSource(url, { from: { layer: 'osm' }, signal: stop.signal })
    await assert.rejects(async () => {
      for await (const { read } of source.tiles()) {
        stop.abort()
        await read()
      }
    }, { code: 'ABORTED' })
  })
})
