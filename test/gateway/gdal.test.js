// Tests of layers in GDAL: the documents that the gateway writes for it, and that GDAL reads the pixels of the store
// in every way that it supports, at three times.
import assert from 'node:assert/strict'
import path from 'node:path'
import sharp from 'sharp'
import { until } from '../../bench/wait.js'
import { gdalXml } from '../../server/gateway/routes/gdal.js'
import { gridOf } from '../../core/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { gdal, skip } from '../support/tools.js'
import { DEEPEST, EDGE, OTHERS, YEARS, color, colored, runGdal, startWorld } from './wmts/world.js'

describe('the GDAL_WMS document of a layer', () => {
  const read = (layer, options) => {
    const text = gdalXml({ layer: 'osm', ...layer }, { base: 'http://host/', ...options })
    const value = name => (new RegExp(`<${name}>([^<]*)</${name}>`).exec(text) ?? assert.fail(`no ${name}`))[1]
    const numbers = (...names) => names.map(name => +value(name))
    return { text, value, numbers }
  }
  const WINDOW = ['TileLevel', 'TileX', 'TileY', 'SizeX', 'SizeY', 'OverviewCount']

  it('begins with <GDAL_WMS>, and has the tile address of its time', () => {
    const { text, value } = read({ format: 'webp' }, { time: '2023', query: '?token=a.b' })
    assert.match(text, /^<GDAL_WMS>/)
    assert.equal(value('ServerUrl'), 'http://host/osm@2023/${z}/${x}/${y}.webp?token=a.b')
    assert.match(read({}).value('ServerUrl'), /^http:\/\/host\/osm\/\$\{z\}/)
  })

  it('covers the world for a layer without bounds, with overviews down to a few tiles', () => {
    const { numbers } = read({ maxzoom: 14 })
    assert.deepEqual(numbers(...WINDOW), [14, 0, 0, 2 ** 22, 2 ** 22, 12])
    assert.deepEqual(numbers('UpperLeftX', 'UpperLeftY', 'LowerRightX', 'LowerRightY'), [-EDGE, EDGE, EDGE, -EDGE])
  })

  it('covers whole tiles around the bounds, so that overviews begin at tile corners', () => {
    const { numbers } = read({ maxzoom: 12, bounds: [5.9, 45.8, 10.5, 47.8] })
    assert.deepEqual(numbers(...WINDOW), [12, 132 * 16, 89 * 16, 4 * 16 * 256, 3 * 16 * 256, 4])
    const width = 2 * EDGE / 256
    const expected = [-EDGE + 132 * width, EDGE - 89 * width, -EDGE + 136 * width, EDGE - 92 * width]
    numbers('UpperLeftX', 'UpperLeftY', 'LowerRightX', 'LowerRightY')
      .forEach((value, index) => assert.ok(Math.abs(value - expected[index]) < 1e-6))
  })

  it('has only zooms that the layer has', () => {
    assert.deepEqual(read({ minzoom: 6, maxzoom: 8 }).numbers('TileLevel', 'OverviewCount', 'SizeX'), [8, 2, 2 ** 16])
    assert.deepEqual(read({}, { stored: new Map([[3, {}], [9, {}]]) }).numbers('TileLevel', 'SizeX'),
      [9, 2 ** 17], 'without a maxzoom, the deepest stored zoom')
    assert.deepEqual(read({ upstream: { maxzoom: 11 } }, { stored: new Map([[3, {}]]) }).numbers('TileLevel'),
      [11], 'the gateway fetches deeper tiles than the store has')
    assert.deepEqual(read({ upstream: { maxzoom: 11 } }, { stored: new Map([[14, {}]]) }).numbers('TileLevel'),
      [14], 'the store has deeper tiles than the upstream')
    assert.deepEqual(read({}).numbers('TileLevel', 'SizeX', 'SizeY'),
      [22, 2 ** 30, 2 ** 30], 'GDAL counts no more pixels')
  })

  it('uses the grid of the layer if its zooms halve', () => {
    const corners = ['UpperLeftX', 'UpperLeftY', 'LowerRightX', 'LowerRightY']
    const europe = read({ grid: 'EuropeanETRS89_LAEAQuad', maxzoom: 5, bounds: [6, 47, 15, 55] })
    assert.deepEqual([europe.value('Projection'), ...europe.numbers(...corners, ...WINDOW)],
      ['EPSG:3035', 3687500, 3812500, 4812500, 2125000, 5, 12, 12, 2048, 3072, 2])
    const degrees = read({ grid: 'WorldCRS84Quad', maxzoom: 4 })
    assert.deepEqual([degrees.value('Projection'), ...degrees.numbers(...corners, ...WINDOW)],
      ['OGC:CRS84', -180, 90, 180, -90, 4, 0, 0, 4096, 2048, 2])
    const arctic = read({ grid: 'UPSArcticWGS84Quad', maxzoom: 3 })
    assert.deepEqual([arctic.value('Projection'), ...arctic.numbers(...corners)],
      ['EPSG:5041', -14440759.350252, 18440759.350252, 18440759.350252, -14440759.350252])
  })

  it('refers to the WMTS of the layer if the zooms of its grid do not halve', () => {
    const swiss = { grid: 'LV95', maxzoom: 20, format: 'jpg' }
    const { text, value, numbers } = read(swiss, { time: '2023', query: '?token=a.b' })
    assert.match(text, /^<GDAL_WMTS>/)
    assert.equal(value('GetCapabilitiesUrl'), 'http://host/wmts@2023/1.0.0/WMTSCapabilities.xml?token=a.b')
    assert.deepEqual(['Layer', 'TileMatrixSet', 'TileMatrix'].map(value), ['osm', 'LV95_Level20', '20'])
    assert.deepEqual(numbers('BandsCount'), [3])
    assert.match(read({ grid: 'LV95' }).value('GetCapabilitiesUrl'), /\/wmts\/1\.0\.0\//)
    assert.deepEqual(read({ grid: 'LV95' }, { stored: new Map([[3, {}], [17, {}]]) }).value('TileMatrix'),
      '17', 'without a maxzoom, the deepest stored zoom')
  })

  it('has blocks of the tile size, and a number of bands by the format', () => {
    assert.deepEqual(read({ maxzoom: 3, tileSize: 512, format: 'jpg' })
      .numbers('BlockSizeX', 'BlockSizeY', 'SizeX', 'BandsCount'), [512, 512, 4096, 3])
    assert.deepEqual(read({ maxzoom: 3, format: 'png' }).numbers('BlockSizeX', 'BandsCount'), [256, 4])
  })
})

onEachStore('GDAL', backend => {
  let world
  const folder = useFolder()
  before(async function () {
    if (!gdal()) skip(this, 'GDAL is not installed: put gdal_translate on the PATH')
    world = await startWorld(await backend.database(), OTHERS)
  })
  after(() => world?.close())

  const url = address => `${world.gateway.url}/${address}`
  const LAYERS = { world: { maxzoom: DEEPEST }, ...OTHERS }
  /** The last two grids are tested at one time only. */
  const yearsOf = layer => ['arctic', 'degrees'].includes(layer) ? [2023] : YEARS
  const titleOf = layer => `${LAYERS[layer].grid ?? 'WebMercatorQuad'}, at ${yearsOf(layer).length} times`
  const deepestOf = layer => {
    const grid = gridOf(LAYERS[layer])
    const matrix = grid.matrix(LAYERS[layer].maxzoom)
    const [left, , , top] = grid.extent(matrix.z, 0, 0)
    const [, bottom, right] = grid.extent(matrix.z, matrix.columns - 1, matrix.rows - 1)
    return { grid, ...matrix, corners: [left, top, right, bottom].map(String) }
  }

  /** Composes the map from the tiles of the store, as of the end of a year. */
  async function mapOf (layer, year) {
    const { z, columns, rows } = deepestOf(layer)
    const tiles = []
    for (let x = 0; x < columns; x++) {
      for (let y = 0; y < rows; y++) {
        const { bytes } = await world.store.at(layer, z, x, y, String(year))
        tiles.push({ input: bytes, left: 256 * x, top: 256 * y })
      }
    }
    return sharp({ create: { width: columns * 256, height: rows * 256, channels: 3, background: '#000' } })
      .composite(tiles).png().toBuffer()
  }
  const raw = input => sharp(input).removeAlpha().raw().toBuffer()

  /** Returns a GDAL_WMS description of an XYZ or TMS address. */
  function describeTiles (layer, address, yOrigin) {
    const { grid, z, columns, rows, corners: [left, top, right, bottom] } = deepestOf(layer)
    return `<GDAL_WMS><Service name="TMS"><ServerUrl>${address}</ServerUrl></Service>
<DataWindow>
<UpperLeftX>${left}</UpperLeftX><UpperLeftY>${top}</UpperLeftY>
<LowerRightX>${right}</LowerRightX><LowerRightY>${bottom}</LowerRightY>
<TileLevel>${z}</TileLevel><TileX>0</TileX><TileY>0</TileY>
<SizeX>${columns * 256}</SizeX><SizeY>${rows * 256}</SizeY><YOrigin>${yOrigin}</YOrigin>
</DataWindow>
<Projection>${grid.crs}</Projection><BlockSizeX>256</BlockSizeX><BlockSizeY>256</BlockSizeY>
<OverviewCount>0</OverviewCount><BandsCount>4</BandsCount></GDAL_WMS>`
  }
  const WAYS = {
    'gdal.xml': (layer, year) => url(`${layer}@${year}/gdal.xml`),
    'capabilities below an address with a time': (layer, year) =>
      `WMTS:${url(`wmts@${year}/1.0.0/WMTSCapabilities.xml`)},layer=${layer}`,
    'capabilities by KVP': (layer, year) =>
      `WMTS:${url(`wmts?SERVICE=WMTS&REQUEST=GetCapabilities&TIME=${year}`)},layer=${layer}`,
    XYZ: (layer, year) => describeTiles(layer, url(`${layer}@${year}/$\{z}/$\{x}/$\{y}.png`), 'top'),
    TMS: (layer, year) => describeTiles(layer, url(`tms/1.0.0/${layer}@${year}/$\{z}/$\{x}/$\{y}.png`), 'bottom'),
    'tilemapresource.xml': (layer, year) => url(`tms/1.0.0/${layer}@${year}/tilemapresource.xml`)
  }

  const SYSTEMS = {
    world: /"EPSG",3857\]\]$/, europe: /"EPSG",3035\]\]$/, swiss: /"EPSG",2056\]\]$/,
    arctic: /"EPSG",5041\]\]$/, degrees: /AXIS\["(geodetic )?longitude[^"]*",east,\s*ORDER\[1\]/
  }

  for (const layer of Object.keys(LAYERS)) {
    for (const [name, source] of Object.entries(WAYS)) {
      // GDAL needs zooms that start at 0 and halve
      if (name === 'tilemapresource.xml' && ['swiss', 'degrees'].includes(layer)) continue
      it(`reads the pixels of the store by ${name}: ${titleOf(layer)}`, async () => {
        const { corners } = deepestOf(layer)
        for (const year of yearsOf(layer)) {
          const file = path.join(folder.dir, `${year}.tif`)
          await runGdal('gdal_translate', '-q', '-of', 'GTiff', source(layer, year), file)
          assert.ok((await raw(file)).equals(await raw(await mapOf(layer, year))), `${year}`)
        }
        const info = JSON.parse((await runGdal('gdalinfo', '-json', source(layer, 2023))).stdout)
        const { upperLeft, lowerRight } = info.cornerCoordinates
        // gdalinfo may round to centimetres
        ;[...upperLeft, ...lowerRight].forEach((value, index) =>
          assert.ok(Math.abs(value - corners[index]) < 0.01, `${upperLeft} ${lowerRight}, not ${corners}`))
        assert.match(info.coordinateSystem.wkt, SYSTEMS[layer])
      })
    }
  }

  it('reads each zoom as an overview, from the tiles of that zoom', async () => {
    await world.store.defineLayer('deep', { format: 'png', minzoom: 0, maxzoom: 5, bounds: [91, 1, 179, 66] })
    const expected = []
    for (const [z, x, y, shade] of [[5, 24, 12, 50], [4, 12, 6, 90]]) {
      const bytes = await colored([shade, shade, z])
      await world.store.write([{ layer: 'deep', z, x, y, time: '2020-01-01T00:00:00Z', bytes }])
      expected.push([shade, shade, z])
    }
    const source = url('deep/gdal.xml')
    const info = JSON.parse((await runGdal('gdalinfo', '-json', source)).stdout)
    assert.deepEqual([info.size, info.bands[0].overviews.map(({ size: overviewSize }) => overviewSize)],
      [[2048, 2048], [[1024, 1024]]])
    const colors = []
    for (const overview of ['NONE', '0']) {
      const file = path.join(folder.dir, `${overview}.png`)
      await runGdal('gdal_translate', '-q', '-of', 'PNG', '-ovr', overview, '-projwin_srs', 'EPSG:3857',
        '-projwin', `${EDGE / 2}`, `${EDGE / 4}`, `${EDGE / 2 + EDGE / 16}`, `${EDGE / 4 - EDGE / 16}`, source, file)
      const pixels = await raw(file)
      colors.push([...pixels.subarray(0, 3)])
    }
    assert.deepEqual(colors, expected)
  })

  it('reads zooms that do not halve as overviews too', async () => {
    const source = url('swiss@2023/gdal.xml')
    const info = JSON.parse((await runGdal('gdalinfo', '-json', source)).stdout)
    assert.deepEqual([info.size, info.bands[0].overviews[0].size], [[2048, 1280], [1024, 640]])
    for (const [overview, z, x, y] of [['0', 15, 2, 1], ['1', 14, 1, 0]]) {
      const file = path.join(folder.dir, `${z}.png`)
      const [left, bottom, right, top] = gridOf(OTHERS.swiss).extent(z, x, y)
        .map((edge, side) => edge + (side < 2 ? 1 : -1) * 8000)
      await runGdal('gdal_translate', '-q', '-of', 'PNG', '-ovr', overview,
        '-projwin', `${left}`, `${top}`, `${right}`, `${bottom}`, source, file)
      const pixels = await raw(file)
      assert.deepEqual([[...pixels.subarray(0, 3)], [...pixels.subarray(-3)]],
        [color(z, x, y, 2023), color(z, x, y, 2023)])
    }
  })

  /** The target of each layer: a coordinate system, a window in it, and a size in pixels. */
  const TARGETS = {
    world: ['EPSG:4326', -170, -60, 170, 80, 340, 140],
    europe: ['EPSG:3857', -2e6, 4e6, 5e6, 1.1e7, 350, 350],
    swiss: ['EPSG:4326', 5.5, 45.5, 11, 48, 440, 200],
    arctic: ['EPSG:3857', -2e7, 8e6, 2e7, 2e7, 400, 120],
    degrees: ['EPSG:3857', -2e7, -2e7, 2e7, 2e7, 400, 400]
  }
  for (const layer of Object.keys(LAYERS)) {
    it(`warps tiles as it warps an image of the store: ${titleOf(layer)}`, async () => {
      const { grid, corners } = deepestOf(layer)
      const [crs, ...window] = TARGETS[layer].map(String)
      for (const year of yearsOf(layer)) {
        folder.write({ [`${year}.png`]: await mapOf(layer, year) })
        const localFile = path.join(folder.dir, `${year}.tif`)
        await runGdal('gdal_translate', '-q', '-a_srs', grid.crs, '-a_ullr',
          ...corners, path.join(folder.dir, `${year}.png`), localFile)
        const warp = async (source, name) => {
          const file = path.join(folder.dir, `${year}-${name}.tif`)
          await runGdal('gdalwarp', '-q', '-t_srs', crs, '-te', ...window.slice(0, 4),
            '-ts', ...window.slice(4), '-ovr', 'NONE', '-r', 'near', source, file)
          return raw(file)
        }
        const expected = await warp(localFile, 'local')
        assert.ok(new Set(expected).size > 4, 'there is something to see')
        for (const name of ['gdal.xml', 'capabilities below an address with a time', 'TMS']) {
          assert.ok((await warp(WAYS[name](layer, year), name.slice(0, 4))).equals(expected), `${name} ${year}`)
        }
      }
    })
  }

  it('reads empty pixels without an error at a time before the first tile', async () => {
    const file = path.join(folder.dir, 'before.png')
    await runGdal('gdal_translate', '-q', '-of', 'PNG', url('world@2020/gdal.xml'), file)
    assert.ok((await sharp(file).raw().toBuffer()).every(value => value === 0))
  })

  it('gets 404 with the reason for a layer of vector tiles', async () => {
    await world.store.defineLayer('roads', { format: 'pbf' })
    const answer = await until(async () => {
      const response = await fetch(url('roads/gdal.xml'))
      const { reason } = await response.json()
      return /vector tiles/.test(reason) && response
    }, { what: 'the layer' })
    assert.equal(answer.status, 404)
  })
})
