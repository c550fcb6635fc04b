// Other programs read our exports: the official Python packages pmtiles and mbutil, and GDAL.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { Facts } from '../../loader/export/target.js'
import { exportLayer, openSource } from '../../loader/index.js'
import { open as openMbtiles } from '../../loader/formats/mbtiles/writer.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { withSource } from '../support/memory-source.js'
import { gdal, skip, tilesPython } from '../support/tools.js'
import { expected, useLayer } from '../support/exports.js'
import { pyramid, tile, write } from './pmtiles-writing.js'

const run = promisify(execFile)
const python = tilesPython()

/** Runs a command from the folder of Python. */
const command = (name, ...args) => run(python, [path.join(path.dirname(python), name), ...args], { maxBuffer: 64e6 })

const hash = bytes => createHash('sha256').update(bytes).digest('hex')
const hashes = tiles => new Map([...tiles].map(([name, bytes]) => [name, hash(bytes)]))

function assertSame (actual, reference) {
  assert.deepEqual([...actual].sort(), [...reference].sort())
  assert.ok(actual.size > 0)
}

// prints every tile of an archive, and checks a few with the look-up of the official reader
const READ_ALL = `
import sys, json, hashlib
from pmtiles.reader import Reader, MmapSource, all_tiles
with open(sys.argv[1], 'rb') as file:
    source = MmapSource(file)
    reader = Reader(source)
    tiles = {'%d/%d/%d' % zxy: hashlib.sha256(data).hexdigest() for zxy, data in all_tiles(source)}
    for name in list(tiles)[::len(tiles) // 40 + 1]:
        assert hashlib.sha256(reader.get(*map(int, name.split('/')))).hexdigest() == tiles[name]
    header = {key: getattr(value, 'name', value) for key, value in reader.header().items()}
    print(json.dumps({'tiles': tiles, 'header': header, 'metadata': reader.metadata()}))`

async function readWithPython (file) {
  const { stdout } = await run(python, ['-c', READ_ALL, file], { maxBuffer: 64e6 })
  const { tiles, ...info } = JSON.parse(stdout)
  return { tiles: new Map(Object.entries(tiles)), ...info }
}

/** The hashes of all tiles, read by our own source. */
const readSource = async (file, options) => withSource(await openSource(file, options), async source => {
  const tiles = new Map()
  for await (const { z, x, y, read } of source.tiles()) tiles.set(`${z}/${x}/${y}`, hash(await read()))
  return tiles
})

function readFolder (folder, extension = 'png') {
  const names = readdirSync(folder, { recursive: true })
    .filter(name => name.endsWith(`.${extension}`))
  return new Map(
    names.map(name => [name.slice(0, -extension.length - 1).replaceAll(path.sep, '/'),
      hash(readFileSync(path.join(folder, name)))])
  )
}

onEachStore('the official Python tools', backend => {
  before(function () { if (!python) skip(this, 'TILES_PYTHON names no Python with pmtiles and mbutil') })
  const layer = useLayer(backend)
  const folder = useFolder()

  for (const time of ['2022', undefined]) {
    it(`read PMTiles of ${time ?? 'now'}`, async () => {
      const summary = await exportLayer(layer.store, 'osm', folder.path('osm.pmtiles'), { time })
      const { tiles, header, metadata } = await readWithPython(folder.path('osm.pmtiles'))
      assertSame(tiles, hashes(expected(time)))
      assert.deepEqual([header.addressed_tiles_count, header.tile_contents_count], [summary.tiles, summary.distinct])
      const zooms = [...expected(time).keys()].map(name => parseInt(name))
      assert.deepEqual([header.min_zoom, header.max_zoom, header.tile_type, header.clustered],
        [Math.min(...zooms), Math.max(...zooms), 'PNG', true])
      assert.deepEqual([metadata.name, metadata.format], [time ? 'Streets, 2022' : 'Streets', 'png'])
    })
  }

  it('show and convert PMTiles to MBTiles and back, and make PMTiles of our MBTiles and of our folder', async () => {
    await exportLayer(layer.store, 'osm', folder.path('osm.pmtiles'), {})
    await command('pmtiles-convert', folder.path('osm.pmtiles'), folder.path('theirs.mbtiles'))
    assertSame(await readSource(folder.path('theirs.mbtiles')), hashes(expected()))
    await command('pmtiles-convert', folder.path('theirs.mbtiles'), folder.path('theirs.pmtiles'))
    assertSame(await readSource(folder.path('theirs.pmtiles')), hashes(expected()))
    await exportLayer(layer.store, 'osm', folder.path('osm.mbtiles'), {})
    await command('pmtiles-convert', folder.path('osm.mbtiles'), folder.path('ours.pmtiles'))
    assertSame(await readSource(folder.path('ours.pmtiles')), hashes(expected()))
    assertSame((await readWithPython(folder.path('ours.pmtiles'))).tiles, hashes(expected()))
    await exportLayer(layer.store, 'osm', folder.path('ours'), {})
    await command('pmtiles-convert', '--format=png', '--maxzoom=auto',
      folder.path('ours'), folder.path('folder.pmtiles'))
    assertSame(await readSource(folder.path('folder.pmtiles')), hashes(expected()))
    const { stdout } = await command('pmtiles-show', folder.path('osm.pmtiles'))
    assert.match(stdout, /'clustered': True/)
    assert.match(stdout, /© nobody/)
  })

  for (const scheme of ['xyz', 'tms']) {
    it(`convert our MBTiles to a folder, and our folder to MBTiles (${scheme})`, async () => {
      await exportLayer(layer.store, 'osm', folder.path('osm.mbtiles'), {})
      await command('mb-util', '--silent', `--scheme=${scheme}`, folder.path('osm.mbtiles'), folder.path('theirs'))
      await exportLayer(layer.store, 'osm', folder.path('ours'), { scheme })
      assertSame(readFolder(folder.path('theirs')), readFolder(folder.path('ours')))
      assertSame(await readSource(folder.path('theirs'), { scheme }), hashes(expected()))
      const metadata = name => JSON.parse(readFileSync(folder.path(`${name}/metadata.json`), 'utf8'))
      const { agg_tiles_hash: tilesHash, ...converted } = metadata('theirs')
      const { scheme: _, ...ourMetadata } = metadata('ours')
      assert.ok(tilesHash)
      // mbutil converts all values to text
      assert.deepEqual(converted,
        Object.fromEntries(Object.entries(ourMetadata).map(([name, value]) => [name, String(value)])))

      await command('mb-util', '--silent', `--scheme=${scheme}`, folder.path('ours'), folder.path('theirs.mbtiles'))
      assertSame(await readSource(folder.path('theirs.mbtiles')), hashes(expected()))
    })
  }
})

describe('the official Python reader', () => {
  before(function () { if (!python) skip(this, 'TILES_PYTHON names no Python with pmtiles and mbutil') })
  const folder = useFolder()

  it('reads leaves, runs, and equal tiles that are stored once', async () => {
    const tiles = pyramid([0, 7], (z, x, y) => y < 10 ? 7 : (x * 7919 ^ y * 104729 ^ x * y) % 997)
    const { file } = await write(folder.dir, tiles)
    const { tiles: readTiles, header } = await readWithPython(file)
    assert.ok(header.leaf_directory_length > 0)
    assertSame(readTiles, hashes(tiles.map(({ z, x, y, bytes }) => [`${z}/${x}/${y}`, bytes])))
  })

  it('finds the last tiles of the deepest zoom', async () => {
    const last = 2 ** 26 - 1
    const tiles = [[0, 0], [last, 0], [0, last], [last, last],
      [12345678, 45678901]].map(([x, y], seed) => tile(26, x, y, pyramid([0], () => seed)[0].bytes))
    const { file } = await write(folder.dir, tiles)
    assertSame((await readWithPython(file)).tiles, hashes(tiles.map(({ z, x, y, bytes }) => [`${z}/${x}/${y}`, bytes])))
  })
})

// as Esri writes this projection
const WEB_MERCATOR = 'PROJCS["WGS_1984_Web_Mercator_Auxiliary_Sphere",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",' +
  'SPHEROID["WGS_1984",6378137.0,298.257223563]],' +
  ('PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Mercator_Auxiliary_Sphere"],' +
    'PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],') +
  ('PARAMETER["Central_Meridian",0.0],PARAMETER["Standard_Parallel_1",0.0],PARAMETER["Auxiliary_Sphere_Type",0.0],' +
    'UNIT["Meter",1.0],AUTHORITY["EPSG",3857]]')

const noise = side => sharp(
  { create: {
    width: side, height: side, channels: 3, background: 'black', noise: { type: 'gaussian', mean: 128, sigma: 40 }
  } }
).removeAlpha()

describe('GDAL', () => {
  before(function () { if (!gdal()) skip(this, 'there is no gdal_translate') })
  const folder = useFolder()

  it('reads MBTiles to the pixel', async () => {
    const file = folder.path('map.mbtiles')
    const facts = new Facts()
    const target = await openMbtiles(file, { layer: 'map', doc: {}, run: 'run' })
    const pixels = await noise(512).raw().toBuffer()
    const picture = sharp(pixels, { raw: { width: 512, height: 512, channels: 3 } })
    for (const [x, y] of [[0, 0], [0, 1], [1, 0], [1, 1]]) {
      const quarter = tile(1, x, y,
        await picture.clone().extract({ left: 256 * x, top: 256 * y, width: 256, height: 256 }).png().toBuffer())
      await target.add(quarter)
      facts.add(quarter)
    }
    await target.finish(facts)
    const png = folder.path('map.png')
    await run(gdal(), ['-q', '-of', 'PNG', '-b', '1', '-b', '2', '-b', '3', file, png])
    const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true })
    assert.deepEqual([info.width, info.height], [512, 512])
    assert.ok(data.equals(pixels))
  })

  /** Writes an Esri compact cache of version 2 with one bundle per level, as its specification says. */
  function writeEsriCache (dir, levels) {
    const lods = levels.map((_, z) => `<LODInfo><LevelID>${z}</LevelID><Scale>${591657527.591555 / 2 ** z}</Scale>` +
      `<Resolution>${156543.033928 / 2 ** z}</Resolution></LODInfo>`)
    mkdirSync(dir)
    writeFileSync(path.join(dir, 'conf.xml'), `<?xml version="1.0" encoding="utf-8"?>
<CacheInfo><TileCacheInfo><SpatialReference><WKT>${WEB_MERCATOR}</WKT><WKID>3857</WKID></SpatialReference>
<TileOrigin><X>-20037508.342787</X><Y>20037508.342787</Y></TileOrigin>
<TileCols>256</TileCols><TileRows>256</TileRows><DPI>96</DPI><LODInfos>${lods.join('')}</LODInfos></TileCacheInfo>
<TileImageInfo><CacheTileFormat>PNG</CacheTileFormat></TileImageInfo>
<CacheStorageInfo><StorageFormat>esriMapCacheStorageModeCompactV2</StorageFormat><PacketSize>128</PacketSize>
</CacheStorageInfo></CacheInfo>`)
    for (const [z, tiles] of levels.entries()) {
      const front = Buffer.alloc(64 + 128 * 128 * 8)
      for (const [offset, value] of [[0, 3], [4, 16384], [8, 100000], [12, 5], [32, 40],
        [40, 20 + 131072], [44, 3], [48, 16], [52, 16384], [56, 5], [60, 131072]]) front.writeUInt32LE(value, offset)
      let end = front.length
      for (const { x, y, bytes } of tiles) {
        front.writeBigUInt64LE(BigInt(end + 4) | BigInt(bytes.length) << 40n, 64 + 8 * (128 * y + x))
        end += 4 + bytes.length
      }
      const bundleFolder = path.join(dir, '_alllayers', `L${String(z).padStart(2, '0')}`)
      mkdirSync(bundleFolder, { recursive: true })
      const parts = tiles.flatMap(({ bytes }) => [Buffer.from(Uint32Array.of(bytes.length).buffer), bytes])
      front.writeBigUInt64LE(BigInt(end), 24)
      writeFileSync(path.join(bundleFolder, 'R0000C0000.bundle'), Buffer.concat([front, ...parts]))
    }
  }

  it('makes MBTiles of an Esri compact cache, to the pixel, as docs/sources.md says', async function () {
    if (!/ESRIC/.test((await run(gdal(), ['--formats'])).stdout)) skip(this, 'this GDAL has no driver for Esri caches')
    const cache = folder.path('Layers')
    const levels =
      await Promise.all([0, 1, 2].map(async z => Promise.all(Array.from({ length: 4 ** z }, async (_, index) => (
      { x: index % 2 ** z, y: Math.floor(index / 2 ** z), bytes: await noise(256).png().toBuffer() })))))
    writeEsriCache(cache, levels)
    const file = folder.path('cache.mbtiles')
    await run(gdal(), ['-q', '-of', 'MBTiles', '-co', 'TILE_FORMAT=PNG',
      '-outsize', `${256 << 2}`, `${256 << 2}`, path.join(cache, 'conf.xml'), file])
    const source = await openSource(file)
    let count = 0
    for await (const { z, x, y, read } of source.tiles()) {
      const [pixels, expectedPixels] = await Promise.all([
        await read(), levels[2].find(entry => entry.x === x && entry.y === y).bytes
      ].map(bytes => sharp(bytes).removeAlpha().raw().toBuffer()))
      assert.ok(z === 2 && pixels.equals(expectedPixels), `${z}/${x}/${y}`)
      count++
    }
    await source.close()
    assert.equal(count, 16)
  })
})
