// Seeding a layer from an upstream: areas, plans, dry runs, expired tiles, metatiles and gone tiles.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { addSeconds, compareIds, now, parseArea, tileId } from '../../core/index.js'
import { json, onEachStore } from '../support/backends.js'
import { pixelsOf, tilePixels } from '../support/upstream-server.js'
import { checkInvariants } from '../support/invariants.js'
import { TILE, addsUp, counts, pyramid, useSeeding } from '../support/seeding.js'
import { publishFunctions } from '../support/published.js'

const HOUR = 3600

onEachStore('seeding', backend => {
  const map = useSeeding(backend)

  it('fetches the tiles of an area, stores them, reports its progress, and fetches none of them again', async () => {
    await map.define({ ttl: HOUR })
    const [plans, progress] = [[], []]
    const summary =
      await map.seed({ onPlan: plan => plans.push(plan), onProgress: ({ tiles: done }) => progress.push(done) })
    assert.deepEqual(counts(summary), { tiles: pyramid(3), fetched: pyramid(3), new: pyramid(3) })
    assert.deepEqual([summary.planned, progress.at(-1)], [pyramid(3), pyramid(3)])
    assert.deepEqual(progress, [...progress].sort((a, b) => a - b))
    assert.ok(addsUp(summary), 'every tile is counted once')
    assert.deepEqual(plans[0].zooms.map(({ tiles }) => tiles), [1, 4, 16, 64])
    const tiles = await checkInvariants(map.url)
    assert.equal(tiles.size, pyramid(3))
    for (const [id, [{ bytes }]] of tiles) {
      const [, z, x, y] = id.split(':').map(Number)
      assert.deepEqual(bytes, await map.upstream.tile(z, x, y), id)
    }
    const head = await map.store.head('map', 3, 5, 1)
    assert.match(head.origin.url, /\/xyz\/3\/5\/1\.png$/)
    assert.ok(head.origin.etag)
    assert.ok(head.expires >= addSeconds(head.stored, HOUR - 60))
    assert.equal((await map.store.layer('map')).format, 'png', 'it had none')

    map.forget()
    const second = await map.seed()
    assert.deepEqual(counts(second), { tiles: pyramid(3), fresh: pyramid(3) })
    assert.deepEqual(map.asked(), [], 'nothing was asked')
  })

  it('fetches in the order of ids, so that the store is written at its end', async () => {
    await map.define({}, { concurrency: 1 })
    await map.seed({ zooms: { min: 0, max: 4 }, bbox: '-180,20,180,60' })
    const ids = map.upstream.asked.map(({ z, x, y }) => tileId('map', z, x, y))
    assert.ok(ids.length > 50)
    assert.deepEqual(ids, [...ids].sort(compareIds))
  })

  it('fetches exactly the tiles a polygon touches', async () => {
    await map.define()
    const polygon = { type: 'Polygon', coordinates: [[[-100, -60], [60, -70], [120, 65], [-20, 75], [-100, -60]],
      [[-30, -30], [30, -30], [30, 40], [-30, 40], [-30, -30]]] }
    const summary = await map.seed({ polygon, zooms: { min: 2, max: 5 } })
    const area = parseArea({ polygon })
    const expected = [2, 3, 4, 5].flatMap(z => [...area.tiles(z)].map(({ x, y }) => `${z}/${x}/${y}`)).sort()
    assert.deepEqual((await map.tiles()).sort(), expected)
    assert.deepEqual(map.asked().sort(), expected, 'each was asked for once')
    assert.equal(summary.planned, expected.length)
    assert.ok(!expected.includes('5/16/16'), 'there is a hole')
  })

  it('keeps to the zooms and bounds of the layer and of its upstream', async () => {
    await map.define({ maxzoom: 3, bounds: [0, -85, 180, 85] }, { minzoom: 2, bounds: [-90, 0, 90, 85] })
    const summary = await map.seed({ zooms: { min: 0, max: 12 } })
    assert.equal(summary.planned, 2 + 8)
    assert.deepEqual((await map.tiles()).sort(),
      [2, 3].flatMap(z => [...parseArea({ bbox: '0,0,90,85' }).tiles(z)].map(({ x, y }) => `${z}/${x}/${y}`)).sort())
    await assert.rejects(map.seed({ zooms: { min: 5, max: 7 } }),
      { code: 'BAD_AREA', message: /no tiles of zoom 5 to 7/ })
    await assert.rejects(map.seed({ bbox: '-170,-80,-160,-70', zooms: { min: 3, max: 3 } }), { code: 'BAD_AREA' })
  })

  it('estimates tiles, and their bytes when the layer already has tiles', async () => {
    await map.define()
    const plans = []
    const onPlan = plan => plans.push(plan)
    await map.seed({ zooms: { min: 0, max: 2 }, dryRun: true, onPlan })
    assert.deepEqual(plans[0],
      { tiles: 21, bytes: null, zooms: [1, 4, 16].map((tiles, z) => ({ z, tiles, bytes: null })) })
    await publishFunctions(map.store)
    await map.seed({ zooms: { min: 0, max: 1 }, onPlan })
    await map.seed({ zooms: { min: 0, max: 3 }, dryRun: true, onPlan })
    const { zooms } = await map.store.stats('map')
    const mean = zooms[1].currentBytes / 4
    assert.deepEqual(plans[2].zooms.map(({ bytes }) => bytes),
      [zooms[0].currentBytes, zooms[1].currentBytes, Math.round(16 * mean), Math.round(64 * mean)])
  })

  it('changes nothing in a dry run', async () => {
    await map.define()
    await map.seed({ zooms: { min: 0, max: 2 } })
    map.forget()
    const before = await json(map.url)
    const failures = []
    const summary = await map.seed({ dryRun: true, onFailure: failure => failures.push(failure) })
    assert.deepEqual(counts(summary), { tiles: pyramid(3), fresh: pyramid(2), stale: 64 })
    assert.deepEqual(map.upstream.requests, [])
    const after = await json(map.url)
    assert.deepEqual([after.doc_count, after.update_seq], [before.doc_count, before.update_seq])
  })

  it('fetches expired tiles again, and lets unchanged ones expire later', async () => {
    await map.define({ ttl: 1 })
    await map.seed({ zooms: { min: 0, max: 2 } })
    const first = await map.store.head('map', 2, 1, 1)
    await map.define({ ttl: HOUR })
    while (now() <= first.expires) await sleep(50)
    map.forget()
    const summary = await map.seed({ zooms: { min: 0, max: 2 } })
    assert.deepEqual(counts(summary), { tiles: 21, fetched: 21, unchanged: 21 })
    assert.ok(map.upstream.asked.every(({ status }) => status === 304), 'the upstream was asked whether it changed')
    const head = await map.store.head('map', 2, 1, 1)
    assert.deepEqual([head.time, head.stored], [first.time, first.stored])
    assert.ok(head.expires > addSeconds(now(), HOUR / 2))
    assert.deepEqual(counts(await map.seed({ zooms: { min: 0, max: 2 } })), { tiles: 21, fresh: 21 })
  })

  for (const [answerKind, behaviour] of Object.entries({ 'sends ETags': {}, 'sends every tile again': { etag: false },
    'sends Last-Modified': { lastModified: '2020-02-02T00:00:00Z', etag: false } })) {
    it(`makes new versions only of changed bytes, with an upstream that ${answerKind}`, async () => {
      await map.define()
      map.upstream.behave(behaviour)
      await map.seed()
      map.forget()
      const soon = addSeconds(now(), 1)
      while (now() < soon) await sleep(50)
      const otherBytes = await map.upstream.tile(0, 0, 0, { epoch: 7 })
      const isChanged = ({ x, z }) => z === 3 && x % 2
      map.upstream.behave({ ...behaviour, body: tile => isChanged(tile) ? otherBytes : undefined,
        ...(behaviour.lastModified &&
          { lastModified: tile => isChanged(tile) ? '2021-03-03T00:00:00Z' : behaviour.lastModified }) })
      const summary = await map.seed({ refreshBefore: soon })
      assert.deepEqual(counts(summary), { tiles: 85, fetched: 85, changed: 32, unchanged: 53 })
      for (const [id, versions] of await checkInvariants(map.url)) {
        const [, z, x] = id.split(':').map(Number)
        assert.equal(versions.length, isChanged({ x, z }) ? 2 : 1, id)
      }
      const [first, second] = await map.store.versions('map', 3, 1, 1)
      if (behaviour.lastModified) {
        assert.deepEqual([first.time, second.time], ['2020-02-02T00:00:00Z', '2021-03-03T00:00:00Z'])
      }

      map.forget()
      assert.deepEqual(counts(await map.seed({ refreshBefore: soon })),
        { tiles: 85, fresh: 85 }, 'run again, it has nothing to do')
      assert.deepEqual(map.asked(), [])
    })
  }

  it('fetches each metatile of a WMS once, and stores only the tiles of the area', async () => {
    await map.define({}, { type: 'wms', url: `${map.upstream.url}/wms`, layers: 'world', metatile: 4, buffer: 16 })
    const bbox = '-100,-30,40,60'
    const summary = await map.seed({ bbox, zooms: { min: 3, max: 4 } })
    const area = parseArea({ bbox })
    const expected = [3, 4].flatMap(z => [...area.tiles(z)])
    assert.deepEqual((await map.tiles()).sort(), expected.map(({ z, x, y }) => `${z}/${x}/${y}`).sort())
    assert.deepEqual(counts(summary), { tiles: expected.length, fetched: expected.length, new: expected.length })
    const metatiles = new Set(expected.map(({ z, x, y }) => `${z}/${x >> 2}/${y >> 2}`))
    assert.deepEqual([map.asked().length, summary.requests], [metatiles.size, metatiles.size])
    const [{ z, x, y }] = expected
    assert.deepEqual(await pixelsOf((await map.store.head('map', z, x, y)).bytes), tilePixels(z, x, y, { size: TILE }))

    map.forget()
    const soon = addSeconds(now(), 1)
    while (now() < soon) await sleep(50)
    assert.deepEqual(counts(await map.seed({ bbox, zooms: { min: 3, max: 4 }, refreshBefore: soon })),
      { tiles: expected.length, fetched: expected.length, unchanged: expected.length })
    assert.ok(map.upstream.asked.every(({ status }) => status === 304))
  })

  it('counts tiles that the upstream lacks as missing, and keeps those in the store', async () => {
    await map.define()
    await map.seed({ zooms: { min: 1, max: 1 } })
    const statusOfZoom = { 1: 410, 2: 404 }
    map.upstream.behave({ status: ({ z, y }) => y === 0 ? statusOfZoom[z] : undefined })
    const summary = await map.seed({ zooms: { min: 1, max: 2 }, refreshBefore: addSeconds(now(), 60) })
    assert.deepEqual(counts(summary), { tiles: 20, fetched: 14, new: 12, unchanged: 2, missing: 6 })
    assert.equal((await map.tiles()).length, 16)
  })

  it('stores a gone tile that it fetches again as a new version', async () => {
    await map.define()
    const time = '2020-01-01T00:00:00Z'
    await map.store.write([{ layer: 'map', z: 0, x: 0, y: 0, time, bytes: await map.upstream.tile(0, 0, 0) },
      { layer: 'map', z: 0, x: 0, y: 0, time: '2021-01-01T00:00:00Z', gone: true }])
    assert.deepEqual(counts(await map.seed({ zooms: { min: 0, max: 0 } })),
      { tiles: 1, fresh: 1 }, 'that it is gone is known')
    const summary = await map.seed({ zooms: { min: 0, max: 0 }, refreshBefore: addSeconds(now(), 60) })
    assert.deepEqual(counts(summary), { tiles: 1, fetched: 1, changed: 1 })
    assert.deepEqual((await map.store.versions('map', 0, 0, 0)).map(({ gone }) => gone), [false, true, false])
  })
})
