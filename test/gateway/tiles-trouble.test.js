// Tests of the tile service when the store cannot be reached, is slow, refuses writes or is replaced, and when other
// programs write at the same time.
import assert from 'node:assert/strict'
import { Store } from '../../loader/store/index.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { createGate } from '../support/client/front.js'
import { onEachStore } from '../support/backends.js'
import { png, square } from '../support/tiles.js'
import { startUpstream } from '../support/upstream-server.js'
import { heard, openService } from '../support/gateway/stand.js'

const [T1, T2] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z']
const LATER = '2023-06-01T00:00:00Z'

onEachStore('tiles in trouble', backend => {
  let url, store, upstream, service
  before(async () => { upstream = await startUpstream({ tileSize: 64 }) })
  beforeEach(async () => {
    upstream.behave()
    upstream.requests.length = 0
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', {})
    await store.defineLayer('far',
      { tileSize: 64, ttl: 3600, upstream: { type: 'xyz', url: `${upstream.url}/xyz/{z}/{x}/{y}.png`, timeout: 5 } })
    await store.write(square({ layer: 'osm', time: T1, side: 4, seed: (x, y) => x * 4 + y }))
    service = await openService(url, { limits: { credit: 0 } }) // no read-ahead
  })
  afterEach(async () => {
    await service.close()
    await store.destroy().catch(() => {})
  })
  after(() => upstream.close())

  const get = (x, y, time, layer = 'osm') => service.tiles.get(layer, 5, x, y, time)
  const getFar = (x, y) => service.tiles.get('far', 4, x, y)

  it('come from memory while the store is away; others fail soon, and are read when it is back', async () => {
    await Promise.all([get(0, 0), get(0, 1), get(0, 1, '2021-12')])
    const reconnect = await service.cutOff()
    await until(() => service.tiles.following.state === 'away')
    assert.deepEqual((await Promise.all([get(0, 0), get(0, 1, '2021-12')])).map(({ outcome }) => outcome),
      ['hit', 'hit'])
    const started = performance.now()
    const [a, b] = await Promise.allSettled([get(1, 1), get(1, 2, '2022')])
    assert.deepEqual([a.reason.code, b.reason.code], ['UNREACHABLE', 'UNREACHABLE'])
    assert.ok(performance.now() - started < 3000 * TIME_FACTOR)
    await store.write([{ layer: 'osm', z: 5, x: 0, y: 0, time: T2, bytes: png(200) }])
    await reconnect()
    await until(async () => (await get(0, 0)).entry.bytes.equals(png(200)))
    assert.equal((await get(0, 1)).outcome, 'hit', 'what did not change was not read again')
    assert.ok((await get(1, 1)).entry.bytes.equals(png(5)))
    assert.equal(service.tiles.following.resets, 0)
  })

  it('that have expired are shown while store and upstream are away', async () => {
    await store.write([{ layer: 'far', z: 4, x: 0, y: 0, time: T1, bytes: png(1), expires: T2 }])
    await service.close()
    service = await openService(url, { options: { staleIfError: 1e10, staleWhileRevalidate: 1e10 } })
    upstream.behave({ status: 500 })
    assert.equal((await getFar(0, 0)).outcome, 'stale')
    const reconnect = await service.cutOff()
    await until(() => service.tiles.following.state === 'away')
    for (let i = 0; i < 3; i++) assert.equal((await getFar(0, 0)).outcome, 'stale')
    await reconnect()
  })

  it('that are fetched while the store refuses writes are shown and kept in memory', async () => {
    service.front.rule(({ path }) => path.startsWith('_bulk_docs')
      ? { status: 403, body: '{"error":"forbidden","reason":"reading only"}' } : undefined)
    const first = await getFar(1, 1)
    assert.equal(first.outcome, 'upstream')
    assert.ok(first.entry.bytes.equals(await upstream.tile(4, 1, 1)))
    assert.equal((await getFar(1, 1)).outcome, 'hit')
    assert.deepEqual([upstream.asked.length, service.tiles.counts.unstored, service.tiles.counts.stored], [1, 1, 0])
    assert.deepEqual(await store.versions('far', 4, 1, 1), [])
    await store.write([{ layer: 'far', z: 4, x: 1, y: 1, time: T1, bytes: png(9) }])
    await until(async () => (await getFar(1, 1)).entry.bytes.equals(png(9)), { what: 'what somebody else stored' })
  })

  it('that are unchanged upstream expire later in memory, even if the store refuses writes', async () => {
    await store.defineLayer('far', { ttl: 1 })
    await until(async () => (await service.layers.get('far')).ttl === 1)
    await getFar(1, 2)
    await until(() => !service.tiles.peek('far', 4, 1, 2), { what: 'it to expire' })
    await store.defineLayer('far', { ttl: 3600 })
    await until(async () => (await service.layers.get('far')).ttl === 3600)
    service.front.rule(({ path }) => path.startsWith('_bulk_docs')
      ? { status: 403, body: '{"error":"forbidden","reason":"reading only"}' } : undefined)
    assert.equal((await getFar(1, 2)).outcome, 'stale')
    await until(() => service.tiles.peek('far', 4, 1, 2), { what: 'it to hold again' })
    assert.ok((await getFar(1, 2)).entry.bytes.equals(await upstream.tile(4, 1, 2)))
    assert.deepEqual([upstream.asked.length, upstream.asked[1].status], [2, 304])
  })

  it('that are fetched are shown before a slow store has stored them', async () => {
    await service.close()
    service = await openService(url, { limits: { storeTimeout: 100 } })
    const storeGate = createGate()
    service.front.rule(({ path }) => path.startsWith('_bulk_docs') ? storeGate.opened : undefined)
    const { entry, outcome } = await getFar(2, 2)
    assert.deepEqual([outcome, entry.rev], ['upstream', null])
    assert.equal((await getFar(2, 2)).outcome, 'hit')
    storeGate.open()
    await until(() => service.tiles.counts.stored === 1)
    await heard(service, store)
    const { entry: storedEntry } = await getFar(2, 2)
    assert.equal(storedEntry.rev, (await store.couch.get('far:4:2:2'))._rev)
    assert.equal(upstream.asked.length, 1)
  })

  it('that are being fetched when the gateway stops are stored before it ends', async () => {
    const upstreamGate = createGate()
    upstream.behave({ wait: upstreamGate.opened })
    const pendingTile = getFar(3, 3)
    await until(() => upstream.asked.length === 1)
    const closing = service.tiles.close()
    upstreamGate.open()
    await Promise.all([pendingTile, closing])
    assert.equal((await store.versions('far', 4, 3, 3)).length, 1)
    await assert.rejects(getFar(3, 4), { code: 'ABORTED' })
  })

  it('that an upstream never sends do not keep the gateway from closing', async () => {
    await service.close()
    service = await openService(url, { limits: { closing: 200 } })
    upstream.behave({ never: true })
    const rejection = assert.rejects(getFar(3, 3))
    await until(() => upstream.asked.length === 1)
    const started = performance.now()
    await service.close()
    assert.ok(performance.now() - started < 2000 * TIME_FACTOR)
    await rejection
  })

  /** Fetches a tile while another program stores a version with a future time for it. */
  async function fetchOvertaken (x, y, seed) {
    const upstreamGate = createGate()
    upstream.behave({ wait: upstreamGate.opened })
    const pendingTile = getFar(x, y)
    await until(() => upstream.asked.length === 1)
    await store.write([{ layer: 'far', z: 4, x, y, time: '2100-01-01T00:00:00Z', bytes: png(seed) }])
    upstreamGate.open()
    return pendingTile
  }

  it('that another program stored during a fetch are shown with the head of the store', async () => {
    await fetchOvertaken(6, 6, 66)
    await heard(service, store)
    const head = await store.head('far', 4, 6, 6)
    assert.ok((await getFar(6, 6)).entry.bytes.equals(head.bytes))
    assert.equal((await getFar(6, 6)).entry.rev, head.rev)
  })

  it('that another program stored during a fetch are shown even if the store cannot be read', async () => {
    const restore = service.front.rule(({ path }) => path.startsWith('_bulk_get?') && upstream.asked.length
      ? { status: 500, body: '{"error":"badarg","reason":"a shard is away"}' } : undefined)
    const { entry } = await fetchOvertaken(7, 6, 67)
    assert.ok(entry.bytes.equals(await upstream.tile(4, 7, 6)))
    restore()
    await heard(service, store)
    assert.ok((await getFar(7, 6)).entry.bytes.equals(png(67)))
  })

  it('that two gateways fetch at once become one version, which both show', async () => {
    const otherService = await openService(url)
    upstream.behave({ lastModified: T2 })
    await Promise.all([getFar(7, 7), otherService.tiles.get('far', 4, 7, 7)])
    await Promise.all([heard(service, store), heard(otherService, store)])
    const versions = await store.versions('far', 4, 7, 7)
    assert.deepEqual(versions.map(({ time }) => time), [T2])
    for (const { tiles } of [service, otherService]) {
      assert.equal((await tiles.get('far', 4, 7, 7)).entry.rev, versions[0].rev)
    }
    await otherService.close()
  })

  it('of a deleted database are not shown any more, but those of its replacement are', async () => {
    await Promise.all([get(0, 0), get(0, 1, '2022')])
    await store.destroy()
    await until(() => service.memory.size === 0)
    await assert.rejects(get(0, 0), error => ['DATABASE_NOT_FOUND', 'UNREACHABLE'].includes(error.code))
    store = await Store.create(url)
    await store.defineLayer('osm', {})
    await store.write([{ layer: 'osm', z: 5, x: 0, y: 0, time: LATER, bytes: png(300) }])
    await until(async () => (await get(0, 0).catch(() => null))?.entry.bytes.equals(png(300)))
    await assert.rejects(get(0, 1), { code: 'TILE_NOT_FOUND' })
    await assert.rejects(get(0, 0, '2022'), { code: 'TILE_NOT_FOUND' })
  })

  it('expire by the current ttl of their layer', async () => {
    await get(2, 2)
    assert.equal((await get(2, 2)).entry.expires, null)
    await store.defineLayer('osm', { ttl: 1000 })
    await until(async () => (await get(2, 2)).entry.expires !== null)
    const { entry, outcome } = await get(2, 2)
    assert.deepEqual([outcome, Date.parse(entry.expires)], ['hit', Date.parse(entry.stored ?? '') + 1000e3])
  })

  it('come from the current upstream of their layer, or from none if it was removed', async () => {
    await getFar(8, 8)
    const otherUpstream = await startUpstream({ tileSize: 64 })
    await store.defineLayer('far', { upstream: { type: 'xyz', url: `${otherUpstream.url}/xyz/{z}/{x}/{y}.png` } })
    await until(async () => (await service.layers.get('far')).upstream.url.startsWith(otherUpstream.url))
    await getFar(8, 9)
    assert.deepEqual([upstream.asked.length, otherUpstream.asked.length], [1, 1])
    await store.defineLayer('far', { upstream: null })
    await until(async () => !(await service.layers.get('far')).upstream)
    await assert.rejects(getFar(8, 10), { code: 'TILE_NOT_FOUND' })
    assert.deepEqual(service.upstreams.states(), [])
    await store.couch.put({ ...await store.couch.get('layer:far'), upstream: { type: 'nonsense' } })
    await until(async () => (await service.layers.get('far')).upstream)
    await assert.rejects(getFar(8, 10), { code: 'TILE_NOT_FOUND' }, 'one that cannot be used is as none')
    assert.equal((await getFar(8, 8)).outcome, 'hit')
    await otherUpstream.close()
  })
})
