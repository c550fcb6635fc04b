// Tests of the WMTS with real clients, OWSLib and GDAL. The tests in test/client use Leaflet.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { gdal, owslib, skip } from '../support/tools.js'
import { dangling, violations } from './wmts/schema.js'
import { OTHERS, YEARS, color, colored, runGdal, startWorld } from './wmts/world.js'
import { parseXml } from './wmts/xml.js'

const run = promisify(execFile)
const root = new URL('../../', import.meta.url)

/** The digest of a tile of the world. */
const md5 = async (...place) => hash('md5', await colored(color(...place)))

onEachStore('clients of the WMTS', backend => {
  let world, store, gateway

  before(async () => {
    world = await startWorld(await backend.database(), owslib() ? OTHERS : {}) // only OWSLib reads other grids
    ;({ store, gateway } = world)
  })
  after(() => world?.close())

  const base = () => new URL('/', gateway.url).href
  const capabilities = () => new URL('wmts/1.0.0/WMTSCapabilities.xml', gateway.url).href

  it('get capabilities that follow the schema, with the editions as times', async () => {
    const document = parseXml(await (await fetch(capabilities())).text())
    assert.deepEqual([violations(document), dangling(document)], [[], []])
    const text = await (await fetch(new URL('wmts?service=WMTS&request=GetCapabilities', gateway.url))).text()
    for (const year of YEARS) assert.match(text, new RegExp(`<Value>${year}-06-01T00:00:00Z</Value>`))
  })

  it('get the bytes of a tile, now and as of a time, with its headers', async () => {
    const get = async address => {
      const response = await fetch(new URL(`wmts${address}`, gateway.url))
      assert.equal(response.status, 200, address)
      return { bytes: Buffer.from(await response.arrayBuffer()), headers: response.headers }
    }
    const kvp = '?service=WMTS&request=GetTile&version=1.0.0&layer=world&style=default&format=image/png&' +
      'tilematrixset=GoogleMapsCompatible&tilematrix=2&tilerow=1&tilecol=3'
    for (const address of ['/world/default/GoogleMapsCompatible/2/1/3.png',
      '/world/default/current/GoogleMapsCompatible/2/1/3.png', kvp]) {
      const { bytes, headers } = await get(address)
      assert.ok(bytes.equals(await colored(color(2, 3, 1))), address)
      assert.match(headers.get('etag') ?? '', /^"/)
      assert.equal(headers.get('x-tilecouch-time'), '2024-06-01T00:00:00Z')
    }
    for (const address of ['/world/default/2023/GoogleMapsCompatible/2/1/3.png', `${kvp}&TIME=2023-06-01`,
      '@2023/world/default/GoogleMapsCompatible/2/1/3.png', `@2023${kvp}`, `${kvp}&TIME=2020/2023/P1Y`,
      '@2023/world/default/{Time}/GoogleMapsCompatible/2/1/3.png']) {
      assert.ok((await get(address)).bytes.equals(await colored(color(2, 3, 1, 2023))), address)
    }
    assert.match((await get('/world/default/2023-06-01T00:00:00Z/GoogleMapsCompatible/2/1/3.png'))
      .headers.get('cache-control') ?? '', /^public, max-age=300,/)
    assert.equal((await fetch(new URL('wmts/world/default/2020/GoogleMapsCompatible/2/1/3.png', gateway.url))).status,
      404)
  })

  it('get new capabilities within five seconds of a new layer and edition', async () => {
    const listed = element => until(async () => (await (await fetch(capabilities())).text()).includes(element),
      { timeout: 5000, what: element })
    await store.defineLayer('late', { name: 'Late' })
    await listed('<ows:Title>Late</ows:Title>')
    await store.putEdition('late', '2022-01-01T00:00:00Z', { title: 'first', complete: true })
    await listed('<Value>2022-01-01T00:00:00Z</Value>')
  })

  describe('OWSLib', () => {
    const SCRIPT = `
import hashlib, json, sys
from lxml import etree
from owslib.wmts import WebMapTileService
from owslib.util import openURL
out = {}
for name, url in (('kvp', sys.argv[1] + 'wmts'), ('rest', sys.argv[1] + 'wmts/1.0.0/WMTSCapabilities.xml')):
    wmts = WebMapTileService(url)
    layer = wmts.contents['world']
    place = dict(layer='world', tilematrixset='GoogleMapsCompatible_Level2', tilematrix='2', row=1, column=3,
        format='image/png')
    out[name] = {
        'title': layer.title, 'bbox': layer.boundingBoxWGS84, 'formats': layer.formats, 'styles': list(layer.styles),
        'times': layer.dimensions['Time']['values'], 'default': layer.dimensions['Time']['default'],
        'matrices': sorted(wmts.tilematrixsets['GoogleMapsCompatible_Level2'].tilematrix),
        'limits': sorted(wmts.contents['east'].tilematrixsetlinks['GoogleMapsCompatible_Level2'].tilematrixlimits),
        'operations': [operation.name for operation in wmts.operations],
        'now': hashlib.md5(wmts.gettile(**place).read()).hexdigest(),
        'then': hashlib.md5(wmts.gettile(Time='2023-06-01T00:00:00Z', **place).read()).hexdigest(),
    }
    address = wmts.buildTileResource(Time='2023', **place)
    out[name]['address'] = [address, hashlib.md5(openURL(address).read()).hexdigest()]
    then = WebMapTileService(url.replace('/wmts', '/wmts@2023', 1))
    out[name]['at'] = [
        then.contents['world'].dimensions['Time']['default'],
        hashlib.md5(then.gettile(**place).read()).hexdigest()
    ]
    try:
        wmts.gettile(**{**place, 'row': 4}).read()
    except Exception as error:
        out[name]['refused'] = str(error)
print(json.dumps(out))
`
    it('reads the capabilities, and tiles now and as of a time, by KVP and REST', async function () {
      const python = owslib() ?? skip(this, 'OWSLib is not installed: set OWSLIB_PYTHON to a python that has it')
      const { stdout } = await run(python, ['-c', SCRIPT, base()])
      for (const [name, results] of Object.entries(JSON.parse(stdout))) {
        const { refused, ...answers } = results
        assert.deepEqual(answers, {
          title: 'The world',
          bbox: [-180, -85.0511287798066, 180, 85.0511287798066],
          formats: ['image/png'],
          styles: ['default'],
          times: YEARS.map(year => `${year}-06-01T00:00:00Z`),
          default: 'current',
          matrices: ['0', '1', '2'],
          limits: ['1', '2'],
          operations: ['GetCapabilities', 'GetTile'],
          at: ['2023-06-01T00:00:00Z', await md5(2, 3, 1, 2023)],
          now: await md5(2, 3, 1),
          then: await md5(2, 3, 1, 2023),
          address: [`${base()}wmts/world/default/2023/GoogleMapsCompatible_Level2/2/1/3.png`, await md5(2, 3, 1, 2023)]
        }, name)
        assert.match(refused, /TileRow 4|400/)
      }
    })
  })

  describe('OWSLib, in other grids', () => {
    const SCRIPT = `
import hashlib, json, sys
from owslib.wmts import WebMapTileService
out = {}
for name, url in (('kvp', sys.argv[1] + 'wmts'), ('rest', sys.argv[1] + 'wmts/1.0.0/WMTSCapabilities.xml')):
    wmts = WebMapTileService(url)
    for layer, set, matrix, row, column in (
        ('europe', 'EuropeanETRS89_LAEAQuad_Level2', '2', 1, 3),
        ('swiss', 'LV95_Level16', '16', 3, 7),
        ('degrees', 'WorldCRS84Quad_Level2', '2', 3, 6)
    ):
        known = wmts.tilematrixsets[set]
        tile = known.tilematrix[matrix]
        place = dict(layer=layer, tilematrixset=set, tilematrix=matrix, row=row, column=column, format='image/png')
        out[name + ' ' + layer] = [
            known.crs, list(tile.topleftcorner), tile.matrixwidth, tile.matrixheight, tile.tilewidth,
            list(wmts.contents[layer].boundingBox[0].extent),
            hashlib.md5(wmts.gettile(**place).read()).hexdigest(),
            hashlib.md5(wmts.gettile(Time='2023', **place).read()).hexdigest()
        ]
print(json.dumps(out))
`
    it('reads the matrix sets, and tiles now and as of a time', async function () {
      const python = owslib() ?? skip(this, 'OWSLib is not installed: set OWSLIB_PYTHON to a python that has it')
      const { stdout } = await run(python, ['-c', SCRIPT, base()])
      const crs = name => `urn:ogc:def:crs:${name}`
      const expected = {
        europe: [crs('EPSG::3035'), [5500000, 2000000], 4, 4, 256, [1000000, 2000000, 5500000, 6500000],
          await md5(2, 3, 1), await md5(2, 3, 1, 2023)],
        swiss: [crs('EPSG::2056'), [2420000, 1350000], 8, 5, 256, [2420000, 1030000, 2932000, 1350000],
          await md5(16, 7, 3), await md5(16, 7, 3, 2023)],
        degrees: [crs('OGC:1.3:CRS84'), [-180, 90], 8, 4, 256, [-180, -90, 180, 90],
          await md5(3, 6, 3), await md5(3, 6, 3, 2023)]
      }
      const results = JSON.parse(stdout)
      for (const way of ['kvp', 'rest']) for (const layer of Object.keys(expected)) {
        assert.deepEqual(results[`${way} ${layer}`], expected[layer], `${way} ${layer}`)
      }
    })
  })

  describe('GDAL', () => {
    const folder = useFolder()
    before(function () {
      if (!gdal()) skip(this, 'GDAL is not installed: put gdal_translate on the PATH')
    })
    const pixels = async file => {
      const { data, info } = await sharp(file).removeAlpha().raw().toBuffer({ resolveWithObject: true })
      return { width: info.width, height: info.height, at: (x, y) => [
        ...data.subarray((y * info.width + x) * info.channels, (y * info.width + x) * info.channels + 3)
      ] }
    }

    it('lists the layers', async () => {
      const { stdout } = await runGdal('gdalinfo', '-json', `WMTS:${capabilities()}`)
      const names = Object.values(JSON.parse(stdout).metadata.SUBDATASETS).join('\n')
      for (const layer of ['world', 'east']) assert.match(names, new RegExp(`layer=${layer}`))
    })

    it('reads the whole world with every tile in its place', async () => {
      const source = `WMTS:${capabilities()},layer=world`
      const info = JSON.parse((await runGdal('gdalinfo', '-json', source)).stdout)
      assert.deepEqual(info.size, [1024, 1024])
      assert.match(info.coordinateSystem.wkt, /3857/)
      const corner = info.cornerCoordinates.upperLeft
      assert.ok(Math.abs(corner[0] + 20037508.34) < 1 && Math.abs(corner[1] - 20037508.34) < 1, `${corner}`)
      const file = path.join(folder.dir, 'world.png')
      await runGdal('gdal_translate', '-q', '-of', 'PNG', source, file)
      const { width, height, at: colorAt } = await pixels(file)
      assert.deepEqual([width, height], [1024, 1024])
      for (let x = 0; x < 4; x++) for (let y = 0; y < 4; y++) {
        assert.deepEqual(colorAt(256 * x + 100, 256 * y + 100), color(2, x, y), `2/${x}/${y}`)
      }
    })

    it('reads another zoom, and another time with the description of docs/gis.md', async () => {
      const file = path.join(folder.dir, 'one.png')
      await runGdal('gdal_translate', '-q', '-of', 'PNG', `WMTS:${capabilities()},layer=world,zoom_level=1`, file)
      const overview = await pixels(file)
      assert.deepEqual([overview.width, overview.at(300, 100)], [512, color(1, 1, 0)])

      const manual = await readFile(new URL('docs/gis.md', root), 'utf8')
      const [description] = /<GDAL_WMS>[^]*<\/GDAL_WMS>/.exec(manual) ??
        assert.fail('docs/gis.md describes tiles to GDAL')
      const localDescription = description.replace('http://localhost:5984/tiles/_design/tiles/_rewrite/osm@',
        `${store.url}/_design/tiles/_rewrite/world@`).replace('<TileLevel>8<', '<TileLevel>2<')
      assert.ok(localDescription.includes('world@2023') && localDescription.includes('>2<'))
      folder.write({ 'then.xml': localDescription })
      const pastPicture = path.join(folder.dir, 'then.png')
      await runGdal('gdal_translate', '-q', '-of', 'PNG', '-b', '1', '-b',
        '2', '-b', '3', path.join(folder.dir, 'then.xml'), pastPicture)
      assert.deepEqual((await pixels(pastPicture)).at(800, 300), color(2, 3, 1, 2023))
    })
  })
})
