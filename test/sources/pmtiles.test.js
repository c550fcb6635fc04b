// PMTiles files as a source: valid archives, archives of the official tools, and `tilecouch load` of archives.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { zxyToTileId, PMTiles } from 'pmtiles'
import { parseArea } from '../../core/index.js'
import { recogniseBytes } from '../../loader/formats/recognise.js'
import { recognisesUrl } from '../../loader/load/sources/pmtiles.js'
import { png, square } from '../support/tiles.js'
import { loadFrom, tilesOf } from '../support/memory-source.js'
import { childrenOf, filesOf } from '../support/processes.js'
import { inOrder, openAs, refuses, tilesByName, useArchive, useRangeServer, withArchive } from '../support/archives.js'
import { directory, writeArchive } from './archive-writers.js'
import { useFolder } from '../support/folder.js'
import { skip, tilesPython } from '../support/tools.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { checkLoaded } from '../support/invariants.js'
import { startCommand } from '../support/command.js'

const plain = bytes => bytes
const LAYER = Buffer.from([0x1a, 2, 0x0a, 0]) // a vector tile with one empty layer

describe('a PMTiles file', () => {
  const { make: write, read } = useArchive('pmtiles', writeArchive)
  const tiles = Object.fromEntries(['0/0/0', '1/0/1', '2/3/0', '10/2/1', '26/67108863/0', '26/0/67108863']
    .map(name => [name, name]))
  const make = (options = { tiles }) => write(options)

  it('yields every tile of the zooms 0 to 6 once', async () => {
    const allTiles = {}
    for (let z = 0; z <= 6; z++) for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** z; y++) allTiles[`${z}/${x}/${y}`] = `${z}/${x}/${y}`
    }
    for (const leaf of [undefined, 5, 100]) assert.deepEqual(await read({ tiles: allTiles, leaf }), allTiles, `${leaf}`)
  })

  it('yields every tile of a run, and tiles that share their bytes', async () => {
    const sea = Object.fromEntries(
      Array.from({ length: 256 }, (_, index) => [`4/${index >> 4}/${index & 15}`, index % 16 < 3 ? 'land' : 'sea'])
    )
    assert.deepEqual(await read({ tiles: sea }), sea)
    assert.deepEqual(await read({ tiles: sea, leaf: 7, pack: plain }), sea)
  })

  it('reads only the directories of the selected tiles', async () => {
    const zoomTiles =
      Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`4/${index >> 4}/${index & 15}`, `${index}`]))
    let count = 0
    // the tenth of sixteen leaves, in the southeast
    const pack = bytes => count++ === 9 ? Buffer.alloc(20, 0xff) : bytes
    const file = make({ tiles: zoomTiles, leaf: 16, pack })
    await refuses('pmtiles', file, 'ARCHIVE_INVALID', /directory/)
    await withArchive('pmtiles', file, { bbox: [-170, 1, -1, 85] }, async source => assert.equal(source.total, 8 * 8))
  })

  it('finds a small area in a run that covers a whole deep zoom', async () => {
    const firstId = zxyToTileId(15, 0, 0)
    const root = gzipSync(directory([{ id: firstId, run: 4 ** 15, offset: 0, length: 3 }]))
    const file = make({ root, data: Buffer.from('sea'), header: { addressed: 4 ** 15, entries: 1 } })
    const bbox = [7, 46, 7.02, 46.02]
    const expected = [...parseArea({ bbox }).tiles(15)].map(({ z, x, y }) => `${z}/${x}/${y}`)
    assert.ok(expected.length > 4)
    await withArchive('pmtiles', file, { bbox }, async source => assert.deepEqual(await tilesOf(source), expected))
  })

  it('needs no valid metadata, and no bounds in its header', async () => {
    for (const metadata of [null, [], 5, { name: 7, vector_layers: 'x' }]) {
      await withArchive('pmtiles', make({ tiles, metadata }), {},
        source => assert.deepEqual(source.fields, { format: 'png', minzoom: 0, maxzoom: 26 }))
    }
  })

  it('has the zooms of its header, also a single one', () => withArchive('pmtiles',
    make({ tiles: { '3/0/0': 'x' } }), {},
    source => assert.deepEqual(source.fields, { format: 'png', minzoom: 3, maxzoom: 3 })))

  it('is closed when it was read, and when it was refused', async function () {
    if (!childrenOf(process.pid)) this.skip() // only Linux shows which files are open
    const file = make()
    const isOpen = () => filesOf(process.pid).some(({ name }) => name === file)
    await withArchive('pmtiles', file, {}, async () => assert.ok(isOpen()))
    assert.ok(!isOpen())
    await refuses('pmtiles', make({ tiles, header: { entries: 1 } }), 'ARCHIVE_INVALID', /has more/)
    assert.ok(!isOpen())
  })

  it('gives images unpacked and vector tiles in gzip, for any packing', async () => {
    const image = png(1)
    const gzipped = gzipSync(LAYER)
    const [none, gzip, brotli] = [1, 2, 3]
    const [mvt, pngs, unknown] = [1, 2, 0]
    const readTile =
      async (bytes, header) => Buffer.from((await read({ tiles: { '0/0/0': bytes }, header }))['0/0/0'], 'latin1')
    assert.deepEqual(await readTile(image, { type: pngs, tilePacking: none }), image)
    assert.deepEqual(await readTile(gzipSync(image), { type: pngs, tilePacking: gzip }), image)
    assert.deepEqual(await readTile(brotliCompressSync(image), { type: pngs, tilePacking: brotli }), image)
    assert.deepEqual(await readTile(image, { type: pngs, tilePacking: gzip }), image, 'the header is wrong')
    assert.deepEqual(await readTile(gzipped, { type: mvt, tilePacking: gzip }), gzipped, 'the very bytes')
    assert.deepEqual(gunzipSync(await readTile(LAYER, { type: mvt, tilePacking: none })), LAYER)
    assert.deepEqual(gunzipSync(await readTile(brotliCompressSync(LAYER), { type: mvt, tilePacking: brotli })), LAYER)
    assert.deepEqual(gunzipSync(await readTile(LAYER, { type: mvt, tilePacking: gzip })), LAYER, 'the header is wrong')
    assert.deepEqual(await readTile(gzipped, { type: unknown, tilePacking: 0 }), gzipped)
    assert.deepEqual(await readTile(gzipSync(image), { type: unknown, tilePacking: gzip }), image)
    assert.deepEqual(gunzipSync(await readTile(gzipped, { type: unknown, tilePacking: gzip })), LAYER)
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
    const isRecognised = (name, begin) => recogniseBytes(name, begin) === 'pmtiles'
    const begin = writeArchive({ tiles }).subarray(0, 512)
    assert.ok(isRecognised('a.dat', begin))
    assert.ok(isRecognised('a.PMTiles', Buffer.from('<html>')))
    assert.ok(!isRecognised('a.dat', Buffer.from('<html>')))
    assert.ok(!isRecognised('a.pmtiles', Buffer.from('SQLite format 3\0')))
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

// The source reads archives of the official tools, and the official readers read archives of these tests.

// Reads a file with a line `z/x/y content` for each tile, and writes the tiles in the order of the lines.
const WRITE = `
import json, sys
from pmtiles.tile import zxy_to_tileid, TileType, Compression
from pmtiles.writer import Writer
with open(sys.argv[2], 'wb') as f:
  writer = Writer(f)
  for line in open(sys.argv[1]):
    name, content = line.rstrip('\\n').split(' ', 1)
    writer.write_tile(zxy_to_tileid(*map(int, name.split('/'))), content.encode())
  header = {
    'tile_type': TileType.PNG, 'tile_compression': Compression.NONE,
    'min_lon_e7': 59000000, 'min_lat_e7': 458000000, 'max_lon_e7': 105000000, 'max_lat_e7': 478000000,
    'center_zoom': 7, 'center_lon_e7': 80000000, 'center_lat_e7': 460000000
  }
  writer.finalize(header, {'name': 'Official', 'attribution': 'x'})
`

describe('PMTiles and the official tools', function () {
  this.timeout(120000)
  const folder = useFolder()
  let python = ''
  before(function () {
    python = tilesPython() ?? ''
    if (!python) skip(this, 'TILES_PYTHON names no Python with pmtiles and mbutil')
  })

  it('the source reads archives of Python with leaves, runs and shared tiles, in any order', async () => {
    // 20,000 entries do not fit into a root directory
    const manyTiles = Object.fromEntries(Array.from({ length: 20000 },
      (_, index) => [`9/${index % 200}/${Math.floor(index / 200)}`, index % 7 ? `tile ${index}` : 'sea']))
    for (const tiles of [{ '0/0/0': 'a', '1/0/0': 'b', '1/1/1': 'b', '14/8500/5700': 'c' }, manyTiles]) {
      const names = Object.keys(tiles)
      writeFileSync(folder.path('lines'), names.map(name => `${name} ${tiles[name]}\n`).join(''))
      execFileSync(python, ['-c', WRITE, folder.path('lines'), folder.path('python.pmtiles')])
      await withArchive('pmtiles', folder.path('python.pmtiles'), {}, async source => {
        const contentByTile = await tilesByName(source)
        assert.deepEqual(contentByTile, tiles)
        assert.deepEqual(Object.keys(contentByTile), inOrder(names))
        const zooms = names.map(name => +name.split('/')[0])
        assert.deepEqual(source.fields, {
          name: 'Official', attribution: 'x', bounds: [5.9, 45.8, 10.5, 47.8],
          center: [8, 46, 7], format: 'png', minzoom: Math.min(...zooms), maxzoom: Math.max(...zooms)
        })
      })
    }
  })

  it('the official readers read the archives of these tests', async () => {
    const tiles = Object.fromEntries(
      Array.from({ length: 1024 }, (_, index) => [`5/${index >> 5}/${index & 31}`, index % 3 ? `tile ${index}` : 'sea'])
    )
    writeFileSync(folder.path('ours.pmtiles'), writeArchive({ tiles, leaf: 100 }))
    const bytes = readFileSync(folder.path('ours.pmtiles'))
    const reader = new PMTiles({
      getKey: () => 'ours',
      getBytes: async (offset, length) => ({ data: Uint8Array.from(bytes.subarray(offset, offset + length)).buffer })
    })
    for (const [name, content] of Object.entries(tiles)) {
      const [z, x, y] = name.split('/').map(Number)
      assert.equal(Buffer.from((await reader.getZxy(z, x, y)).data).toString(), content)
    }
    const script = `
import sys
from pmtiles.reader import Reader, MmapSource, all_tiles
with open(sys.argv[1], 'rb') as f:
  for (z, x, y), data in all_tiles(MmapSource(f)): print(f'{z}/{x}/{y} {data.decode()}')`
    const lines = String(execFileSync(python, ['-c', script, folder.path('ours.pmtiles')])).trim().split('\n')
    assert.deepEqual(Object.fromEntries(lines.map(line => [line.split(' ')[0], line.slice(line.indexOf(' ') + 1)])),
      tiles)
  })
})

// `tilecouch load` of archives, on every store.

const T = '2021-01-01T00:00:00Z'
const townTiles = square({ layer: 'osm', time: T, z: 4, seed: (x, y) => x * 8 + y })

const pmtiles = edition => writeArchive(
  { tiles: Object.fromEntries(
    edition.map(({ z, x, y, bytes }) => [`${z}/${x}/${y}`, bytes])
  ), leaf: 10, metadata: { name: 'Town', attribution: 'me' } }
)

onEachStore('loading archives', backend => {
  const folder = useFolder()
  const server = useRangeServer()
  let db
  beforeEach(async () => { db = await backend.database() })

  const tilecouch = (...args) => startCommand(args, { cwd: folder.dir, env: { TMPDIR: folder.dir } }).ended

  it('on a web server makes an edition, and fills the description of the layer', async () => {
    server.file = pmtiles(townTiles)
    const { edition } = await loadFrom(await Store.create(db),
      server.url.replace('http://', 'http://ada:s3cret@'), { layer: 'osm', time: T })
    assert.equal(edition.source, 'city.pmtiles')
    await checkLoaded(db, townTiles)
    const layer = await (await Store.open(db)).layer('osm')
    assert.deepEqual([layer.name, layer.attribution, layer.format], ['Town', 'me', 'png'])
  })

  it('with faults reports them, leaves no temporary file, and stores nothing of a damaged archive', async () => {
    folder.write({ 'cut.pmtiles': pmtiles(townTiles).subarray(0, -100) })
    const cut = await tilecouch('load', 'cut.pmtiles', '-l', 'osm', '-t', '2021', '--db', db)
    assert.equal(cut.code, 1)
    assert.match(cut.err, /"cut.pmtiles" is damaged or of another format: .*\n.*Download or create it again/)
    const [{ x, y, z }] = townTiles
    folder.write({ 'bad.pmtiles': pmtiles([{ x, y, z, bytes: png(1).subarray(0, 200) }, ...townTiles.slice(2)]) })
    const { code, out } = await tilecouch('load', 'bad.pmtiles', '-l', 'osm', '-t', T, '--db', db)
    assert.equal(code, 1)
    assert.match(out, /osm:4:0:0 .*\[TRUNCATED_IMAGE\]/)
    await checkLoaded(db, townTiles.slice(2))
    assert.deepEqual(readdirSync(folder.dir).sort(), ['bad.pmtiles', 'cut.pmtiles'])
  }).timeout(120000)
})
