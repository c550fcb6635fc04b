// What an area is said to be before anything of it is there, against what it is then: tiles, versions, bytes, and about
// how many bytes of bodies.
import assert from 'node:assert/strict'
import { HttpCouch } from '../../client/mirror/http.js'
import { estimate } from '../../client/offline/estimate.js'
import { Transfer } from '../../client/offline/transfer.js'
import { parseArea } from '../../core/index.js'
import { Selection } from '../../core/mirror/index.js'
import { Store } from '../../loader/index.js'
import { publishFunctions } from '../support/published.js'
import { startFront } from '../support/client/front.js'
import { usePouches } from '../support/client/pouches.js'
import { as, json, onEachStore, request } from '../support/backends.js'
import { square } from '../support/tiles.js'

const T = year => `${year}-01-01T00:00:00Z`
const SIDE = 16
const POLYGON = { type: 'Polygon', coordinates: [[[-180, 85], [-120, 60], [-140, 30], [-180, 40], [-180, 85]]] }

/** Bytes of bodies that came. */
const down = entries => entries.reduce((sum, { bytes }) => sum + bytes.down, 0)

/** Zooms 4 to 6 with three editions, places that are gone, and heads that were changed often. */
async function fill (url) {
  const store = await Store.create(url)
  await store.defineLayer('osm', { name: 'A map' })
  for (const z of [4, 5, 6]) {
    for (const [year, seed] of /** @type {[number, (x: number, y: number) => number | null][]} */ ([
      [2022, (x, y) => z * 1000 + x * SIDE + y], [2023, (x, y) => (x + y) % 7 ? z * 1000 + x * SIDE + y : null],
      [2024, (x, y) => y % 3 ? 9000 + x : (x + y) % 7 ? x : null]
    ])) await store.write(square({ layer: 'osm', z, side: Math.min(SIDE, 2 ** z), time: T(year), seed }))
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

  const couch = () => {
    const { username, password } = new URL(url)
    return new HttpCouch(as(front.url, username, password))
  }

  for (const [title, wanted, most] of /** @type {[string, any, number][]} */ ([
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
      const selection = new Selection({ layers: ['osm'], ...wanted })
      const said = await estimate(couch(), selection)
      const asked = front.requests().length
      assert.equal(asked, said.requests, 'requests are counted')
      assert.ok(asked <= most, `${asked} requests`)
      const images = down(front.requests())
      front.forget()
      const progress = []
      const area = { layer: 'osm', selection }
      const transfer = new Transfer({ couch: couch(), db: pouch(), area, onProgress: now => progress.push(now) })
      const { counts } = await transfer.run()
      assert.deepEqual({ tiles: said.tiles, versions: said.versions, bytes: said.bytes }, counts)
      const { received } = transfer.progress()
      const bodies = down(front.requests().filter(({ path }) => /^_bulk_get|queries$/.test(path)))
      assert.ok(Math.abs(received - bodies) / bodies < 0.001, `${received} bytes were counted of ${bodies}`)
      const all = down(front.requests())
      assert.ok(Math.abs(said.transfer - all) / all < 0.25, `${said.transfer} bytes were said, about ${all} came`)
      assert.ok(images < bodies, 'it is less than what it speaks of')
      assert.deepEqual(progress.at(-1).bytes, counts.bytes)
      assert.ok(progress.every(({ bytes }, at) => at === 0 || bytes >= progress[at - 1].bytes), 'it only grows')
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
    const said = await estimate(couch(), selection)
    front.rule(({ path }) => /rest_by_area/.test(path) &&
      { status: 404, body: '{"error":"not_found","reason":"missing_named_view"}' })
    const { tiles, versions, bytes } = await estimate(couch(), selection)
    assert.deepEqual({ tiles, versions, bytes }, { tiles: said.tiles, versions: said.versions, bytes: said.bytes })
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
    const told = estimate(couch(), new Selection({ layers: ['osm'] }), { signal: stop.signal })
    stop.abort()
    await assert.rejects(told, { code: 'ABORTED' })
  })
})
