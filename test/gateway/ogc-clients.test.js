// Tests of the OGC API with a real client: the OGCAPI driver of GDAL reads layers from a gateway.
import assert from 'node:assert/strict'
import path from 'node:path'
import sharp from 'sharp'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { gdal, ogrinfo, skip } from '../support/tools.js'
import { packTile } from '../support/vector-tile.js'
import { EDGE, color, colored, runGdal, startWorld } from './wmts/world.js'

onEachStore('clients of the OGC API', backend => {
  let world
  const folder = useFolder()

  before(async function () {
    if (!gdal()) skip(this, 'GDAL is not installed: put gdal_translate on the PATH')
    world = await startWorld(await backend.database())
    const { store } = world
    await store.defineLayer('part', { format: 'png', minzoom: 1, maxzoom: 2, bounds: [1, -60, 179, 60] })
    for (const x of [2, 3]) for (const y of [1, 2]) {
      await store.write(
        [{ layer: 'part', z: 2, x, y, time: '2024-01-01T00:00:00Z', bytes: await colored(color(2, x, y)) }]
      )
    }
    await store.defineLayer('roads',
      { format: 'pbf', minzoom: 1, maxzoom: 1, vector_layers: [{ id: 'roads', fields: { name: 'String' } }] })
    for (const [time, name] of [['2023-01-01T00:00:00Z', 'old'], ['2024-01-01T00:00:00Z', 'new']]) {
      const line = { type: 'LineString', lines: [[[0, 0], [4096, 4096]]], properties: { name } }
      await store.write([{ layer: 'roads', z: 1, x: 1, y: 0, time, bytes: packTile({ roads: [line] }) }])
    }
    await store.defineLayer('degrees', { grid: 'WorldCRS84Quad', format: 'png', minzoom: 1, maxzoom: 2 })
    for (let z = 1; z <= 2; z++) for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** (z - 1); y++) {
        await store.write(
          [{ layer: 'degrees', z, x, y, time: '2024-01-01T00:00:00Z', bytes: await colored(color(z, x, y)) }]
        )
      }
    }
    await store.defineLayer('swiss',
      { grid: 'LV95', format: 'png', minzoom: 14, maxzoom: 14, bounds: [6, 46, 10, 47.5] })
    const layers = async () => (await (await fetch(new URL('/ogc/collections', world.gateway.url))).json())
      .collections.map(({ id }) => id)
    await until(async () => (await layers()).includes('roads'), { what: 'the layers' })
  })
  after(() => world?.close())

  const address = name => `OGCAPI:${new URL(`/ogc/${name}`, world.gateway.url).href}`

  describe('GDAL', () => {
    // GDAL 3.6 reads the box of a collection, which is in degrees, as if it were in the units of the tiles
    const box = ['MINX', 'MINY', 'MAXX', 'MAXY']
      .flatMap((name, index) => ['-oo', `${name}=${index < 2 ? -EDGE : EDGE}`])
    const OPTIONS = ['-oo', 'API=TILES', '-oo', 'CACHE=NO', ...box]

    async function readPicture (name, options = OPTIONS) {
      const file = path.join(folder.dir, 'picture.png')
      await runGdal('gdal_translate', '-q', '-of', 'PNG', ...options, address(name), file)
      const { data, info } = await sharp(file).raw().toBuffer({ resolveWithObject: true })
      const colorAt = (x, y) => [
        ...data.subarray((256 * y + 100) * info.width * info.channels + (256 * x + 100) * info.channels).subarray(0, 4)
      ]
      return { size: [info.width, info.height], at: colorAt }
    }

    it('lists the layers, from the landing page and from the collections', async () => {
      for (const name of ['', 'collections']) {
        const { stdout } = await runGdal('gdalinfo', '-json', address(name))
        const names = Object.values(JSON.parse(stdout).metadata.SUBDATASETS).join('\n')
        for (const layer of ['world', 'part']) assert.ok(names.includes(`${address('collections')}/${layer}`), name)
        assert.match(names, /Collection The world/)
      }
    })

    it('reads the world, every tile in its place, now and as of a time', async () => {
      const info = JSON.parse((await runGdal('gdalinfo', '-json', ...OPTIONS, address('collections/world'))).stdout)
      assert.deepEqual([info.size, info.bands[0].overviews.length], [[1024, 1024], 2])
      assert.match(info.coordinateSystem.wkt, /3857/)
      for (const [search, year] of [['', 2024], ['?datetime=2023', 2023],
        ['?datetime=2022/2023-12-31', 2023], ['?datetime=2024-06-01T00:00:00Z', 2024]]) {
        const { size, at: colorAt } = await readPicture(`collections/world${search}`)
        assert.deepEqual(size, [1024, 1024])
        for (let x = 0; x < 4; x++) for (let y = 0; y < 4; y++) {
          assert.deepEqual(colorAt(x, y), [...color(2, x, y, year), 255], `${search} 2/${x}/${y}`)
        }
      }
    })

    it('reads a layer that covers a part of the world, transparent around it', async () => {
      const { size, at: colorAt } = await readPicture('collections/part')
      assert.deepEqual(size, [1024, 1024])
      for (let x = 0; x < 4; x++) for (let y = 0; y < 4; y++) {
        assert.deepEqual(colorAt(x, y), x >= 2 && (y === 1 || y === 2) ? [...color(2, x, y), 255] : [0, 0, 0, 0],
          `2/${x}/${y}`)
      }
    })

    it('reads a layer in degrees without options for its box', async () => {
      const options = ['-oo', 'API=TILES', '-oo', 'CACHE=NO']
      const { stdout } = await runGdal('gdalinfo', '-json', ...options, address('collections/degrees'))
      assert.match(JSON.parse(stdout).coordinateSystem.wkt, /WGS 84|CRS84/)
      const { size, at: colorAt } = await readPicture('collections/degrees', options)
      assert.deepEqual(size, [1024, 512])
      for (let x = 0; x < 4; x++) for (let y = 0; y < 2; y++) {
        assert.deepEqual(colorAt(x, y), [...color(2, x, y), 255], `2/${x}/${y}`)
      }
    })

    it('reads a layer in another coordinate system with its tiles in place', async () => {
      const { store } = world
      const [x, y] = [1, 1]
      const set = await (await fetch(new URL('/ogc/tileMatrixSets/LV95', world.gateway.url))).json()
      const matrix = set.tileMatrices[14]
      const [left, top] = matrix.pointOfOrigin
      const side = matrix.cellSize * matrix.tileWidth
      const edges = [left, top - side * matrix.matrixHeight, left + side * matrix.matrixWidth, top]
      const rgb = color(2, 1, 1)
      await store.write([{ layer: 'swiss', z: 14, x, y, time: '2024-01-01T00:00:00Z', bytes: await colored(rgb) }])
      const options = ['-oo', 'API=TILES', '-oo', 'CACHE=NO',
        ...['MINX', 'MINY', 'MAXX', 'MAXY'].flatMap((name, index) => ['-oo', `${name}=${edges[index]}`])]
      const place = [left + (x + 0.5) * side, top - (y + 0.5) * side]
      const { stdout } = await runGdal('gdallocationinfo', '-valonly',
        '-geoloc', ...options, address('collections/swiss'), ...place.map(String))
      assert.deepEqual(stdout.trim().split(/\s+/).map(Number), [...rgb, 255])
    })

    it('reads vector tiles, now and as of a time', async function () {
      if (!ogrinfo()) skip(this, 'ogrinfo is not installed')
      const [, major, minor] = /GDAL (\d+)\.(\d+)/.exec((await runGdal('ogrinfo', '--version')).stdout) ?? []
      if (+major === 3 && +minor < 8) {
        skip(this, 'the OGCAPI driver of GDAL before 3.8 may be built without vector tiles')
      }
      for (const [search, name] of [['', 'new'], ['?datetime=2023', 'old']]) {
        const { stdout } = await runGdal('ogrinfo', '-ro', '-al', ...box, address(`collections/roads${search}`))
        assert.match(stdout, /Layer name: Zoom level 1/)
        assert.match(stdout, new RegExp(`name \\(String\\) = ${name}`))
        assert.match(stdout, /MULTILINESTRING|LINESTRING \(0 20037508.34\d*,20037508.34\d* -?[\d.]+\)/)
      }
    })
  })
})
