// Compares the estimate of an area with its download: tiles, versions, bytes of images, and about how many bytes of
// bodies.
import assert from 'node:assert/strict'
import { HttpCouch } from '../../client/mirror/http.js'
import { estimate } from '../../client/offline/estimate.js'
import { Transfer } from '../../client/offline/transfer.js'
import { parseArea } from '../../core/index.js'
import { Selection } from '../../core/mirror/index.js'
import { Store } from '../../loader/index.js'
import { receivedBytes } from '../client/requests.js'
import { publishFunctions } from '../support/published.js'
import { startFront } from '../support/client/front.js'
import { usePouches } from '../support/client/pouches.js'
import { json, onEachStore, request } from '../support/backends.js'
import { square } from '../support/tiles.js'

const T = year => `${year}-01-01T00:00:00Z`
const SIDE = 16
const POLYGON = { type: 'Polygon', coordinates: [[[-180, 85], [-120, 60], [-140, 30], [-180, 40], [-180, 85]]] }

/** Fills zooms 4 to 6 with three editions, with gone tiles and with heads that have many revisions. */
async function fill (url) {
  const store = await Store.create(url)
  await store.defineLayer('osm', { name: 'A map' })
  for (const z of [4, 5, 6]) {
    const ifKept = (x, y, seed) => (x + y) % 7 ? seed : null
    const seeds = {
      2022: (x, y) => z * 1000 + x * SIDE + y,
      2023: (x, y) => ifKept(x, y, z * 1000 + x * SIDE + y),
      2024: (x, y) => y % 3 ? 9000 + x : ifKept(x, y, x)
    }
    for (const [year, seed] of Object.entries(seeds)) {
      await store.write(square({ layer: 'osm', z, side: Math.min(SIDE, 2 ** z), time: T(+year), seed }))
    }
  }
  // some documents carry more revisions than others
  for (let y = 0; y < SIDE; y++) {
    for (let times = 0; times < y % 4; times++) await store.couch.put({ ...await json(`${url}/osm:6:3:${y}`), times })
  }
  await publishFunctions(store)
  return store
}

onEachStore('the estimate of an area', backend => {
  const pouch = usePouches()
  let url, front

  before(async function () {
    this.timeout(30000)
    url = await backend.database()
    await fill(url)
    front = await startFront(url)
  })
  after(() => front.close())
  beforeEach(() => front.reset())

  const couch = () => new HttpCouch(front.accountUrl)

  for (const [title, options, maxRequests] of /** @type {[string, any, number][]} */ ([
    ['a layer without its past', { current: true }, 12],
    ['a layer with its past', {}, 20],
    ['a box without its past', { current: true, area: parseArea({ bbox: [-180, 20, -100, 80] }) }, 16],
    ['a box with its past', { area: parseArea({ bbox: [-180, 20, -100, 80] }) }, 20],
    ['a box over the antimeridian', { area: parseArea({ bbox: [170, -85, -130, 85] }), zooms: { min: 5, max: 6 } }, 20],
    ['a polygon with its past', { area: parseArea({ polygon: POLYGON }) }, 20],
    ['a box with its past since a time',
      { since: T(2023), area: parseArea({ bbox: [-180, 20, -100, 85] }) }, 20]
  ])) {
    it(`equals the download of ${title}`, async () => {
      const selection = new Selection({ layers: ['osm'], ...options })
      const estimated = await estimate(couch(), selection)
      const requestCount = front.requests().length
      assert.ok(requestCount <= maxRequests, `${requestCount} requests`)
      const estimateBytes = receivedBytes(front.requests())
      front.forget()
      const progress = []
      const area = { layer: 'osm', selection }
      const transfer = new Transfer({ couch: couch(), db: pouch(), area, onProgress: report => progress.push(report) })
      const { counts } = await transfer.run()
      assert.deepEqual({ tiles: estimated.tiles, versions: estimated.versions, bytes: estimated.bytes }, counts)
      const { received } = transfer.progress()
      const bodies = receivedBytes(front.requests().filter(({ path }) => /^_bulk_get|queries$/.test(path)))
      assert.ok(Math.abs(received - bodies) / bodies < 0.001, `${received} bytes were counted of ${bodies}`)
      const downloadBytes = receivedBytes(front.requests())
      assert.ok(Math.abs(estimated.transfer - downloadBytes) / downloadBytes < 0.25,
        `${estimated.transfer} bytes were said, about ${downloadBytes} came`)
      assert.ok(estimateBytes < bodies, 'it is less than what it speaks of')
      assert.deepEqual(progress.at(-1).bytes, counts.bytes)
      assert.ok(progress.every(({ bytes }, turn) => turn === 0 || bytes >= progress[turn - 1].bytes), 'it only grows')
    })
  }

  it('is 0 tiles for an area without tiles', async () => {
    const area = parseArea({ bbox: [100, 0, 120, 10] })
    const selection = new Selection({ layers: ['osm'], current: true, zooms: { min: 5, max: 6 }, area })
    const { tiles, versions, bytes, transfer } = await estimate(couch(), selection)
    assert.deepEqual({ tiles, versions, bytes }, { tiles: 0, versions: 0, bytes: 0 })
    assert.ok(transfer > 0 && transfer < 4000, 'the layer itself comes all the same')
  })

  it('is the same when older design documents lack the view rest_by_area', async () => {
    const selection = new Selection({ layers: ['osm'] })
    const estimated = await estimate(couch(), selection)
    front.rule(({ path }) => /rest_by_area/.test(path) &&
      { status: 404, body: '{"error":"not_found","reason":"missing_named_view"}' })
    const { tiles, versions, bytes } = await estimate(couch(), selection)
    assert.deepEqual({ tiles, versions, bytes },
      { tiles: estimated.tiles, versions: estimated.versions, bytes: estimated.bytes })
  })

  it('fails with INDEX_MISSING in a store without the views', async () => {
    const bare = await backend.database()
    await request(bare, { method: 'PUT' })
    await assert.rejects(estimate(new HttpCouch(bare), new Selection({ layers: ['osm'], current: true })),
      { code: 'INDEX_MISSING' })
    const area = { layer: 'osm', selection: new Selection({ layers: ['osm'] }) }
    await assert.rejects(new Transfer({ couch: new HttpCouch(bare), db: pouch(), area }).run(),
      { code: 'INDEX_MISSING' })
  })

  it('ends with ABORTED when its signal aborts', async () => {
    const stop = new AbortController()
    const pendingEstimate = estimate(couch(), new Selection({ layers: ['osm'] }), { signal: stop.signal })
    stop.abort()
    await assert.rejects(pendingEstimate, { code: 'ABORTED' })
  })
})
