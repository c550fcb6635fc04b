import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { zxyToTileId } from 'pmtiles'
import { parseArea } from '../../core/index.js'
import { recogniseBytes } from '../../loader/formats/recognise.js'
import { recognisesUrl } from '../../loader/load/sources/pmtiles.js'
import { png } from '../support/tiles.js'
import { tilesOf } from '../support/answering-server.js'
import { openAs, refuses, useArchive, using } from '../support/archives.js'
import { directory, writeArchive } from './pmtiles-writer.js'

const tiles = Object.fromEntries(['0/0/0', '1/0/1', '2/3/0', '10/2/1', '26/67108863/0', '26/0/67108863']
  .map(name => [name, name]))
const plain = bytes => bytes
const LAYER = Buffer.from([0x1a, 2, 0x0a, 0]) // a vector tile with one empty layer

describe('a PMTiles file', () => {
  const { make: write, read } = useArchive('pmtiles', writeArchive)
  const make = (what = { tiles }) => write(what)

  it('yields every tile of the zooms 0 to 6 once', async () => {
    const all = {}
    for (let z = 0; z <= 6; z++) for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** z; y++) all[`${z}/${x}/${y}`] = `${z}/${x}/${y}`
    }
    for (const leaf of [undefined, 5, 100]) assert.deepEqual(await read({ tiles: all, leaf }), all, `${leaf}`)
  })

  it('yields every tile of a run, and tiles that share their bytes', async () => {
    const sea = Object.fromEntries(
      Array.from({ length: 256 }, (_, index) => [`4/${index >> 4}/${index & 15}`, index % 16 < 3 ? 'land' : 'sea'])
    )
    assert.deepEqual(await read({ tiles: sea }), sea)
    assert.deepEqual(await read({ tiles: sea, leaf: 7, pack: plain }), sea)
  })

  it('reads only the directories of the selected tiles', async () => {
    const square =
      Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`4/${index >> 4}/${index & 15}`, `${index}`]))
    let count = 0
    // the tenth of sixteen leaves, in the southeast
    const pack = bytes => count++ === 9 ? Buffer.alloc(20, 0xff) : bytes
    const file = make({ tiles: square, leaf: 16, pack })
    await refuses('pmtiles', file, 'ARCHIVE_INVALID', /directory/)
    await using('pmtiles', file, { bbox: [-170, 1, -1, 85] }, async source => assert.equal(source.total, 8 * 8))
  })

  it('finds a small area in a run that covers a whole deep zoom', async () => {
    const first = zxyToTileId(15, 0, 0)
    const root = gzipSync(directory([{ id: first, run: 4 ** 15, offset: 0, length: 3 }]))
    const file = make({ root, data: Buffer.from('sea'), header: { addressed: 4 ** 15, entries: 1 } })
    const bbox = [7, 46, 7.02, 46.02]
    const expected = [...parseArea({ bbox }).tiles(15)].map(({ z, x, y }) => `${z}/${x}/${y}`)
    assert.ok(expected.length > 4)
    await using('pmtiles', file, { bbox }, async source => assert.deepEqual(await tilesOf(source), expected))
  })

  it('needs no valid metadata, and no bounds in its header', async () => {
    for (const metadata of [null, [], 5, { name: 7, vector_layers: 'x' }]) {
      await using('pmtiles', make({ tiles, metadata }), {},
        source => assert.deepEqual(source.fields, { format: 'png', minzoom: 0, maxzoom: 26 }))
    }
  })

  it('gives images unpacked and vector tiles in gzip, for any packing', async () => {
    const image = png(1)
    const gzipped = gzipSync(LAYER)
    const [none, gzip, brotli] = [1, 2, 3]
    const [mvt, pngs, unknown] = [1, 2, 0]
    const one =
      async (bytes, header) => Buffer.from((await read({ tiles: { '0/0/0': bytes }, header }))['0/0/0'], 'latin1')
    assert.deepEqual(await one(image, { type: pngs, tilePacking: none }), image)
    assert.deepEqual(await one(gzipSync(image), { type: pngs, tilePacking: gzip }), image)
    assert.deepEqual(await one(brotliCompressSync(image), { type: pngs, tilePacking: brotli }), image)
    assert.deepEqual(await one(image, { type: pngs, tilePacking: gzip }), image, 'the header is wrong')
    assert.deepEqual(await one(gzipped, { type: mvt, tilePacking: gzip }), gzipped, 'the very bytes')
    assert.deepEqual(gunzipSync(await one(LAYER, { type: mvt, tilePacking: none })), LAYER)
    assert.deepEqual(gunzipSync(await one(brotliCompressSync(LAYER), { type: mvt, tilePacking: brotli })), LAYER)
    assert.deepEqual(gunzipSync(await one(LAYER, { type: mvt, tilePacking: gzip })), LAYER, 'the header is wrong')
    assert.deepEqual(await one(gzipped, { type: unknown, tilePacking: 0 }), gzipped)
    assert.deepEqual(await one(gzipSync(image), { type: unknown, tilePacking: gzip }), image)
    assert.deepEqual(gunzipSync(await one(gzipped, { type: unknown, tilePacking: gzip })), LAYER)
  })

  it('may have directories in brotli, or not packed', async () => {
    assert.deepEqual(await read({ tiles, leaf: 3, pack: brotliCompressSync, header: { packing: 3 } }), tiles)
    assert.deepEqual(await read({ tiles, leaf: 3, pack: plain }), tiles)
  })

  it('may be empty', async () => {
    assert.deepEqual(await read({}), {})
    assert.deepEqual(await read({ root: Buffer.alloc(0) }), {})
  })

  it('counts its rows from the north, and refuses --scheme tms',
    () => refuses('pmtiles', make(), 'BAD_OPTION', /--scheme/, { scheme: 'tms' }))

  it('is recognised by its content, or by its name', () => {
    const is = (name, begin) => recogniseBytes(name, begin) === 'pmtiles'
    const begin = writeArchive({ tiles }).subarray(0, 512)
    assert.ok(is('a.dat', begin))
    assert.ok(is('a.PMTiles', Buffer.from('<html>')))
    assert.ok(!is('a.dat', Buffer.from('<html>')))
    assert.ok(!is('a.pmtiles', Buffer.from('SQLite format 3\0')))
    assert.ok(recognisesUrl(new URL('https://example.org/a/b.pmtiles?key=x')))
    assert.ok(!recognisesUrl(new URL('https://example.org/{z}/{x}/{y}.png?file=b.pmtiles')))
  })

  it('stops on abort, and leaves no temporary file', async () => {
    const stop = new AbortController()
    stop.abort()
    const root = gzipSync(directory([{ id: zxyToTileId(12, 0, 0), run: 4 ** 12, offset: 0, length: 3 }]))
    const file = make({ root, data: Buffer.from('sea'), header: { addressed: 0, entries: 0 } })
    await refuses('pmtiles', file, 'ABORTED', /stopped/, { signal: stop.signal })
    assert.deepEqual(readdirSync(tmpdir()).filter(name => name.startsWith(`tilecouch-spool-${process.pid}-`)), [])
  })

  it('fails for each tile when it is cut off while it is read', async () => {
    const file = make({ tiles: { '0/0/0': Buffer.alloc(1000, 'a'), '1/0/0': Buffer.alloc(1000, 'b') } })
    const source = await openAs('pmtiles', file)
    writeFileSync(file, Buffer.alloc(100))
    for await (const tile of source.tiles()) {
      assert.throws(() => tile.read(), { code: 'ARCHIVE_INVALID', message: /cut off/ })
    }
    await source.close()
  })
})
