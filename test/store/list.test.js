// Listing and counting the tiles of a layer, for any time, area and zooms, compared with the single versions.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { asOf, endOf, parseArea, tileId } from '../../core/index.js'
import { Store } from '../../loader/store/index.js'
import { listDefaults } from '../../loader/store/ranges.js'
import { tileDocument } from '../../core/store/documents.js'
import { json, onEachStore, put } from '../support/backends.js'
import { collect } from '../support/collect.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'
import { publishFunctions } from '../support/published.js'

const [T1, T2, T3] = ['2021-01-01T00:00:00Z', '2022-06-01T12:00:00Z', '2023-01-01T00:00:00Z']
const TIMES = [T1, T2, T3]
const RUNS = +(process.env.TILECOUCH_LIST_RUNS ?? 12)
const idsOf = versions => versions.map(({ id }) => id)

/** A tile whose numbers have one or several digits. Many tiles are neighbours. */
const place = fc.integer({ min: 0, max: 10 }).chain(z => {
  const number =
    fc.oneof(fc.integer({ min: 0, max: 2 ** z - 1 }), fc.integer({ min: 0, max: Math.min(12, 2 ** z - 1) }))
  return fc.record({ z: fc.constant(z), x: number, y: number })
})
const history = fc.uniqueArray(fc.tuple(place, fc.array(fc.tuple(fc.nat(2), fc.option(fc.nat(3), { freq: 4 })), {
  minLength: 1, maxLength: 4
})), {
  selector: ([{ z, x, y }]) => `${z}/${x}/${y}`, minLength: 1, maxLength: 40
})
const lon = fc.integer({ min: -180, max: 180 })
const lat = fc.integer({ min: -80, max: 79 })
const box = fc.tuple(lon, lat, lon, lat).filter(([, south, , north]) => south !== north)
  .map(
    ([west, south, east, north]) => parseArea({ bbox: [west, Math.min(south, north), east, Math.max(south, north)] })
  )
const corner = fc.tuple(fc.integer({ min: -88, max: 88 }), lat)
const triangle = fc.tuple(corner, corner, corner)
  .filter(([a, b, c]) => (b[0] - a[0]) * (c[1] - a[1]) !== (c[0] - a[0]) * (b[1] - a[1]))
  .map(corners => parseArea({ polygon: { type: 'Polygon', coordinates: [[...corners, corners[0]]] } }))
const selection = fc.record({
  area: fc.option(fc.oneof(box, triangle), { nil: undefined }),
  zooms: fc.option(fc.tuple(fc.nat(10), fc.nat(10)).map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) })),
    { nil: undefined })
})

// limits so small that a few tiles need several requests
const usual = { ...listDefaults }
const atLeast = { page: 1, ranges: 1, columns: 1, spans: 1 }
const limits = fc.record(Object.fromEntries(Object.entries(usual)
  .map(([name, value]) => [name, fc.oneof(fc.constant(value), fc.integer({ min: atLeast[name] ?? 0, max: 4 }))])))

onEachStore('listing', backend => {
  /** @type {Store} */
  let store
  let url
  useStore(backend, { once: true, published: true, fill: (...opened) => { [store, url] = opened } })
  afterEach(() => { Object.assign(listDefaults, usual) })

  /** Writes one version of each place. */
  const write = async (layer, places, time, seed = 1) => {
    const { failed } = await store.write(places.map(
      ({ z, x, y }) => ({ layer, z, x, y, time, ...(seed === null ? { gone: true } : { bytes: png(seed) }) })
    ))
    assert.equal(failed, 0)
  }
  const column = (z, x, count) => Array.from({ length: count }, (_, y) => ({ z, x, y }))
  const listAll = async (layer, options) => collect(store.list(layer, options))

  it('gives the tiles of random histories in the order of ids, for any time, area and limits', async () => {
    let layers = 0
    const anyTime = fc.constantFrom('2020', '2021', T2, '2022-06-01T11', '2025')
    await fc.assert(fc.asyncProperty(history, selection, anyTime, limits, async (tiles, options, time, limitValues) => {
      Object.assign(listDefaults, limitValues)
      const layer = `random${layers++}`
      await store.defineLayer(layer)
      const versions = tiles.flatMap(
        ([address, events]) => events.map(([timeIndex, seed]) => (
          { layer, ...address, time: TIMES[timeIndex], ...(seed === null ? { gone: true } : { bytes: png(seed) }) }
        ))
      )
      await store.write(versions) // versions for a time that is taken fail: this is expected
      const selected = tiles.map(([address]) => address)
        .filter(({ z, x, y }) => (!options.area || options.area.has(z, x, y)) &&
          (!options.zooms || (z >= options.zooms.min && z <= options.zooms.max)))
        .map(address => ({ ...address, id: tileId(layer, address.z, address.x, address.y) }))
          .sort((a, b) => a.id < b.id ? -1 : 1)

      const expected = { tiles: [], now: [], then: [] }
      for (const { id, z, x, y } of selected) {
        const stored = await store.versions(layer, z, x, y)
        if (!stored.length) continue
        expected.tiles.push(
          { id, z, x, y, versions: stored.map(({ type, digest, checked, stored: _, ...listed }) => listed) }
        )
        const [newest, versionAtTime] = [stored.at(-1), asOf(stored, endOf(time))]
        if (!newest.gone) expected.now.push(newest)
        if (versionAtTime && !versionAtTime.gone) expected.then.push(versionAtTime)
      }
      assert.deepEqual(await collect(store.listTiles(layer, options)), expected.tiles)
      const listedFields = listed =>
        listed.map(({ id, z, x, y, current, gone, size }) => ({ id, layer, z, x, y, current, gone, size }))
      assert.deepEqual(await listAll(layer, options), listedFields(expected.now))
      const listedAtTime = await listAll(layer, { ...options, time })
      assert.deepEqual(listedAtTime, expected.then.map(({ type, digest, checked, stored: _, ...listed }) => listed))
      const sum = listed => ({ tiles: listed.length, bytes: listed.reduce((bytes, { size }) => bytes + size, 0) })
      assert.deepEqual(await store.count(layer, options), sum(expected.now))
      assert.deepEqual(await store.count(layer, { ...options, time }), sum(expected.then))

      const fetched = await collect(store.fetch(store.list(layer, { ...options, time })))
      assert.deepEqual(idsOf(fetched), idsOf(expected.then))
      for (const { z, x, y, bytes, digest } of fetched) {
        const shown = await store.at(layer, z, x, y, time)
        assert.ok(bytes.equals(shown.bytes) && digest === shown.digest)
      }
    }), { numRuns: RUNS, seed: +(process.env.TILECOUCH_SEED ?? 1) })
  }).timeout(300000)

  describe('of a column with more tiles than a request answers', () => {
    const tallColumn = column(12, 7, 3000)
    const idsInOrder = places => places.map(({ z, x, y }) => `tall:${z}:${x}:${y}`).sort()
    before(async function () {
      this.timeout(120000)
      await store.defineLayer('tall')
      await write('tall', [...tallColumn, ...column(12, 70, 5)], T1)
      await write('tall', tallColumn.filter(({ y }) => y % 3 === 0), T2, 2)
      await write('tall', tallColumn.filter(({ y }) => y % 30 === 0), T3, null)
    })

    it('gives every tile once and in order', async () => {
      assert.deepEqual(idsOf(await listAll('tall')),
        idsInOrder([...tallColumn.filter(({ y }) => y % 30), ...column(12, 70, 5)]))
      assert.deepEqual((await listAll('tall', { time: T1 })).map(({ id }) => id.replace(/@.*/, '')),
        idsInOrder([...tallColumn, ...column(12, 70, 5)]))
      const tiles = await collect(store.listTiles('tall'))
      assert.deepEqual(idsOf(tiles), idsInOrder([...tallColumn, ...column(12, 70, 5)]))
      assert.deepEqual(tiles.find(({ id }) => id === 'tall:12:7:300').versions.map(
        ({ time, gone, current }) => [time, gone, current]
      ), [[T1, false, false], [T2, false, false], [T3, true, true]])
    })

    it('reads few rows outside a requested area', async () => {
      const area = parseArea({ bbox: '-179.4,10,-179.1,79' })
      const expected = idsInOrder(tallColumn.filter(({ z, x, y }) => area.has(z, x, y)))
      assert.ok(expected.length > 100 && expected.length < 1800)
      const rows = spy()
      assert.deepEqual((await listAll('tall', { area, time: '2021' })).map(({ id }) => id.replace(/@.*/, '')), expected)
      assert.ok(rows.read() < 2 * expected.length, `${rows.read()} rows read for ${expected.length} tiles`)
      const { tiles, bytes } = await store.count('tall', { area })
      const heads = await listAll('tall', { area })
      assert.deepEqual([tiles, bytes], [heads.length, heads.reduce((sum, { size }) => sum + size, 0)])
      rows.end()
    })

    it('ends when its signal aborts or its consumer stops', async () => {
      const stop = new AbortController()
      await assert.rejects(async () => {
        for await (const { y } of store.list('tall', { time: '2021', signal: stop.signal })) if (y === 101) stop.abort()
      }, { code: 'ABORTED' })
      await assert.rejects(listAll('tall', { signal: AbortSignal.abort() }), { code: 'ABORTED' })
      for await (const { id } of store.listTiles('tall')) if (id) break
    })
  })

  /** Counts the rows and requests of views. */
  function spy () {
    const { couch } = store
    let [rows, requests] = [0, 0]
    couch.queries = async (...parameters) => {
      const answers = await Object.getPrototypeOf(couch).queries.apply(couch, parameters)
      requests++
      rows += answers.flat().length
      return answers
    }
    return { read: () => rows, requests: () => requests, end () { delete couch.queries } }
  }

  it('reads no rows of the past when only the present is requested', async () => {
    await store.defineLayer('deep')
    const places = column(6, 3, 50)
    const days =
      Array.from({ length: 50 }, (_, day) => new Date(Date.UTC(2020, 0, day + 1)).toISOString().slice(0, 19) + 'Z')
    for (const [day, time] of days.entries()) {
      const docs = places.map(
        ({ z, x, y }) => tileDocument({
          id: tileId('deep', z, x, y), layer: 'deep', z, x, y, time, type: 'image/png', bytes: png(day)
        }, { current: day === 49, stored: time })
      )
      assert.ok((await store.couch.bulk(docs)).every(({ ok }) => ok))
    }
    const rows = spy()
    assert.equal((await listAll('deep')).length, 50)
    assert.deepEqual(await store.count('deep'), { tiles: 50, bytes: 50 * png(49).length })
    assert.ok(rows.read() < 60, `${rows.read()} rows for 50 tiles`)
    rows.end()
    const tiles = await collect(store.listTiles('deep'))
    assert.deepEqual(tiles.map(({ versions }) => versions.length), Array(50).fill(50))
    assert.deepEqual(tiles[7].versions.map(({ time }) => time),
      (await store.versions('deep', 6, 3, tiles[7].y)).map(({ time }) => time))
    assert.deepEqual(new Set((await listAll('deep', { time: '2020-01-17' })).map(({ time }) => time)),
      new Set(['2020-01-17T00:00:00Z']))
  }).timeout(120000)

  it('reads few rows for a small area, and needs few requests for a sparse layer', async () => {
    await store.defineLayer('sparse')
    const places =
      Array.from({ length: 600 }, (_, n) => ({ z: 18, x: (n * 431 + 5) % 2 ** 18, y: (n * 7919) % 2 ** 18 }))
    await write('sparse', places, T1)
    const rows = spy()
    assert.equal((await listAll('sparse')).length, 600)
    assert.ok(rows.requests() < 30, `${rows.requests()} requests`)
    const world = await listAll('sparse', { area: parseArea({ bbox: '-180,-85.06,180,85.06' }) })
    assert.equal(world.length, 600)
    const rowsBefore = rows.read()
    const area = parseArea({ bbox: '10,-85,10.5,85' })
    const strip = await listAll('sparse', { area })
    assert.deepEqual(idsOf(strip), world.filter(({ z, x, y }) => area.has(z, x, y)).map(({ id }) => id))
    assert.ok(strip.length < 3 && rows.read() - rowsBefore < 10, `${rows.read() - rowsBefore} rows read`)
    rows.end()
  }).timeout(60000)

  it('sorts tiles by their ids as text, not by their numbers', async () => {
    await store.defineLayer('digits')
    const numbers = [0, 1, 2, 9, 10, 11, 19, 20, 99, 100, 109, 190, 199, 200, 999]
    const places = numbers.flatMap(x => numbers.map(y => ({ z: 10, x, y })))
    await write('digits', [...places, { z: 1, x: 1, y: 1 }, { z: 2, x: 1, y: 1 }], T1)
    const expected = [...places.map(({ x, y }) => `digits:10:${x}:${y}`), 'digits:1:1:1', 'digits:2:1:1'].sort()
    for (const page of [usual.page, 3]) {
      listDefaults.page = page
      assert.deepEqual(idsOf(await listAll('digits')), expected)
      assert.deepEqual(idsOf(await listAll('digits', { time: '2021' })), expected)
    }
  })

  it('gives a version once that a killed load left as head and as past', async () => {
    await store.defineLayer('killed')
    await write('killed', column(3, 1, 2), T1)
    const head = await json(`${url}/killed:3:1:0?attachments=true`, { headers: { accept: 'application/json' } })
    const copy = { ...head, _id: `killed:3:1:0@${T1}`, _rev: undefined, current: false }
    delete copy._attachments.tile.digest
    delete copy._attachments.tile.revpos
    assert.equal((await put(`${url}/${encodeURIComponent(copy._id)}`, copy)).ok, true)
    const [{ versions }] = await collect(store.listTiles('killed'))
    assert.deepEqual(versions.map(({ id, time, current }) => [id, time, current]), [['killed:3:1:0', T1, true]])
    assert.deepEqual(idsOf(await listAll('killed', { time: '2021' })), ['killed:3:1:0', 'killed:3:1:1'])
  })

  it('is empty for a layer or area without tiles, and fails for a missing layer', async () => {
    await store.defineLayer('empty')
    assert.deepEqual(await listAll('empty'), [])
    assert.deepEqual(await listAll('empty', { time: '2021' }), [])
    assert.deepEqual(await store.count('empty'), { tiles: 0, bytes: 0 })
    await write('empty', [{ z: 5, x: 1, y: 1 }], T1)
    const area = parseArea({ bbox: '100,0,110,10' })
    assert.deepEqual(await listAll('empty', { area }), [])
    assert.deepEqual(await collect(store.listTiles('empty', { zooms: { min: 6, max: 30 } })), [])
    for (const options of [{}, { time: '2021' }, { area }]) {
      await assert.rejects(listAll('nothere', options), { code: 'LAYER_NOT_FOUND' })
      await assert.rejects(store.count('nothere', options), { code: 'LAYER_NOT_FOUND' })
    }
    await assert.rejects(listAll('empty', { time: 'soon' }), { code: 'BAD_TIME' })
    await assert.rejects(listAll('Bad:name'), { code: 'BAD_LAYER' })
  })

  it('leaves out invalid documents that claim to be tiles', async () => {
    const otherStore = await Store.create(await backend.database())
    await otherStore.defineLayer('osm')
    await otherStore.write(column(4, 3, 3).map(address => ({ layer: 'osm', ...address, time: T1, bytes: png(1) })))
    const tile = { type: 'tile', layer: 'osm', z: 4, x: 3, y: 1, current: true, time: T1, _attachments: {
      tile: { content_type: 'image/png', data: png(2).toString('base64') }
    } }
    const invalidFields = [{}, { y: 1.5 }, { x: 3.5 }, { y: 99 }, { x: 16 },
      { z: '4' }, { z: 99 }, { z: 4.5 }, { y: -1 }, { x: -1 }, { layer: 'osm2' }, { time: T2 }, { current: false }]
    await otherStore.couch.bulk(invalidFields.map((fields, index) => ({ ...tile, ...fields, _id: `0strange${index}` })))
    await publishFunctions(otherStore)
    const expected = ['osm:4:3:0', 'osm:4:3:1', 'osm:4:3:2']
    assert.deepEqual(idsOf(await collect(otherStore.list('osm'))), expected)
    assert.deepEqual(idsOf(await collect(otherStore.list('osm', { time: '2021' }))), expected)
    assert.deepEqual((await collect(otherStore.listTiles('osm'))).map(({ id, versions }) => [id, idsOf(versions)]),
      expected.map(id => [id, [id]]))
    await otherStore.destroy()
  })

  it('fails with INDEX_MISSING when the views are not deployed', async () => {
    const bareStore = await Store.create(await backend.database())
    await bareStore.defineLayer('osm')
    await assert.rejects(collect(bareStore.list('osm')), { code: 'INDEX_MISSING' })
    await assert.rejects(collect(bareStore.listTiles('osm')), { code: 'INDEX_MISSING' })
    await bareStore.destroy()
  })
})
