// Layers in GDAL: the documents that the gateway writes for it, and the same pixels as in the store at three times by every
// way that GDAL has.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { gdalXml } from '../../server/gateway/routes/gdal.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { gdal, skip } from '../support/tools.js'
import { DEEPEST, YEARS, startWorld } from './wmts/world.js'

const EDGE = 20037508.3427892
const run = promisify(execFile)

describe('the GDAL_WMS document of a layer', () => {
  const read = (layer, options) => {
    const text = gdalXml({ layer: 'osm', ...layer }, { base: 'http://host/', ...options })
    const value = name => (new RegExp(`<${name}>([^<]*)</${name}>`).exec(text) ?? assert.fail(`no ${name}`))[1]
    const numbers = (...names) => names.map(name => +value(name))
    return { text, value, numbers }
  }
  const WINDOW = ['TileLevel', 'TileX', 'TileY', 'SizeX', 'SizeY', 'OverviewCount']

  it('begins as GDAL knows it, and has the addresses of its time', () => {
    const { text, value } = read({ format: 'webp' }, { time: '2023', query: '?token=a.b' })
    assert.match(text, /^<GDAL_WMS>/)
    assert.equal(value('ServerUrl'), 'http://host/osm@2023/${z}/${x}/${y}.webp?token=a.b')
    assert.match(read({}).value('ServerUrl'), /^http:\/\/host\/osm\/\$\{z\}/)
  })

  it('is the world for a layer of the world, with overviews down to a few tiles', () => {
    const { numbers } = read({ maxzoom: 14 })
    assert.deepEqual(numbers(...WINDOW), [14, 0, 0, 2 ** 22, 2 ** 22, 12])
    assert.deepEqual(numbers('UpperLeftX', 'UpperLeftY', 'LowerRightX', 'LowerRightY'), [-EDGE, EDGE, EDGE, -EDGE])
  })

  it('is whole tiles around the bounds, so that the tiles of each overview begin at its corner', () => {
    const { numbers } = read({ maxzoom: 12, bounds: [5.9, 45.8, 10.5, 47.8] })
    assert.deepEqual(numbers(...WINDOW), [12, 132 * 16, 89 * 16, 4 * 16 * 256, 3 * 16 * 256, 4])
    const width = 2 * EDGE / 256
    const expected = [-EDGE + 132 * width, EDGE - 89 * width, -EDGE + 136 * width, EDGE - 92 * width]
    numbers('UpperLeftX', 'UpperLeftY', 'LowerRightX', 'LowerRightY').forEach((value, index) => assert.ok(Math.abs(value - expected[index]) < 1e-6))
  })

  it('has no zoom that the layer has not', () => {
    assert.deepEqual(read({ minzoom: 6, maxzoom: 8 }).numbers('TileLevel', 'OverviewCount', 'SizeX'), [8, 2, 2 ** 16])
    assert.deepEqual(read({}, { stored: new Map([[3, {}], [9, {}]]) }).numbers('TileLevel', 'SizeX'), [9, 2 ** 17], 'without a maxzoom, the deepest stored zoom')
    assert.deepEqual(read({}).numbers('TileLevel', 'SizeX', 'SizeY'), [22, 2 ** 30, 2 ** 30], 'GDAL counts no more pixels')
  })

  it('has blocks of the size of the tiles, and bands by the format', () => {
    assert.deepEqual(read({ maxzoom: 3, tileSize: 512, format: 'jpg' }).numbers('BlockSizeX', 'BlockSizeY', 'SizeX', 'BandsCount'), [512, 512, 4096, 3])
    assert.deepEqual(read({ maxzoom: 3, format: 'png' }).numbers('BlockSizeX', 'BandsCount'), [256, 4])
  })
})

onEachStore('GDAL', backend => {
  /** @type {Awaited<ReturnType<typeof startWorld>>} */
  let world
  const folder = useFolder()
  before(async function () {
    if (!gdal()) skip(this, 'GDAL is not installed: put gdal_translate on the PATH')
    world = await startWorld(await backend.database())
  })
  after(() => world?.close())

  const tool = (name, ...args) => run(name, args, { env: { ...process.env, GDAL_ENABLE_WMS_CACHE: 'NO', GDAL_PAM_ENABLED: 'NO' } })
  const url = address => `${world.gateway.url}/${address}`
  const size = 2 ** DEEPEST * 256

  /** The map as the store has it: each tile as of the end of a year, at its place. */
  async function mapOf (year) {
    const tiles = []
    for (let x = 0; x < 2 ** DEEPEST; x++) {
      for (let y = 0; y < 2 ** DEEPEST; y++) {
        const { bytes } = await world.store.at('world', DEEPEST, x, y, String(year))
        tiles.push({ input: bytes, left: 256 * x, top: 256 * y })
      }
    }
    return sharp({ create: { width: size, height: size, channels: 3, background: '#000' } }).composite(tiles).png().toBuffer()
  }
  const raw = input => sharp(input).removeAlpha().raw().toBuffer()

  /** A description by hand, for the addresses that other programs use too. */
  const described = (address, yOrigin) => `<GDAL_WMS><Service name="TMS"><ServerUrl>${address}</ServerUrl></Service>
<DataWindow><UpperLeftX>${-EDGE}</UpperLeftX><UpperLeftY>${EDGE}</UpperLeftY><LowerRightX>${EDGE}</LowerRightX><LowerRightY>${-EDGE}</LowerRightY>
<TileLevel>${DEEPEST}</TileLevel><TileCountX>1</TileCountX><TileCountY>1</TileCountY><YOrigin>${yOrigin}</YOrigin></DataWindow>
<Projection>EPSG:3857</Projection><BlockSizeX>256</BlockSizeX><BlockSizeY>256</BlockSizeY><BandsCount>4</BandsCount></GDAL_WMS>`
  const WAYS = {
    'gdal.xml': year => url(`world@${year}/gdal.xml`),
    'capabilities below an address with a time': year => `WMTS:${url(`wmts@${year}/1.0.0/WMTSCapabilities.xml`)},layer=world`,
    'capabilities by KVP': year => `WMTS:${url(`wmts?SERVICE=WMTS&REQUEST=GetCapabilities&TIME=${year}`)},layer=world`,
    XYZ: year => described(url(`world@${year}/$\{z}/$\{x}/$\{y}.png`), 'top'),
    TMS: year => described(url(`tms/1.0.0/world@${year}/$\{z}/$\{x}/$\{y}.png`), 'bottom')
  }

  for (const [name, source] of Object.entries(WAYS)) {
    it(`reads the pixels of the store at three times by ${name}`, async () => {
      for (const year of YEARS) {
        const file = path.join(folder.dir, `${year}.png`)
        await tool('gdal_translate', '-q', '-of', 'PNG', source(year), file)
        assert.ok((await raw(file)).equals(await raw(await mapOf(year))), `${year}`)
      }
    })
  }

  it('reads each zoom as an overview, from the tiles of that zoom', async () => {
    await world.store.defineLayer('deep', { format: 'png', minzoom: 0, maxzoom: 5, bounds: [91, 1, 179, 66] })
    const expected = []
    for (const [z, x, y, shade] of [[5, 24, 12, 50], [4, 12, 6, 90]]) {
      const bytes = await sharp({ create: { width: 256, height: 256, channels: 3, background: { r: shade, g: shade, b: z } } }).png().toBuffer()
      await world.store.write([{ layer: 'deep', z, x, y, time: '2020-01-01T00:00:00Z', bytes }])
      expected.push([shade, shade, z])
    }
    const source = url('deep/gdal.xml')
    const info = JSON.parse((await tool('gdalinfo', '-json', source)).stdout)
    assert.deepEqual([info.size, info.bands[0].overviews.map(({ size: each }) => each)], [[2048, 2048], [[1024, 1024]]])
    const found = []
    for (const overview of ['NONE', '0']) {
      const file = path.join(folder.dir, `${overview}.png`)
      await tool('gdal_translate', '-q', '-of', 'PNG', '-ovr', overview, '-projwin_srs', 'EPSG:3857', '-projwin', `${EDGE / 2}`, `${EDGE / 4}`, `${EDGE / 2 + EDGE / 16}`, `${EDGE / 4 - EDGE / 16}`, source, file)
      const pixels = await raw(file)
      found.push([...pixels.subarray(0, 3)])
    }
    assert.deepEqual(found, expected)
  })

  it('warps them as it warps an image of the store', async () => {
    for (const year of YEARS) {
      folder.write({ [`${year}.png`]: await mapOf(year) })
      const local = path.join(folder.dir, `${year}.tif`)
      await tool('gdal_translate', '-q', '-a_srs', 'EPSG:3857', '-a_ullr', `${-EDGE}`, `${EDGE}`, `${EDGE}`, `${-EDGE}`, path.join(folder.dir, `${year}.png`), local)
      const warped = async (source, name) => {
        const file = path.join(folder.dir, `${year}-${name}.tif`)
        await tool('gdalwarp', '-q', '-t_srs', 'EPSG:4326', '-te', '-170', '-60', '170', '80', '-ts', '340', '140', '-ovr', 'NONE', '-r', 'near', source, file)
        return raw(file)
      }
      const expected = await warped(local, 'local')
      for (const name of ['gdal.xml', 'capabilities below an address with a time']) assert.ok((await warped(WAYS[name](year), name.slice(0, 4))).equals(expected), `${name} ${year}`)
    }
  })

  it('reads nothing, and no error, where the layer has no tiles yet', async () => {
    const file = path.join(folder.dir, 'before.png')
    await tool('gdal_translate', '-q', '-of', 'PNG', url('world@2020/gdal.xml'), file)
    assert.ok((await sharp(file).raw().toBuffer()).every(value => value === 0))
  })

  it('opens a layer of vector tiles with an error that says why', async () => {
    await world.store.defineLayer('roads', { format: 'pbf' })
    const deadline = Date.now() + 5000
    let answer
    do answer = await fetch(url('roads/gdal.xml'))
    while (!/vector tiles/.test(await answer.clone().text()) && Date.now() < deadline)
    assert.equal(answer.status, 404)
    assert.match((await answer.json()).reason, /vector tiles/)
  })
})
