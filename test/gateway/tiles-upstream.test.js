// Tests of missing and expired tiles, which the tile service fetches from an upstream server and stores.
import assert from 'node:assert/strict'
import { Store } from '../../loader/store/index.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { createGate } from '../support/client/front.js'
import { onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { startUpstream } from '../support/upstream-server.js'
import { heard, openService } from '../support/gateway/stand.js'

const OLD = '2021-06-01T00:00:00Z'

onEachStore('tiles from an upstream', backend => {
  let url, store, upstream, service
  before(async () => {
    upstream = await startUpstream({ tileSize: 64 })
    url = await backend.database()
    store = await Store.create(url)
  })
  beforeEach(async () => {
    upstream.behave()
    upstream.epoch = 0
    upstream.requests.length = 0
    service = await openService(url)
  })
  afterEach(async () => {
    upstream.behave()
    await service.close()
  })
  after(async () => {
    await upstream.close()
    await store.destroy()
  })

  let layers = 0
  /** Defines a new layer for one test, and returns its name. */
  async function define ({ settings = {}, ...fields } = {}) {
    const layer = `far${layers++}`
    await store.defineLayer(layer,
      { tileSize: 64, ttl: 3600, upstream: {
        type: 'xyz', url: `${upstream.url}/xyz/{z}/{x}/{y}.png`, negative: TIME_FACTOR, ...settings
      }, ...fields })
    await until(async () => await service.layers.find(layer), { what: 'the layer to be known' })
    return layer
  }
  /** Stores tiles that expired the given number of seconds ago. */
  async function storeExpired (layer, seconds, tiles = [[0, 0]], fields = {}) {
    const expiry = new Date(Date.now() - seconds * 1000).toISOString().slice(0, 19) + 'Z'
    await store.write(
      tiles.map(([x, y]) => ({ layer, z: 4, x, y, time: OLD, bytes: png(x * 16 + y), expires: expiry, ...fields }))
    )
    await heard(service, store)
  }
  const get = (layer, x, y, options) => service.tiles.get(layer, 4, x, y, undefined, options)

  it('are fetched once for a thousand requests, stored, and kept in memory', async () => {
    const layer = await define()
    const answers = await Promise.all(Array.from({ length: 1000 }, () => get(layer, 1, 2)))
    assert.equal(upstream.asked.length, 1)
    const expected = await upstream.tile(4, 1, 2)
    assert.ok(answers.every(({ entry, outcome }) => outcome === 'upstream' && entry.bytes.equals(expected)))
    const head = await store.head(layer, 4, 1, 2)
    const { entry } = answers[0]
    assert.ok(head.bytes.equals(expected))
    assert.deepEqual([entry.rev, entry.time, entry.stored, entry.expires, entry.type],
      [head.rev, head.time, head.stored, head.expires, 'image/png'])
    assert.ok(Date.parse(entry.expires) > Date.now() + 3500e3)
    await heard(service, store)
    assert.equal(service.tiles.peek(layer, 4, 1, 2)?.entry, entry, 'our own write came back and dropped nothing')
    assert.equal(service.bulkReads().flat().filter(id => id === `${layer}:4:1:2`).length, 1)
    // after a restart the tile comes from the store
    await service.close()
    service = await openService(url)
    assert.equal((await get(layer, 1, 2)).outcome, 'miss')
    assert.equal(upstream.asked.length, 1)
  })

  it('are fetched for a future time as for the present, but not for a past time', async () => {
    const layer = await define()
    await storeExpired(layer, 1000)
    const getAt = (x, y, time) => service.tiles.get(layer, 4, x, y, time)
    assert.equal((await getAt(0, 0, '2022')).entry.time, OLD)
    assert.equal(upstream.asked.length, 0)
    assert.equal((await getAt(0, 0, '9000')).outcome, 'stale', 'it is shown while it is looked after')
    await until(() => upstream.asked.length === 1)
    assert.equal((await getAt(1, 2, '9000')).outcome, 'upstream')
    assert.ok((await getAt(1, 2, '9000')).entry.expiresAt > Date.now(), 'it expires as the present does')
    await assert.rejects(getAt(5, 5, '2022'), { code: 'TILE_NOT_FOUND' })
    // a version with an even later time is not shown before that time
    await store.write([{ layer, z: 4, x: 1, y: 2, time: '9500-01-01T00:00:00Z', bytes: png(77) }])
    await heard(service, store)
    assert.notDeepEqual((await getAt(1, 2, '9000')).entry.bytes, png(77))
    assert.deepEqual((await getAt(1, 2, '9600')).entry.bytes, png(77))
    assert.deepEqual(service.tiles.peek(layer, 4, 1, 2, '9600')?.entry.bytes, png(77))
    assert.notDeepEqual(service.tiles.peek(layer, 4, 1, 2, '9000')?.entry.bytes, png(77))
  })

  it('that are fetched at the same time are stored in few writes', async () => {
    const layer = await define({ settings: { concurrency: 64 } })
    const upstreamGate = createGate()
    upstream.behave({ wait: upstreamGate.opened })
    const answers = Array.from({ length: 48 }, (_, index) => get(layer, index >> 4, index % 16))
    await until(() => upstream.asked.length === 48, { what: 'all requests' })
    upstreamGate.open()
    await Promise.all(answers)
    const writes = service.front.requests().filter(({ path }) => path === '_bulk_docs')
    assert.ok(writes.length < 16, `${writes.length} writes`)
    assert.equal(writes.flatMap(({ body }) => body.docs).length, 48)
    assert.equal(service.tiles.counts.stored, 48)
  })

  it('of a metatile come from one request to the upstream', async () => {
    const layer =
      await define({ settings: { type: 'wms', url: `${upstream.url}/wms`, layers: 'map', metatile: 4, buffer: 0 } })
    const answers =
      await Promise.all(Array.from({ length: 16 }, (_, index) => get(layer, 4 + (index >> 2), 8 + index % 4)))
    assert.equal(upstream.asked.length, 1)
    assert.ok(answers.every(({ outcome }) => outcome === 'upstream'))
    assert.deepEqual(new Set(answers.map(({ entry }) => entry.id)).size, 16)
    await heard(service, store)
    for (let index = 0; index < 16; index++) {
      assert.equal((await get(layer, 4 + (index >> 2), 8 + index % 4)).outcome, 'hit')
    }
    assert.equal((await store.versions(layer, 4, 7, 11)).length, 1)
  })

  it('that the upstream lacks are remembered as missing for the time that the layer sets', async () => {
    const layer = await define()
    upstream.behave({ status: 404 })
    for (let i = 0; i < 3; i++) await assert.rejects(get(layer, 1, 1), { code: 'TILE_NOT_FOUND' })
    assert.equal(upstream.asked.length, 1)
    upstream.behave()
    await until(async () => (await get(layer, 1, 1).catch(() => null))?.outcome === 'upstream', { timeout: 3000 })
  })

  it('that are gone and have expired are requested again, but not with every request', async () => {
    const layer = await define()
    await storeExpired(layer, 10)
    const [{ expires }] = await store.versions(layer, 4, 0, 0)
    await store.write([{ layer, z: 4, x: 0, y: 0, time: expires, gone: true, expires }])
    await heard(service, store)
    upstream.behave({ status: 404 })
    for (let i = 0; i < 3; i++) await assert.rejects(get(layer, 0, 0), { code: 'TILE_NOT_FOUND' })
    assert.equal(upstream.asked.length, 1)
    upstream.behave()
    await until(async () => (await get(layer, 0, 0).catch(() => null))?.outcome === 'upstream', { timeout: 3000 })
    assert.deepEqual((await store.versions(layer, 4, 0, 0)).map(({ gone }) => gone), [false, true, false])
  })

  it('are not requested outside the zooms and bounds of the layer, nor for the past', async () => {
    const layer = await define({ maxzoom: 4, bounds: [-180, 0, 0, 85] })
    await assert.rejects(service.tiles.get(layer, 5, 0, 0), { code: 'TILE_NOT_FOUND' })
    await assert.rejects(get(layer, 15, 0), { code: 'TILE_NOT_FOUND' })
    await assert.rejects(service.tiles.get(layer, 4, 1, 1, '2022'), { code: 'TILE_NOT_FOUND' })
    assert.equal(upstream.asked.length, 0)
  })

  it('fail with an error of their own for each request until the upstream works again', async () => {
    const layer = await define()
    for (const [behaviour, code] of [[{ status: 500 }, 'UPSTREAM_FAILED'],
      [{ truncate: 20 }, 'UPSTREAM_FAILED'], [{ body: '<html>', type: 'image/png' }, 'UPSTREAM_FAILED']]) {
      upstream.behave(behaviour)
      const [a, b] = await Promise.allSettled([get(layer, 2, 2), get(layer, 2, 2)])
      assert.deepEqual([a.reason?.code, b.reason?.code], [code, code], JSON.stringify(behaviour))
      assert.notEqual(a.reason, b.reason)
    }
    assert.deepEqual(await store.versions(layer, 4, 2, 2), [])
    upstream.behave()
    assert.equal((await get(layer, 2, 2)).outcome, 'upstream')
  })

  it('that have expired are shown at once and fetched in the background', async () => {
    const layer = await define()
    await storeExpired(layer, 60)
    const upstreamGate = createGate()
    upstream.behave({ wait: upstreamGate.opened })
    const answers = await Promise.all(Array.from({ length: 100 }, () => get(layer, 0, 0)))
    assert.ok(answers.every(({ entry, outcome }) => outcome === 'stale' && entry.bytes.equals(png(0))))
    upstreamGate.open()
    const expected = await upstream.tile(4, 0, 0)
    await until(() => service.tiles.peek(layer, 4, 0, 0)?.entry.bytes.equals(expected),
      { what: 'the new one in memory' })
    assert.equal(upstream.asked.length, 1)
    assert.equal((await get(layer, 0, 0)).outcome, 'hit')
    await heard(service, store)
    assert.deepEqual((await store.versions(layer, 4, 0, 0)).map(({ current }) => current), [false, true])
    assert.ok((await service.tiles.get(layer, 4, 0, 0, '2022')).entry.bytes.equals(png(0)))
  })

  it('that are unchanged upstream get a later expiry after a 304, and no new version', async () => {
    const layer = await define({ ttl: 1 })
    const first = (await get(layer, 3, 3)).entry
    await until(() => service.tiles.peek(layer, 4, 3, 3) === undefined, { what: 'it to expire' })
    await store.defineLayer(layer, { ttl: 3600 })
    await until(async () => (await service.layers.get(layer)).ttl === 3600)
    assert.equal((await get(layer, 3, 3)).outcome, 'stale')
    await until(() => service.tiles.peek(layer, 4, 3, 3), { what: 'it to hold again' })
    assert.equal(upstream.asked.at(-1).status, 304)
    const { entry } = await get(layer, 3, 3)
    assert.ok(entry.expires > first.expires && entry.etag === first.etag &&
      entry.time === first.time && entry.rev !== first.rev)
    await heard(service, store)
    assert.equal(service.tiles.peek(layer, 4, 3, 3)?.entry, entry)
    assert.equal((await store.head(layer, 4, 3, 3)).expires, entry.expires)
    assert.equal((await store.versions(layer, 4, 3, 3)).length, 1)
  })

  /** Opens a service that fetches tiles before it shows those that expired a minute ago. */
  async function reopenFetchingFirst (limits = {}) {
    await service.close()
    service = await openService(url, { options: { staleWhileRevalidate: 10, staleIfError: 3600 }, limits })
  }

  it('that expired long ago are fetched first, and shown stale if the upstream fails', async () => {
    await reopenFetchingFirst({ upstreamTimeout: 60000, rest: 60000 })
    const layer = await define()
    await storeExpired(layer, 60, [[0, 0], [0, 1]])
    const fresh = await get(layer, 0, 0)
    assert.deepEqual([fresh.outcome, fresh.entry.bytes.equals(await upstream.tile(4, 0, 0))], ['upstream', true])
    upstream.behave({ status: 503 })
    assert.equal((await get(layer, 0, 1)).outcome, 'stale')
    const { length } = upstream.asked
    assert.equal((await get(layer, 0, 1)).outcome, 'stale')
    assert.equal(upstream.asked.length, length, 'an upstream that has just failed is left alone')
  })

  it('that expired long ago are requested again some time after a failure', async () => {
    await reopenFetchingFirst({ upstreamTimeout: 60000, rest: 100 })
    const layer = await define()
    await storeExpired(layer, 60)
    upstream.behave({ status: 503 })
    assert.equal((await get(layer, 0, 0)).outcome, 'stale')
    upstream.behave()
    await until(async () => (await get(layer, 0, 0)).outcome !== 'stale', { what: 'another request' })
    assert.ok((await get(layer, 0, 0)).entry.bytes.equals(await upstream.tile(4, 0, 0)))
  })

  it('that expired long ago are shown stale if the upstream does not answer soon', async () => {
    await reopenFetchingFirst({ upstreamTimeout: 300 })
    const layer = await define()
    await storeExpired(layer, 60)
    const upstreamGate = createGate()
    upstream.behave({ wait: upstreamGate.opened })
    assert.equal((await get(layer, 0, 0)).outcome, 'stale')
    assert.equal(upstream.asked.length, 1)
    upstreamGate.open()
    await until(() => service.tiles.peek(layer, 4, 0, 0), { what: 'the tile of the late answer' })
  })

  it('that expired longer ago than staleIfError are not shown when the upstream is down', async () => {
    await service.close()
    service = await openService(url, { options: { staleWhileRevalidate: 10, staleIfError: 30 } })
    const layer = await define()
    await storeExpired(layer, 60)
    upstream.behave({ status: 500 })
    await assert.rejects(get(layer, 0, 0), { code: 'UPSTREAM_FAILED' })
    upstream.behave()
    assert.equal((await get(layer, 0, 0)).outcome, 'upstream')
  })

  it('that expired are shown unchanged when upstreams are turned off', async () => {
    await service.close()
    service = await openService(url, { options: { upstream: false } })
    const layer = await define()
    await storeExpired(layer, 60)
    const outcomes = []
    for (let i = 0; i < 2; i++) outcomes.push((await get(layer, 0, 0)).outcome)
    assert.deepEqual(outcomes, ['miss', 'hit'])
    assert.ok(Date.parse((await get(layer, 0, 0)).entry.expires) < Date.now())
    assert.equal(upstream.asked.length, 0)
  })

  it('are fetched and stored even if every client has left', async () => {
    const layer = await define()
    const upstreamGate = createGate()
    upstream.behave({ wait: upstreamGate.opened })
    const leaving = new AbortController()
    const pendingTiles = [get(layer, 5, 5, { signal: leaving.signal }), get(layer, 5, 5, { signal: leaving.signal })]
    await until(() => upstream.asked.length === 1)
    leaving.abort()
    for (const pendingTile of pendingTiles) await assert.rejects(pendingTile, { code: 'ABORTED' })
    upstreamGate.open()
    await until(() => service.tiles.peek(layer, 4, 5, 5))
    assert.equal((await store.versions(layer, 4, 5, 5)).length, 1)
  })
})
