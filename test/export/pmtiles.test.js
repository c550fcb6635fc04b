import assert from 'node:assert/strict'
import { openAsBlob, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { gzipSync, gunzipSync } from 'node:zlib'
import { FileSource, PMTiles, zxyToTileId } from 'pmtiles'
import sharp from 'sharp'
import { random } from '../../bench/tiles.js'
import { Facts } from '../../loader/export/target.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { checkArchive } from './pmtiles-archive.js'
import { TIME, begin, pyramid, tile, write } from './pmtiles-writing.js'

const SEA = 7

/** The official reader. */
async function reading (file) {
  const blob = await openAsBlob(file)
  return new PMTiles(new FileSource(Object.assign(blob, { name: path.basename(file) })))
}

async function assertHolds (file, tiles) {
  const reader = await reading(file)
  for (const { z, x, y, bytes } of tiles) {
    const found = await reader.getZxy(z, x, y)
    assert.ok(found && Buffer.from(found.data).equals(bytes), `${z}/${x}/${y}`)
  }
}

function shuffled (items) {
  const next = random(3)
  return items.map(item => ({ item, key: next() })).sort((a, b) => a.key - b.key).map(({ item }) => item)
}

describe('a PMTiles archive', () => {
  const folder = useFolder()

  it('holds every tile of the first zooms, byte for byte', async () => {
    const tiles = pyramid([0, 1, 2, 3, 4, 5])
    const { file, size, distinct } = await write(folder.dir, tiles)
    const { header, bytes } = checkArchive(file)
    assert.equal(header.addressed, 1365)
    assert.deepEqual([size, distinct], [bytes.length, 1365])
    await assertHolds(file, tiles)
    assert.deepEqual(readdirSync(folder.dir), ['map.pmtiles'], 'nothing is left beside it')
  })

  it('is the same file for any order of its tiles', async () => {
    const tiles = pyramid([0, 2, 4], (z, x, y) => (x + y) % 5 === 0 ? SEA : z * 1e6 + x * 1000 + y)
    const { file } = await write(folder.dir, tiles)
    const other = await write(folder.dir, shuffled(tiles), { name: 'other.pmtiles' })
    assert.ok(readFileSync(file).equals(readFileSync(other.file)))
    checkArchive(file)
  })

  it('has no tile that was not added', async () => {
    const { file } = await write(folder.dir, pyramid([3], (z, x, y) => (x + y) % 2 ? undefined : SEA))
    const reader = await reading(file)
    for (let x = 0; x < 8; x++) for (let y = 0; y < 8; y++) {
      assert.equal(Boolean(await reader.getZxy(3, x, y)), (x + y) % 2 === 0)
    }
    assert.equal(await reader.getZxy(2, 0, 0), undefined)
  })

  it('stores equal tiles once, and neighbours in runs', async () => {
    const tiles = pyramid([4, 5], (z, x) => x < 2 ** (z - 1) ? SEA : undefined)
    const { file, distinct } = await write(folder.dir, tiles)
    const { header, entries } = checkArchive(file)
    assert.equal(distinct, 1)
    assert.equal(header.dataLength, png(SEA).length)
    assert.equal(header.addressed, tiles.length)
    // the west is the first and the last quarter but one of the curve, whichever way it turns: two runs a zoom, joined
    // where zooms meet
    assert.ok(entries.length <= 4, `${entries.length} entries`)
    await assertHolds(file, tiles)
  })

  it('joins a run over the border of two zooms', async () => {
    const { file } = await write(folder.dir, pyramid([0, 1, 2], () => SEA))
    assert.deepEqual(checkArchive(file).entries.map(({ id, run }) => [id, run]), [[0, 21]])
  })

  it('puts entries into leaves when they do not fit behind the header', async () => {
    const tiles = pyramid([8], (z, x, y) => (x * 7 + y * 13) % 50)
    const { file } = await write(folder.dir, tiles)
    const { header, leaves, entries } = checkArchive(file)
    assert.ok(entries.length > 16384)
    assert.deepEqual(leaves.slice(0, -1).map(leaf => leaf.entries.length), Array(leaves.length - 1).fill(4096))
    assert.ok(header.leavesLength > 0 && leaves.length > 1)
    await assertHolds(file, shuffled(tiles).slice(0, 500))
  })

  it('may hold a single tile', async () => {
    for (const [z, x, y] of [[0, 0, 0], [13, 4303, 2881], [26, 0, 0],
      [26, 2 ** 26 - 1, 2 ** 26 - 1], [26, 2 ** 26 - 1, 0], [26, 12345678, 66666666]]) {
      const name = `${z}-${x}-${y}.pmtiles`
      const { file } = await write(folder.dir, [tile(z, x, y, png(1))], { name })
      const { header, entries } = checkArchive(file)
      assert.deepEqual([header.minZoom, header.maxZoom, entries[0].id], [z, z, zxyToTileId(z, x, y)])
      await assertHolds(file, [tile(z, x, y, png(1))])
    }
  })

  it('refuses zooms above 26, which readers do not find', async () => {
    for (const z of [27, 28, 30]) {
      const { target, stop } = await begin(folder.dir, [tile(3, 0, 0, png(1))])
      await assert.rejects(target.add(tile(z, 5, 5, png(1))),
        { code: 'TARGET_UNWRITABLE', message: new RegExp(`zoom ${z}.*--zoom 0-26`) })
      assert.equal(target.has(tile(z, 5, 5, png(1))), false)
      await stop()
    }
    await assert.rejects(begin(folder.dir, [], { doc: { maxzoom: 28 } }),
      { code: 'TARGET_UNWRITABLE' }, 'before anything is fetched')
    await assert.rejects(begin(folder.dir, [], { doc: { maxzoom: 30 }, zooms: { min: 0, max: 27 } }),
      { code: 'TARGET_UNWRITABLE' })
    await write(folder.dir, [tile(26, 5, 5, png(1))], { doc: { maxzoom: 30 }, zooms: { min: 0, max: 26 } })
  })

  it('has the description of the layer', async () => {
    const doc = {
      name: 'City', description: 'Streets', attribution: '© us', version: '3',
      legend: 'red: roads', center: [8.5, 47.4, 2], bounds: [5.9, 45.8, 10.5, 47.8],
      tileSize: 512, upstream: { url: 'https://secret.example/{z}/{x}/{y}' }
    }
    const { file } = await write(folder.dir, pyramid([1, 2, 3]), { doc, time: '2024-03-01T00:00:00Z' })
    const { header, metadata } = checkArchive(file)
    assert.deepEqual(metadata,
      {
        name: 'City', description: 'Streets', attribution: '© us', version: '3',
        legend: 'red: roads', type: 'baselayer', format: 'png', tileSize: '512', 'tilecouch:time': TIME
      })
    assert.deepEqual([header.minLon, header.minLat, header.maxLon, header.maxLat], doc.bounds)
    assert.deepEqual([header.centerLon, header.centerLat, header.centerZoom], doc.center)
    assert.deepEqual([header.tileType, header.tileCompression], [2, 1])
  })

  it('has the bounds of its tiles when the layer has no bounds', async () => {
    const { file } = await write(folder.dir, [tile(4, 8, 5, png(1)), tile(4, 8, 4, png(2))])
    const { header, metadata } = checkArchive(file)
    assert.equal(metadata.name, 'map')
    assert.deepEqual([header.minLon, header.maxLon], [0, 22.5])
    assert.ok(Math.abs(header.minLat - 40.9798981) < 1e-7 && Math.abs(header.maxLat - 66.5132604) < 1e-7)
    assert.deepEqual([header.centerLon, header.centerZoom], [11.25, 4])
  })

  it('has bounds from -180 to 180 when the layer crosses the antimeridian', async () => {
    const { file } =
      await write(folder.dir, pyramid([2]), { doc: { bounds: [170, -50, -170, -30], center: [179, -40, 2] } })
    const { header } = checkArchive(file)
    assert.deepEqual([header.minLon, header.minLat, header.maxLon, header.maxLat], [-180, -50, 180, -30])
    assert.deepEqual([header.centerLon, header.centerLat], [179, -40])
  })

  it('names the most frequent type when its tiles have several', async () => {
    const jpeg = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } }).jpeg().toBuffer()
    const tiles = [tile(1, 0, 0, jpeg), tile(1, 0, 1, png(1)), tile(1, 1, 0, png(2))]
    const { file } = await write(folder.dir, tiles)
    const { header, metadata } = checkArchive(file)
    assert.equal(header.tileType, 2)
    assert.deepEqual([metadata.format, metadata.formats], ['png', 'png,jpg'])
    await assertHolds(file, tiles)
  })

  for (const [format, number, extension] of [['jpeg', 3, 'jpg'], ['webp', 4, 'webp'], ['avif', 5, 'avif']]) {
    it(`may hold ${format} tiles`, async () => {
      const bytes = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
        .toFormat(format).toBuffer()
      const { file } = await write(folder.dir, [tile(0, 0, 0, bytes)])
      const { header, metadata } = checkArchive(file)
      assert.deepEqual([header.tileType, header.tileCompression, metadata.format], [number, 1, extension])
      await assertHolds(file, [tile(0, 0, 0, bytes)])
    })
  }

  it('has vector tiles unchanged, marked as gzipped', async () => {
    const bytes = gzipSync(Buffer.from([0x1a, 2, 0x78, 2]))
    const { file } =
      await write(folder.dir, [tile(0, 0, 0, bytes)], { doc: { vector_layers: [{ id: 'roads', fields: {} }] } })
    const { header, metadata, entries, content } = checkArchive(file)
    assert.deepEqual([header.tileType, header.tileCompression, metadata.format], [1, 2, 'pbf'])
    assert.deepEqual(metadata.vector_layers, [{ id: 'roads', fields: {} }])
    assert.ok(content(entries[0]).equals(bytes))
    assert.ok(Buffer.from((await (await reading(file)).getZxy(0, 0, 0)).data).equals(gunzipSync(bytes)))
    const { file: other } = await write(folder.dir, [tile(0, 0, 0, bytes)], { name: 'other.pmtiles' })
    assert.deepEqual(checkArchive(other).metadata.vector_layers, [], 'which must be there')
  })

  it('refuses vector tiles together with images, also when they come in two runs', async () => {
    const vector = tile(1, 0, 0, gzipSync(Buffer.from([0x1a, 2, 0x78, 2])))
    const { target, stop } = await begin(folder.dir, [vector])
    await assert.rejects(target.add(tile(1, 0, 1, png(1))),
      { code: 'TARGET_UNWRITABLE', message: /vector tiles and images/ })
    await stop()
    const again = await begin(folder.dir, [tile(1, 0, 1, png(1)), vector])
    assert.equal(again.kept, 1)
    await assert.rejects(again.finish(), { code: 'TARGET_UNWRITABLE', message: /vector tiles and images/ })
    await again.stop()
    assert.ok(!readdirSync(folder.dir).includes('map.pmtiles'))
    assert.ok(!readdirSync(folder.dir).includes('map.pmtiles.part'))
  })

  it('refuses empty tiles, unknown types, and an archive without tiles', async () => {
    const { target, stop } = await begin(folder.dir, [])
    await assert.rejects(target.add({ ...tile(0, 0, 0, png(1)), bytes: Buffer.alloc(0) }), { code: 'EMPTY_IMAGE' })
    await assert.rejects(target.add({ ...tile(0, 0, 0, png(1)), type: 'text/html' }),
      { code: 'TARGET_UNWRITABLE', message: /text\/html/ })
    await assert.rejects(target.finish(new Facts()), { code: 'TARGET_UNWRITABLE', message: /have to have tiles/ })
    await stop()
    assert.deepEqual(readdirSync(folder.dir), [], 'nothing is left of it')
  })

  it('keeps different tiles apart when they have no digest', async () => {
    const tiles = pyramid([2], (z, x, y) => (x + y) % 3).map(({ digest, ...one }) => one)
    const { file, distinct } = await write(folder.dir, tiles)
    assert.equal(distinct, 3)
    checkArchive(file)
    await assertHolds(file, tiles)
  })
})
