// Tests of tiles from memory and from the store: the answers, the number of requests to the store, and read-ahead.
// Memory must never show an old tile.
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { Area } from '../../core/area.js'
import { compose, push } from '../../loader/index.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { useStore } from '../support/store.js'
import { png, square } from '../support/tiles.js'
import { heard, openService } from '../support/gateway/stand.js'

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2023-06-01T12:30:00Z']

onEachStore('tiles of a gateway', backend => {
  const fixture = useStore(backend, {
    once: true,
    fill: async store => {
      await store.defineLayer('osm', {})
      await store.write(square({ layer: 'osm', time: T1, side: 8, seed: (x, y) => x * 8 + y }))
      await store.write(
        square({ layer: 'osm', time: T2, side: 8, seed: (x, y) => x < 2 ? 100 + x * 8 + y : undefined })
      )
      await store.write(square({ layer: 'osm', time: T3, side: 8, seed: x => x === 0 ? null : undefined }))
      await store.write([{ layer: 'bare', z: 1, x: 0, y: 0, time: T1, bytes: png(1) }])
    }
  })
  let service
  beforeEach(async () => {
    service = await openService(fixture.url)
    service.front.forget()
  })
  afterEach(() => service.close())

  const get = (x, y, time, options) => service.tiles.get('osm', 5, x, y, time, options)
  const readTile = async (x, y, time) => {
    const { entry, outcome } = await get(x, y, time)
    return { outcome, time: entry.time, is: seed => entry.bytes.equals(png(seed)) }
  }

  it('come from the store once and from memory afterwards, with the fields of an answer', async () => {
    assert.equal(service.tiles.peek('osm', 5, 1, 1), undefined)
    const { entry, outcome } = await get(1, 1)
    assert.equal(outcome, 'miss')
    assert.ok(entry.bytes.equals(png(109)))
    const doc = await fixture.store.couch.get('osm:5:1:1')
    const { digest } = doc._attachments.tile
    assert.deepEqual({
      id: entry.id, rev: entry.rev, time: entry.time, stored: entry.stored,
      expires: entry.expires, type: entry.type, etag: entry.etag
    }, {
      id: 'osm:5:1:1', rev: doc._rev, time: T2, stored: doc.stored,
      expires: null, type: 'image/png', etag: `"${digest.slice(4)}"`
    })
    assert.equal(Date.parse(entry.lastModified), Date.parse(doc.stored))
    const peeked = service.tiles.peek('osm', 5, 1, 1)
    assert.deepEqual([peeked?.entry, peeked?.outcome], [entry, 'hit'])
    assert.equal((await get(1, 1)).outcome, 'hit')
    assert.deepEqual(service.bulkReads(), [['osm:5:1:1']])
    assert.deepEqual(service.reads.map(({ tiles, failed }) => [tiles, failed]), [[1, false]])
  })

  it('cost one request to the store for a thousand clients of one tile, and two for 56 tiles', async () => {
    const answers = await Promise.all(Array.from({ length: 1000 }, () => get(3, 3)))
    assert.ok(answers.every(({ entry }) => entry === answers[0].entry))
    assert.equal(service.bulkReads().length, 1)
    service.front.forget()
    const blockAnswers = await Promise.all(Array.from({ length: 56 }, (_, index) => get(1 + (index >> 3), index % 8)))
    assert.ok(blockAnswers.every(({ entry }, index) => entry.bytes.equals(png(index < 8 ? 108 + index : 8 + index))))
    assert.ok(service.bulkReads().length <= 2)
  })

  it('of any time are right, and need one read of timelines for several times', async () => {
    const states = await Promise.all([readTile(0, 1, '2021-06'), readTile(0, 1, '2022'), readTile(0, 1, T2),
      readTile(1, 1, '2021-12-31'), readTile(1, 1, '2030')])
    assert.deepEqual(states.map(({ time }) => time), [T1, T2, T2, T1, T2])
    assert.ok(states[0].is(1) && states[1].is(101) && states[2].is(101) && states[3].is(9) && states[4].is(109))
    assert.equal(service.timelineReads().length, 1, 'the timelines of both tiles together')
    service.front.forget()
    assert.equal(service.tiles.peek('osm', 5, 0, 1, '2022')?.outcome, 'hit')
    assert.equal(service.tiles.peek('osm', 5, 0, 1, '2022-06-01')?.entry.time, T2)
    await assert.rejects(get(0, 1, '2021-05'), { code: 'TILE_NOT_FOUND' })
    assert.deepEqual([service.front.requests().length], [0], 'the timeline knows that there is nothing')
    await assert.rejects(get(0, 1, '2023-07'), { code: 'TILE_NOT_FOUND' }, 'gone')
    await assert.rejects(get(0, 1), { code: 'TILE_NOT_FOUND' })
    assert.equal((await readTile(0, 1, '2023-06-01T12:29')).time, T2, 'not yet gone')
    await assert.rejects(get(0, 1, 'yesterday'), { code: 'BAD_TIME' })
    assert.deepEqual(service.timelineReads(), [])
    assert.deepEqual(service.bulkReads(), [['osm:5:0:1']], 'that it is gone is known as well')
  })

  it('that are missing are read once and remembered, until they are stored', async () => {
    for (let i = 0; i < 3; i++) await assert.rejects(get(20, 20), { code: 'TILE_NOT_FOUND' })
    for (let i = 0; i < 3; i++) await assert.rejects(get(20, 20, '2022'), { code: 'TILE_NOT_FOUND' })
    assert.deepEqual([service.bulkReads().length, service.timelineReads().length], [1, 1])
    await fixture.store.write([{ layer: 'osm', z: 5, x: 20, y: 20, time: T1, bytes: png(7) }])
    await until(async () => (await get(20, 20).catch(() => null))?.entry.bytes.equals(png(7)), { timeout: 1000 })
    assert.equal((await get(20, 20, '2022')).entry.time, T1)
  })

  it('are not pushed out of memory by requests for missing tiles', async () => {
    await service.close()
    service = await openService(fixture.url, { memory: 100000 })
    await get(3, 3)
    const { bytes } = service.memory
    const codes = Array.from({ length: 2000 }, (_, index) =>
      service.tiles.get('osm', 20, index, index, index % 2 ? '2022' : undefined).catch(({ code }) => code))
    assert.ok((await Promise.all(codes)).every(code => code === 'TILE_NOT_FOUND'))
    assert.deepEqual([service.memory.bytes, service.memory.size], [bytes, 1])
    assert.ok(service.tiles.counts.missing < 100, `${service.tiles.counts.missing} are remembered`)
  })

  it('are shown without a layer document; a missing tile is then LAYER_NOT_FOUND', async () => {
    assert.ok((await service.tiles.get('bare', 1, 0, 0)).entry.bytes.equals(png(1)))
    assert.equal((await service.tiles.get('bare', 1, 0, 0, '2022')).entry.time, T1)
    await assert.rejects(service.tiles.get('bare', 1, 1, 0), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(service.tiles.get('nope', 1, 1, 0, '2022'), { code: 'LAYER_NOT_FOUND' })
  })

  it('are shown within a second of being stored, without reading other tiles again', async () => {
    await Promise.all([get(5, 5), get(5, 6), get(5, 5, '2022'), get(5, 6, '2022')])
    service.front.forget()
    const started = performance.now()
    await fixture.store.write([{ layer: 'osm', z: 5, x: 5, y: 5, time: T3, bytes: png(555) }])
    await until(async () => (await get(5, 5)).entry.bytes.equals(png(555)), { every: 1 })
    assert.ok(performance.now() - started < 1000 * TIME_FACTOR)
    await heard(service, fixture.store)
    assert.equal((await get(5, 5)).entry.time, T3)
    assert.equal((await get(5, 5, '2022')).entry.time, T1)
    assert.deepEqual((await Promise.all([get(5, 6), get(5, 6, '2022')])).map(({ outcome }) => outcome), ['hit', 'hit'])
    assert.ok(service.bulkReads().flat().every(id => id.startsWith('osm:5:5:5')))
    assert.deepEqual(service.timelineReads(), [['osm:5:5:5']])
  })

  it('include versions that were added to the past, and no deleted ones', async () => {
    assert.ok((await get(1, 6, '2021-12')).entry.bytes.equals(png(14)))
    await Promise.all([get(6, 6), get(6, 6, '2020').catch(() => {})])
    const backfill = (x, time, seed) => ({ layer: 'osm', z: 5, x, y: 6, time, bytes: png(seed) })
    await fixture.store.write([backfill(1, '2021-09-01T00:00:00Z', 2021), backfill(6, '2020-01-01T00:00:00Z', 2020)])
    await heard(service, fixture.store)
    assert.ok((await get(1, 6, '2021-12')).entry.bytes.equals(png(2021)))
    assert.ok((await get(6, 6, '2020')).entry.bytes.equals(png(2020)))
    for (const id of ['osm:5:6:6', 'osm:5:6:6@2020-01-01T00:00:00Z']) {
      const { _rev: rev } = await fixture.store.couch.get(id)
      await fixture.store.couch.request({ method: 'DELETE', path: id, qs: { rev } })
    }
    await heard(service, fixture.store)
    await assert.rejects(get(6, 6), { code: 'TILE_NOT_FOUND' })
    await assert.rejects(get(6, 6, '2020'), { code: 'TILE_NOT_FOUND' })
  })

  it('of a mirrored part are checked against its area once, and again when the area changes', async () => {
    const setPart = (west, east) => fixture.store.couch.update('limits:osm', doc => ({
      ...doc,
      type: 'limits',
      layer: 'osm',
      parts: [{ area: { boxes: [[west, 80, east, 85]] }, since: '2021-07-01T00:00:00Z' }]
    }))
    const outcomeOf = promise => promise.then(({ outcome }) => outcome, ({ code }) => code)
    const waitForLimits = holds =>
      until(() => holds(service.layers.limitsOf('osm')), { what: 'the part to be heard of' })
    await setPart(-180, -90)
    await waitForLimits(limits => limits?.isPart)
    const has = mock.method(Area.prototype, 'has')
    try {
      for (const time of [undefined, '2022', '2021-12']) await get(1, 2, time)
      const [firstCode, callsBefore] = [await outcomeOf(get(1, 2, '2021-06')), has.mock.callCount()]
      assert.equal(firstCode, 'NOT_KEPT')
      for (let count = 0; count < 100; count++) {
        for (const time of [undefined, '2022', '2021-12']) assert.ok(service.tiles.peek('osm', 5, 1, 2, time))
        assert.equal(service.tiles.peek('osm', 5, 1, 2, '2021-06'), undefined)
      }
      assert.equal(has.mock.callCount(), callsBefore)
      assert.ok(callsBefore <= 2, `${callsBefore} look-ups for two images`)
      await setPart(90, 180)
      await waitForLimits(limits => limits && !limits.isKept(5, 1, 2))
      service.front.forget()
      const calls = has.mock.callCount()
      for (let count = 0; count < 3; count++) {
        assert.equal(service.tiles.peek('osm', 5, 1, 2), undefined)
        assert.equal(await outcomeOf(get(1, 2)), 'NOT_KEPT')
      }
      assert.equal(has.mock.callCount() - calls, 1)
      assert.deepEqual(service.bulkReads(), [], 'from memory')
    } finally {
      has.mock.restore()
      const { _rev: rev } = await fixture.store.couch.get('limits:osm')
      await fixture.store.couch.request({ method: 'DELETE', path: 'limits:osm', qs: { rev } })
    }
  })
})

const SIDE = 32
const seedOf = (x, y) => x * SIDE + y

onEachStore('reading ahead', backend => {
  const fixture = useStore(backend, {
    once: true,
    fill: async store => {
      await store.defineLayer('osm', {})
      await store.defineLayer('sparse', {})
      await store.write(square({ layer: 'osm', time: T1, side: SIDE, seed: seedOf }))
      await store.write(
        square({ layer: 'osm', time: T2, side: SIDE, seed: (x, y) => x < 16 ? 2000 + seedOf(x, y) : undefined })
      )
      await store.write([{ layer: 'osm', z: 5, x: 2, y: 2, time: '2021-09-01T00:00:00Z', bytes: png(9000) }])
      await store.write(square({ layer: 'bare', time: T1, side: 8, seed: seedOf }))
      await push(store.couch, (await compose()).filter(({ _id }) => _id === '_design/versions'))
    }
  })
  let service
  afterEach(() => service?.close())

  async function open (limits = {}, options = {}) {
    const aheadLimits = { sides: [8], blockBytes: 2e6, aheadPart: 1, ...limits }
    service = await openService(fixture.url, { limits: aheadLimits, ...options })
    service.front.forget()
  }
  const get = (x, y, time, layer = 'osm') => service.tiles.get(layer, 5, x, y, time)
  const isHit = (x, y, time, layer = 'osm') => service.tiles.peek(layer, 5, x, y, time)?.outcome === 'hit'
  const blockOf = (x0, y0) => Array.from({ length: 64 }, (_, index) => [x0 + (index >> 3), y0 + index % 8])
  const waitForBlock = () => until(() => service.reads.reduce((sum, { tiles }) => sum + tiles, 0) >= 64)

  it('reads the block around two requested tiles in the same request', async () => {
    await open()
    await Promise.all([get(3, 3), get(4, 3)])
    await waitForBlock()
    for (const [x, y] of blockOf(0, 0)) {
      assert.ok((await get(x, y)).entry.bytes.equals(png(2000 + seedOf(x, y))), `${x} ${y}`)
    }
    assert.equal(service.bulkReads().length, 1)
    assert.deepEqual(service.bulkReads()[0].slice(0, 2), ['osm:5:3:3', 'osm:5:4:3'], 'first what somebody waits for')
    assert.deepEqual(service.tiles.counts.aheadUsed, 62)
  })

  it('reads the block for a past time too', async () => {
    await open()
    await Promise.all([get(3, 3, '2021-12'), get(4, 3, '2021-12')])
    await until(() => blockOf(0, 0).every(([x, y]) => isHit(x, y, '2021-12')))
    for (const [x, y] of blockOf(0, 0)) {
      const { entry } = await get(x, y, '2021-12')
      assert.ok(entry.bytes.equals(png(x === 2 && y === 2 ? 9000 : seedOf(x, y))), `${x} ${y}`)
    }
  })

  it('reads no block for a single tile, an undefined layer, a small memory or a spent credit', async () => {
    await open()
    await get(3, 3)
    await Promise.all([get(3, 3, undefined, 'bare'), get(3, 4, undefined, 'bare')])
    assert.equal(service.tiles.counts.ahead, 0)
    await service.close()
    await open({}, { memory: 100000 })
    await Promise.all([get(3, 3), get(4, 3)])
    assert.equal(service.tiles.counts.ahead, 0)
    await service.close()
    await open({ credit: 100 })
    for (const x of [0, 8, 16, 24]) await Promise.all([get(x, 0), get(x + 1, 0)])
    assert.ok(service.tiles.counts.ahead <= 64, 'of the second block nobody has used anything of the first')
  })

  it('reads at most 512 tiles of a layer whose tiles are missing', async () => {
    await open()
    for (let x = 0; x < SIDE; x += 8) {
      for (let y = 0; y < SIDE; y += 8) {
        await Promise.allSettled([get(x, y, undefined, 'sparse'), get(x, y + 1, undefined, 'sparse')])
      }
    }
    assert.ok(service.tiles.counts.ahead <= 512, `${service.tiles.counts.ahead}`)
  })

  it('evicts no requested tile from memory', async () => {
    await open({ blockBytes: 2e6 }, { memory: 6e6 })
    const requestedTiles = Array.from({ length: 20 }, (_, x) => [x, 31])
    for (const [x, y] of requestedTiles) await get(x, y)
    await Promise.all([get(0, 0), get(1, 0), get(0, 9), get(1, 9)])
    await until(() => service.tiles.counts.ahead > 100)
    assert.ok(requestedTiles.every(([x, y]) => isHit(x, y)))
    assert.equal(service.tiles.counts.evicted, 0)
  })

  it('reads the next block before requests reach it', async () => {
    await open()
    await Promise.all([0, 1, 2, 3].map(y => get(0, y)))
    await waitForBlock()
    const read = service.tiles.counts.ahead
    for (const x of [1, 2, 3, 4, 5, 6]) for (const y of [0, 1, 2, 3]) await get(x, y)
    await until(() => isHit(8, 2))
    assert.ok(service.tiles.counts.ahead <= read + 64)
  })

  it('pauses after the store has failed', async () => {
    await open({ retries: 0 })
    const isOfTile = ({ body }) => JSON.stringify(body).includes(':20:20') // reads of layers must not fail
    service.front.rule(request => isOfTile(request) && { status: 503, body: '{"error":"busy","reason":"later"}' })
    await assert.rejects(get(20, 20), { code: 'COUCHDB_ERROR' })
    service.front.reset()
    await Promise.all([get(3, 3), get(4, 3)])
    assert.equal(service.tiles.counts.ahead, 0)
  })

  it('reads a past version without its timeline when its neighbours are of one edition', async () => {
    await open({ credit: 0 })
    for (let y = 0; y < 6; y++) await get(1, y, '2021-07')
    await until(async () => { // wait until the time index has answered
      service.front.forget()
      await get(3, service.reads.length % SIDE, '2021-07').catch(() => {})
      return service.bulkReads().length && !service.timelineReads().length
    }, { every: 5 })
    service.front.forget()
    for (const y of [0, 1, 2, 3]) assert.ok((await get(5, y, '2021-07')).entry.bytes.equals(png(seedOf(5, y))))
    assert.deepEqual([service.bulkReads().length, service.timelineReads().length], [4, 0])
    assert.ok(isHit(5, 2, '2021-07'))
    // a version between the editions makes the reader use the timeline of this tile again
    await fixture.store.write([{ layer: 'osm', z: 5, x: 5, y: 2, time: '2021-06-15T00:00:00Z', bytes: png(7002) }])
    await heard(service, fixture.store)
    assert.ok((await get(5, 2, '2021-07')).entry.bytes.equals(png(7002)))
    assert.ok((await get(5, 3, '2021-07')).entry.bytes.equals(png(seedOf(5, 3))))
  })

  it('shows an unchanged head for a past time, but never a newer one', async () => {
    await open({ credit: 0 })
    for (let y = 0; y < 6; y++) await get(28, y, '2022-01')
    service.front.forget()
    for (const y of [6, 7]) assert.ok((await get(28, y, '2022-01')).entry.bytes.equals(png(seedOf(28, y))))
    assert.deepEqual(service.timelineReads(), [])
    assert.ok((await get(3, 3, '2022-01')).entry.bytes.equals(png(seedOf(3, 3))), 'its head is newer')
    await assert.rejects(get(28, 9, '2020'), { code: 'TILE_NOT_FOUND' })
  })
})
