// Tests of the gateway's list of layers, which it keeps in memory and reads again after changes.
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { publish } from '../../loader/couchapp/publish.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { Layers } from '../../server/gateway/layers.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { createGate, startFront } from '../support/client/front.js'
import { onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2023-06-01T00:00:00Z']
const tile = (layer, x, time) => ({ layer, z: 5, x, y: 0, time, bytes: png(x) })

onEachStore('the book of layers', backend => {
  let store, front, book
  beforeEach(async () => {
    const url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', { name: 'Streets', ttl: 60 })
    await store.defineLayer('daylight', { name: 'Day' })
    front = await startFront(url)
    book = new Layers(new Store(new Couch(front.accountUrl, { firstDelay: 5, longestDelay: 10 })),
      { limits: { pause: 0, timesAge: 0, timeout: 1000 * TIME_FACTOR } })
  })
  afterEach(async () => {
    await front.close().catch(() => {})
    await store.destroy()
  })

  it('reads all layers and limits in two requests, for any number of lookups', async () => {
    const names = ['osm', 'daylight', 'nope', ...Array.from({ length: 100 }, (_, index) => `made-up-${index}`)]
    const layers = await Promise.all(names.map(name => book.find(name)))
    assert.deepEqual(layers.slice(0, 3),
      [{ layer: 'osm', name: 'Streets', ttl: 60 }, { layer: 'daylight', name: 'Day' }, undefined])
    assert.deepEqual((await book.list()).map(({ layer }) => layer), ['daylight', 'osm'])
    await assert.rejects(book.get('nope'), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(book.get('No such'), { code: 'BAD_LAYER' })
    assert.equal(front.requests().length, 2)
    assert.deepEqual(book.peek('osm'), layers[0])
  })

  it('reads the layers again only after a layer has changed', async () => {
    let changeCount = 0
    book.onChange = () => changeCount++
    await book.get('osm')
    await store.defineLayer('osm', { ttl: 5 })
    await store.defineLayer('new', {})
    book.changed('layer:osm')
    book.changed('layer:new')
    assert.equal((await book.get('new')).layer, 'new', 'an unknown one is waited for')
    assert.equal((await book.get('osm')).ttl, 5)
    const { length } = front.requests()
    for (const id of ['osm:5:1:1', 'osm:5:1:1@2021-01-01T00:00:00Z', '_design/tiles', 'tilecouch']) book.changed(id)
    await book.list()
    assert.equal(front.requests().length, length)
    assert.equal(changeCount, 2)
    book.changed('layer:osm')
    await book.list()
    assert.equal(changeCount, 2, 'nobody is told of what stayed the same')
  })

  it('reads layers in pages, and leaves out and logs invalid layers once', async () => {
    const warnings = []
    book.log = { warn: (fields, words) => warnings.push([fields, words]) }
    Object.assign(book.limits, { page: 2, logged: 2 })
    const bad = ['a', 'b', 'c', 'zz'].map(layer => ({ _id: `layer:${layer}`, type: 'layer', layer, maxzoom: 4e9 }))
    await store.couch.request({ method: 'POST', path: '_bulk_docs', body: { docs: bad } })
    for (let round = 0; round < 2; round++) {
      assert.deepEqual((await book.list()).map(({ layer }) => layer), ['daylight', 'osm'])
      assert.equal(await book.find('b'), undefined)
      book.changed('layer:b')
    }
    await book.list()
    assert.deepEqual(warnings.map(([{ document, reason, count }]) => document ? `${document} ${reason}` : count),
      ['layer:a bad maxzoom 4000000000', 'layer:b bad maxzoom 4000000000', 2])
  })

  it('notices a change that happens while it reads', async () => {
    const storeGate = createGate()
    const release = front.rule(() => storeGate.opened)
    const reading = book.get('osm')
    await until(() => front.requests().length === 1)
    await store.defineLayer('osm', { ttl: 7 })
    book.changed('layer:osm')
    release()
    storeGate.open()
    await reading
    assert.equal((await book.get('osm')).ttl, 7)
  })

  it('forgets a layer that was removed', async () => {
    await book.get('daylight')
    const { _rev: rev } = await store.couch.get('layer:daylight')
    await store.couch.request({ method: 'DELETE', path: 'layer:daylight', qs: { rev } })
    book.changed('layer:daylight')
    await until(async () => !await book.find('daylight'))
  })

  it('answers from memory while the store is away, and fails for unknown layers', async () => {
    await front.stop()
    const [a, b] = await Promise.allSettled([book.get('osm'), book.get('osm')])
    assert.deepEqual([a.reason.code, b.reason.code], ['UNREACHABLE', 'UNREACHABLE'])
    assert.notEqual(a.reason, b.reason)
    await front.restart()
    await book.get('osm')
    await front.stop()
    book.changed('layer:osm')
    assert.equal((await book.get('osm')).ttl, 60)
    await store.defineLayer('osm', { ttl: 9 })
    await front.restart()
    await until(async () => (await book.get('osm')).ttl === 9, { what: 'the layer to be read again' })
  })

  it('rejects only requests that wait, if a read fails after everything was forgotten', async () => {
    const unhandled = []
    const onUnhandled = reason => unhandled.push(reason.code)
    process.on('unhandledRejection', onUnhandled)
    await book.get('osm')
    const storeGate = createGate()
    front.rule(async () => {
      await storeGate.opened
      return { status: 403, body: '{"error":"forbidden"}' }
    })
    book.changed('layer:osm')
    assert.equal((await book.find('osm')).layer, 'osm', 'from memory, while the read goes on')
    book.reset()
    storeGate.open()
    await assert.rejects(book.get('osm'), { code: 'FORBIDDEN' })
    await setImmediate() // Node reports unhandled rejections after the microtasks
    process.off('unhandledRejection', onUnhandled)
    assert.deepEqual(unhandled, [])
  })

  it('lists the times of editions, and reads them again when one is added', async () => {
    for (const time of [T2, T1]) await store.putEdition('osm', time, { title: time })
    await store.putEdition('osm-2', T3, {})
    assert.deepEqual(await book.times('osm'), [T1, T2])
    const { length } = front.requests()
    assert.deepEqual(await book.times('osm'), [T1, T2])
    assert.equal(front.requests().length, length)
    await store.putEdition('osm', T3, {})
    book.changed(`edition:osm@${T3}`)
    assert.deepEqual(await book.times('osm'), [T1, T2, T3])
    book.limits.times = 2
    book.changed(`edition:osm@${T3}`)
    assert.deepEqual(await book.times('osm'), [T2, T3], 'the newest')
    await assert.rejects(book.times('osm-2'), { code: 'LAYER_NOT_FOUND' })
  })

  it('lists the newest times of changed tiles of a layer without editions, up to a limit', async function () {
    this.timeout(60000)
    assert.deepEqual(await book.times('osm'), [], 'before the index is deployed')
    await store.write([tile('osm', 1, T1), tile('osm', 2, T2), tile('daylight', 1, T3)])
    await publish(store)
    book.changed('osm:5:2:0')
    assert.deepEqual(await book.times('osm'), [T1, T2])
    await store.write([tile('osm', 3, T3)])
    assert.deepEqual(await book.times('osm'), [T1, T2])
    book.changed('osm:5:3:0')
    book.limits.times = 2
    assert.deepEqual(await book.times('osm'), [T2, T3])
  })
})
