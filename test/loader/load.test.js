// What a load writes: the tiles of a source as an edition, and gone tiles. It warns of future times and tile sizes.
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { check, doctor, load, parseArea, publish } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'
import { writeMbtiles } from '../sources/archive-writers.js'
import { publishFunctions } from '../support/published.js'
import { loadFrom, memorySource } from '../support/memory-source.js'
import { planLoad } from '../../loader/load/plan.js'
import { startGateway } from '../../server/gateway/index.js'

const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']

/** A source of tiles by id: bytes, null, 'gone', 'end' (the source fails there) or an error. */
const sourceOf = (tiles, overrides = {}) => ({
  name: 'x', fields: {}, close () {},
  async * tiles () {
    for (const [id, content] of Object.entries(tiles).sort(([a], [b]) => a < b ? -1 : 1)) {
      const [z, x, y] = id.split(':').map(Number)
      if (content === 'end') throw new Error('the disk is gone')
      const read = () => { if (content instanceof Error) throw content; return content }
      yield content === 'gone' ? { z, x, y, gone: true } : { z, x, y, read }
    }
  },
  ...overrides
})

onEachStore('a load', backend => {
  const folder = useFolder()
  const fixture = useStore(backend)
  let store, url
  beforeEach(() => { ({ store, url } = fixture) })

  const grid = side => Object.fromEntries(Array.from({ length: side * side }, (_, index) =>
    [`4:${Math.floor(index / side)}:${index % side}`, png(index)]))
  const run = (tiles, time, options) => load(store, sourceOf(tiles), { layer: 'osm', time, ...options })
  const heads = async () => {
    const ids = []
    for await (const { id } of store.heads('osm')) ids.push(id)
    return [...(await store.versionsById(ids)).values()].filter(({ gone }) => !gone)
      .map(({ id }) => id.slice(4)).sort()
  }
  const COUNTS = ['tiles', 'created', 'advanced', 'unchanged', 'missing', 'failed', 'gone']
  const countsOf = result => COUNTS.map(name => result[name])

  it('counts listed tiles that the source does not have as missing, and does not write them', async () => {
    const result = await run({ '4:0:0': png(1), '4:0:1': null, '4:9:9': null }, T1)
    assert.deepEqual(countsOf(result), [1, 1, 0, 0, 2, 0, 0])
    assert.equal(result.edition.missing, 2)
    assert.deepEqual((await store.layer('osm')).bounds.map(Math.round),
      [-180, 83, -157, 85], 'it reaches as far as there are tiles')
  })

  it('makes the tiles gone that the source marks as gone', async () => {
    await run(grid(2), T1)
    const result = await run({ '4:0:0': 'gone', '4:1:1': png(99) }, T2)
    assert.deepEqual(countsOf(result), [2, 0, 2, 0, 0, 0, 1])
    assert.deepEqual(await heads(), ['4:0:1', '4:1:0', '4:1:1'])
  })

  it('that is run again does not change its edition, also after an interrupted run', async () => {
    const second = { ...grid(3), '4:0:0': png(50), '4:1:1': 'gone' }
    await run(grid(3), T1)
    const first = await run(second, T2, { title: 'Second' })
    assert.deepEqual(countsOf(first.edition), [9, 0, 2, 7, 0, 0, 1])
    const repeated = await run(second, T2)
    assert.deepEqual(countsOf(repeated), [9, 0, 0, 9, 0, 0, 0])
    assert.deepEqual([repeated.edition, await store.edition('osm', T2)], [first.edition, first.edition])
    await assert.rejects(run({ '4:0:0': png(50), '4:1:0': 'end' }, T2))
    assert.equal((await store.edition('osm', T2)).finished, undefined)
    const { edition: { started, finished, ...repeatedFields } } = await run(second, T2)
    const { started: _, finished: __, ...firstFields } = first.edition
    assert.deepEqual([repeatedFields, Boolean(started && finished)], [firstFields, true])
    const extended = await run({ ...second, '4:5:5': png(60) }, T2)
    assert.deepEqual([extended.edition.tiles, extended.edition.created, extended.edition.unchanged], [10, 1, 9])
  })

  it('that is complete makes missing tiles gone, and keeps tiles that could not be read', async () => {
    await run(grid(3), T1)
    const { '4:0:0': first, ...remainingTiles } = grid(3)
    const source = sourceOf({
      ...remainingTiles,
      '4:0:1': null,
      '4:0:2': Buffer.from('<html>'),
      '4:1:0': new Error('EIO'),
      '4:1:1': Buffer.alloc(0)
    })
    const result = await load(store, source, { layer: 'osm', time: T2, complete: true })
    assert.ok(first)
    assert.deepEqual(countsOf(result), [9 - 2 + 2, 0, 2, 4, 1, 3, 2])
    assert.deepEqual(await heads(), Object.keys(grid(3)).slice(2).sort())
    const repeated = await load(store, source, { layer: 'osm', time: T2, complete: true })
    assert.deepEqual(countsOf(repeated), [7, 0, 0, 4, 1, 3, 0], 'what was gone before is no news')
    await checkInvariants(url)
  })

  it('that is complete makes no tile gone when no tile of the source can be read', async () => {
    await run(grid(3), T1)
    const result = await run({ '4:0:0': new Error('EIO') }, T2, { complete: true })
    assert.deepEqual([result.failed, result.gone], [1, 0])
    await assert.rejects(run({ '4:0:0': null }, T2, { complete: true }), { code: 'SOURCE_EMPTY' })
    assert.equal((await heads()).length, 9)
  })

  it('that reads the failed tiles of an earlier one takes them out of the count of the edition', async () => {
    await run(grid(3), T1)
    const failedTiles = async () => (await store.editions('osm')).find(({ time }) => time === T2).failed
    await run({ ...grid(3), '4:0:1': new Error('EIO'), '4:0:2': new Error('EIO') }, T2)
    assert.equal(await failedTiles(), 2)
    await run({ ...grid(3), '4:0:1': new Error('EIO') }, T2)
    assert.equal(await failedTiles(), 1)
    await run(grid(3), T2)
    assert.equal(await failedTiles(), 0)
    await run({ ...grid(3), '4:0:1': new Error('EIO') }, T2)
    assert.equal(await failedTiles(), 0, 'the edition has the tile')
  })

  it('that is complete counts all of its tiles when it is stopped while it makes others gone', async () => {
    await run(grid(3), T1)
    const stop = new AbortController()
    const onProgress = ({ gone }) => { if (gone) stop.abort() }
    const { code, summary } = await run({ '4:0:0': png(50), '4:0:1': grid(3)['4:0:1'] }, T2,
      { complete: true, signal: stop.signal, onProgress }).catch(error => error)
    assert.equal(code, 'ABORTED')
    assert.deepEqual(countsOf(summary), [9, 0, 8, 1, 0, 0, 7])
  })

  it('that is complete makes tiles gone only in the selected zooms, box and polygons', async () => {
    const tiles = Object.entries(grid(8)).map(([id, bytes]) => {
      const [z, x, y] = id.split(':').map(Number)
      return { z, x, y, bytes }
    })
    writeMbtiles(`${folder.dir}/all.mbtiles`, tiles)
    writeMbtiles(`${folder.dir}/less.mbtiles`, tiles.filter(({ x, y }) => (x + y) % 3))
    await loadFrom(store, `${folder.dir}/all.mbtiles`, { layer: 'osm', time: T1 })
    const polygon = { type: 'Polygon', coordinates: [[[-170, 80], [-70, 80], [-170, 20], [-170, 80]]] }
    let day = 1
    for (const [selection, zooms, count] of [
      [{ polygon, bbox: [-150, 30, -100, 80] }, undefined, 5],
      [{ bbox: [-170, 60, -100, 80] }, undefined, 1],
      [{ polygon }, undefined, 2],
      [{ polygon }, { min: 0, max: 3 }, 0]
    ]) {
      const time = `2024-01-0${day++}T00:00:00Z`
      const area = parseArea(selection)
      const expected = tiles.filter(({ z, x, y }) => (x + y) % 3 === 0 && area.has(z, x, y))
        .map(({ z, x, y }) => `${z}:${x}:${y}`)
      const headsBefore = await heads()
      const result = await loadFrom(store, `${folder.dir}/less.mbtiles`,
        { layer: 'osm', time, complete: true, area, zooms }, { area, zooms }).catch(error => error)
      if (count === 0) assert.equal(result.code, 'SOURCE_EMPTY')
      const removed = headsBefore.filter(id => expected.includes(id))
      assert.deepEqual(await heads(), headsBefore.filter(id => !removed.includes(id)))
      assert.equal(removed.length, count)
    }
  })

  it('keeps and counts the tiles that it read before the source failed', async () => {
    const failure = await run({ ...grid(4), '4:3:2': 'end' }, T1, { complete: true }).catch(error => error)
    assert.deepEqual([failure.message, failure.summary.created, (await heads()).length], ['the disk is gone', 14, 14])
    assert.equal((await store.edition('osm', T1)).finished, undefined)
    const result = await run(grid(4), T1)
    assert.deepEqual([result.created, result.unchanged], [2, 14])
  })

  it('counts its tiles also if it fails after the last one', async () => {
    const { putEdition } = store
    store.putEdition = (layer, time, fields) => {
      if (fields.finished) throw new Error('the store is gone')
      return putEdition.call(store, layer, time, fields)
    }
    const { message, summary } = await run(grid(2), T1).catch(error => error)
    assert.deepEqual([message, summary?.tiles, summary?.created], ['the store is gone', 4, 4])
  })

  it('fails when the source does not give its tiles in order', async () => {
    await run(grid(3), T1)
    const unordered =
      sourceOf({}, { async * tiles () { for (const y of [2, 1, 0]) yield { z: 4, x: 1, y, read: () => png(y) } } })
    await assert.rejects(load(store, unordered, { layer: 'osm', time: T2, complete: true }),
      { code: 'INTERNAL', message: /does not give its tiles in order/ })
    assert.ok((await heads()).length >= 9 - 3)
  })

  it('writes nothing to a store whose validation function does not know manifests', async () => {
    const outdated = ("(function (newDoc) { if (newDoc.type === 'manifest') throw ({ forbidden: 'the id of an " +
      "edition must be edition:LAYER@TIME' }) })").replace("'manifest'", "'other'")
    await store.couch.put({ _id: '_design/tiles', language: 'javascript', validate_doc_update: outdated })
    await assert.rejects(run(grid(2), T1), { code: 'STORE_OUTDATED' })
    await assert.rejects(planLoad(store, sourceOf(grid(2)), { layer: 'osm', time: T1 }), { code: 'STORE_OUTDATED' })
    assert.deepEqual([await store.layers(), await heads()], [[], []])
  })
})

// A layer whose newest tiles are dated in the future: loads, check and doctor warn.

const [NOW, FAR] = ['2024-01-01T00:00:00Z', '2204-01-01T00:00:00Z']

onEachStore('tiles that are dated in the future', backend => {
  let store, url
  useStore(backend, { fill: (...created) => { [store, url] = created } })

  const loadTile = (seed, time) => load(store, memorySource({ '3/1/2': seed }), { layer: 'osm', time })
  const findWarning = async () => {
    const { findings } = await doctor(url)
    return findings.find(({ check: checkName }) => checkName === 'osm: editions')
  }

  it('cause a warning in the load that writes them and in later loads, not in earlier loads', async () => {
    assert.equal((await loadTile(1, NOW)).warnings, undefined)
    const [warning] = (await loadTile(2, FAR)).warnings ?? []
    assert.deepEqual([warning?.code, warning?.details], ['FUTURE_TIME', { layer: 'osm', time: FAR }])
    assert.match(warning?.advice, /tilecouch remove/)
    const [laterWarning] = (await loadTile(3, '2025-01-01T00:00:00Z')).warnings ?? []
    assert.deepEqual([laterWarning?.code, laterWarning?.details.newest], ['FUTURE_TIME', FAR])
    assert.match(laterWarning?.message, /2204-01-01T00:00:00Z/)
  })

  it('are reported by check and doctor, once for each edition and each tile without an edition', async () => {
    await loadTile(1, FAR)
    await store.write([{ layer: 'osm', z: 3, x: 1, y: 3, time: '2205-01-01T00:00:00Z', bytes: png(2) }])
    await publish(store)
    const { kinds, examples } = await check(store)
    assert.equal(kinds['future-time'], 2)
    assert.equal(examples['future-time'].level ?? 'warning', 'warning')
    assert.match(String((await findWarning())?.found), /2205-01-01T00:00:00Z/)
    assert.equal((await findWarning())?.state, 'warning')
    const [warning] = (await loadTile(3, NOW)).warnings ?? []
    assert.equal(warning?.details.newest, '2205-01-01T00:00:00Z', 'also without an edition')
  }).timeout(30000)
})

// Tiles of 512 pixels: a new layer stores this size, and a layer of another size refuses them.

const image = (side, red, format = 'png') => sharp(
  { create: { width: side, height: side, channels: 3, background: { r: red, g: 0, b: 0 } } }
).toFormat(format).toBuffer()

onEachStore('the size of loaded tiles', backend => {
  let store
  useStore(backend, { fill: created => { store = created } })

  const loadTiles = (tiles, options = {}) => load(store, memorySource(tiles), { layer: 'osm', time: T1, ...options })
  const sizeOf = async (name = 'osm') => (await store.layer(name)).tileSize

  it('is stored in a new layer, and shown in TileJSON and WMTS', async () => {
    const blank = png(1) // an image of a few pixels, as for water: its size is ignored
    await loadTiles(
      { '0/0/0': blank, '1/0/0': await image(512, 1), '1/0/1': await image(512,
        2, 'jpeg'), '1/1/0': await image(512, 3, 'webp') }
    )
    assert.equal(await sizeOf(), 512)
    await publishFunctions(store)
    const gateway = await startGateway({ db: store.url, port: 0, logLevel: 'silent' })
    try {
      assert.equal((await (await fetch(`${gateway.url}/osm.json`)).json()).tileSize, 512)
      assert.match(await (await fetch(`${gateway.url}/wmts/1.0.0/WMTSCapabilities.xml`)).text(),
        /<TileWidth>512<\/TileWidth><TileHeight>512<\/TileHeight>/)
    } finally {
      await gateway.close()
    }
  })

  it('is not stored when it is 256, or when no tile shows it', async () => {
    await loadTiles({ '0/0/0': await image(256, 1) })
    assert.equal(await sizeOf(), undefined)
    await loadTiles({ '0/0/0': png(1) }, { layer: 'small' })
    assert.equal(await sizeOf('small'), undefined)
  })

  it('is refused before anything is written when the layer has another size', async () => {
    await loadTiles({ '0/0/0': await image(256, 1) })
    const refusal = { code: 'TILE_SIZE', details: { layer: 'osm', size: 512, expected: 256 } }
    await assert.rejects(loadTiles({ '0/0/0': await image(512, 1) }, { time: T2 }), refusal)
    assert.deepEqual((await store.editions('osm')).map(({ time }) => time), [T1])
    await store.defineLayer('osm', { tileSize: 256 })
    await assert.rejects(loadTiles({ '0/0/0': await image(512, 1) }, { time: T2 }), refusal)
    assert.deepEqual((await store.versions('osm', 0, 0, 0)).map(({ time }) => time), [T1])
  })

  it('that is mixed makes the tiles of another size fail, unless any size is allowed', async () => {
    const mixed =
      { '1/0/0': await image(512, 1), '1/0/1': await image(256, 2), '1/1/0': await image(512, 3), '1/1/1': png(1) }
    const result = await loadTiles(mixed)
    assert.deepEqual([result.created, result.failed, result.failures.map(({ id, code }) => `${id} ${code}`)],
      [3, 1, ['osm:1:0:1 TILE_SIZE']])
    assert.equal((await loadTiles(mixed, { anySize: true })).failed, 0)
    assert.equal(await sizeOf(), 512)
  })

  it('is set by a load when the layer has tiles of 512 pixels and no size', async () => {
    await store.defineLayer('osm', { maxzoom: 1 })
    await store.write([{ layer: 'osm', z: 0, x: 0, y: 0, time: T1, bytes: await image(512, 1) }])
    await loadTiles({ '0/0/0': await image(512, 2) }, { time: T2 })
    assert.equal(await sizeOf(), 512)
  })

  it('is found without reading a tile twice', async () => {
    const reads = []
    const source = memorySource({ '0/0/0': 1, '1/0/0': 2, '1/0/1': 3 })
    const { tiles } = source
    source.tiles = async function * () { for await (const tile of tiles()) {
      yield { ...tile, read: () => { reads.push(tile.z + tile.y); return tile.read() } }
    } }
    assert.equal((await load(store, source, { layer: 'osm', time: T1 })).created, 3)
    assert.deepEqual(reads, [0, 1, 2])
  })
})
