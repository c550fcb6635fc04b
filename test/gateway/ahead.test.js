// What is read before anybody asks for it, and versions that are found without a timeline.
import assert from 'node:assert/strict'
import { compose } from '../../loader/couchapp/compose.js'
import { push } from '../../loader/couchapp/push.js'
import { Store } from '../../loader/store/index.js'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { png, square } from '../support/tiles.js'
import { heard, openService } from '../support/gateway/stand.js'

const [T1, T2] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z']
const SIDE = 32
const seedOf = (x, y) => x * SIDE + y

onEachStore('reading ahead', backend => {
  let url, store, service
  before(async function () {
    this.timeout(60000)
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', {})
    await store.defineLayer('sparse', {})
    await store.write(square({ layer: 'osm', time: T1, side: SIDE, seed: seedOf }))
    await store.write(
      square({ layer: 'osm', time: T2, side: SIDE, seed: (x, y) => x < 16 ? 2000 + seedOf(x, y) : undefined })
    )
    await store.write([{ layer: 'osm', z: 5, x: 2, y: 2, time: '2021-09-01T00:00:00Z', bytes: png(9000) }])
    await store.write(square({ layer: 'bare', time: T1, side: 8, seed: seedOf }))
    await push(store.couch, (await compose()).filter(({ _id }) => _id === '_design/versions'))
  })
  afterEach(() => service?.close())
  after(() => store.destroy())

  async function open (limits = {}, options = {}) {
    service = await openService(url, { limits: { sides: [8], blockBytes: 2e6, aheadPart: 1, ...limits }, ...options })
    service.front.forget()
  }
  const get = (x, y, time, layer = 'osm') => service.tiles.get(layer, 5, x, y, time)
  const isHit = (x, y, time, layer = 'osm') => service.tiles.peek(layer, 5, x, y, time)?.outcome === 'hit'
  const block =
    (x0, y0) => Array.from({ length: 64 }, (_, at) => /** @type {[number, number]} */ ([x0 + (at >> 3), y0 + at % 8]))
  const isRead = () => until(() => service.reads.reduce((sum, { tiles }) => sum + tiles, 0) >= 64)

  it('reads the block around two requested tiles in the same request', async () => {
    await open()
    await Promise.all([get(3, 3), get(4, 3)])
    await isRead()
    for (const [x, y] of block(0, 0)) {
      assert.ok((await get(x, y)).entry.bytes.equals(png(2000 + seedOf(x, y))), `${x} ${y}`)
    }
    assert.equal(service.bulkReads().length, 1)
    assert.deepEqual(service.bulkReads()[0].slice(0, 2), ['osm:5:3:3', 'osm:5:4:3'], 'first what somebody waits for')
    assert.deepEqual(service.tiles.counts.aheadUsed, 62)
  })

  it('reads the block for a past time too', async () => {
    await open()
    await Promise.all([get(3, 3, '2021-12'), get(4, 3, '2021-12')])
    await until(() => block(0, 0).every(([x, y]) => isHit(x, y, '2021-12')))
    for (const [x, y] of block(0, 0)) {
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
    const asked = Array.from({ length: 20 }, (_, x) => /** @type {[number, number]} */ ([x, 31]))
    for (const [x, y] of asked) await get(x, y)
    await Promise.all([get(0, 0), get(1, 0), get(0, 9), get(1, 9)])
    await until(() => service.tiles.counts.ahead > 100)
    assert.ok(asked.every(([x, y]) => isHit(x, y)))
    assert.equal(service.tiles.counts.evicted, 0)
  })

  it('reads the next block before requests reach it', async () => {
    await open()
    await Promise.all([0, 1, 2, 3].map(y => get(0, y)))
    await isRead()
    const read = service.tiles.counts.ahead
    for (const x of [1, 2, 3, 4, 5, 6]) for (const y of [0, 1, 2, 3]) await get(x, y)
    await until(() => isHit(8, 2))
    assert.ok(service.tiles.counts.ahead <= read + 64)
  })

  it('pauses after the store has failed', async () => {
    await open({ retries: 0 })
    service.front.rule(() => ({ status: 503, body: '{"error":"busy","reason":"later"}' }))
    await assert.rejects(get(20, 20))
    service.front.reset()
    await Promise.all([get(3, 3), get(4, 3)])
    assert.equal(service.tiles.counts.ahead, 0)
  })

  it('reads a past version without its timeline when its neighbours are of one edition', async () => {
    await open({ credit: 0 })
    for (let y = 0; y < 6; y++) await get(1, y, '2021-07')
    await until(async () => { // until the time index has answered
      service.front.forget()
      await get(3, service.reads.length % SIDE, '2021-07').catch(() => {})
      return service.bulkReads().length && !service.timelineReads().length
    }, { every: 5 })
    service.front.forget()
    for (const y of [0, 1, 2, 3]) assert.ok((await get(5, y, '2021-07')).entry.bytes.equals(png(seedOf(5, y))))
    assert.deepEqual([service.bulkReads().length, service.timelineReads().length], [4, 0])
    assert.ok(isHit(5, 2, '2021-07'))
    // a version in between: of this tile the timeline counts again
    await store.write([{ layer: 'osm', z: 5, x: 5, y: 2, time: '2021-06-15T00:00:00Z', bytes: png(7002) }])
    await heard(service, store)
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
