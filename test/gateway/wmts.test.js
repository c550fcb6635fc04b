// GetTile by KVP and by address, and what is said about one that is wrong.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { TilecouchError } from '../../core/errors.js'
import { violations } from './wmts/schema.js'
import { TILE, asked, kvp, others, refusalOf, startService, tileOf } from './wmts/service.js'
import { parseXml } from './wmts/xml.js'

const without = name => Object.fromEntries(Object.entries(TILE).filter(([key]) => key !== name))

describe('the WMTS', () => {
  /** @type {Awaited<ReturnType<typeof startService>>} */
  let service

  before(async () => { service = await startService() })
  after(() => service.close())
  afterEach(() => assert.deepEqual(service.thrown, [], 'every error is a report'))

  const tile = (path, from = service) => tileOf(from, path)
  const refused = (path, from = service) => refusalOf(from, path)

  describe('by KVP', () => {
    it('requests a tile, with rows from the north', async () => {
      assert.deepEqual(await tile(kvp(TILE)), asked)
      assert.deepEqual(await tile(`/${kvp(TILE)}`), asked, 'with a slash before the question mark')
    })

    it('accepts names in any case and order, and ignores unknown ones', async () => {
      const swapped = Object.entries(TILE).reverse()
        .map(([name, value], index) => [index % 2 ? name.toLowerCase() : name[0] + name.slice(1).toLowerCase(), value])
      assert.deepEqual(await tile(kvp([['map', '/etc/passwd'], ...swapped, ['__proto__', 'x'], ['constructor', 'y']])),
        asked)
      assert.deepEqual(await tile(kvp({ ...TILE, SERVICE: 'wmts', FORMAT: 'IMAGE/PNG' })), asked)
    })

    it('takes the first of two parameters with one name', async () => {
      assert.deepEqual(await tile(kvp([...Object.entries(TILE), ['layer', 'alps'], ['TileRow', '-1']])), asked)
    })

    it('refuses a missing or empty parameter, and names it', async () => {
      for (const name of Object.keys(TILE)) {
        const expected = [400, 'MissingParameterValue', name.toLowerCase()]
        for (const parameters of [without(name), { ...TILE, [name]: '' }]) {
          const [status, code, locator] = await refused(kvp(parameters))
          assert.deepEqual([status, code, String(locator).toLowerCase()], expected)
        }
      }
      assert.deepEqual(await refused(''), [400, 'MissingParameterValue', 'service'])
      assert.deepEqual(await refused("?request~GetCapabilities!service~!'WMTS'version~'1.0.0'"),
        [400, 'MissingParameterValue', 'service'])
    })

    const wrong = {
      SERVICE: ['service', ['WMS', 'BOGUS', 'WMTS ', '../WMTS']],
      REQUEST: ['request', ['GetBOGUS', 'getcapabilities ', 'GetMap', 'constructor']],
      VERSION: ['version', ['1.1.0', '1.0', '1.0.0.0', '0']],
      LAYER: ['Layer', ['nothere', 'OSM', 'layer', 'edition', '../osm',
        'osm@2024', 'osm,alps', 'osm:10:300:412', '_design', '__proto__', 'a'.repeat(100), '<script>', '\u0000osm']],
      STYLE: ['Style', ['night', 'Default ', '../default']],
      FORMAT: ['Format', ['image/jpeg', 'png', 'image/*', 'text/html', 'image/png\r\nSet-Cookie: a=b']],
      TILEMATRIXSET: ['TileMatrixSet',
        ['EPSG:4326', 'googlemapscompatible', 'GoogleMapsCompatible_512', 'GoogleMapsCompatible_Level18', '../..']],
      TILEMATRIX: ['TileMatrix', ['20', '-1', '010', '1e1', '10.0', 'ten', '99999999999999999999', '٣']],
      TILEROW: ['TileRow', ['1.5', '1e2', '0x10', '0412', ' 412', '412/..', 'NaN', '', '٣'].filter(Boolean)],
      TILECOL: ['TileCol', ['1.5', 'Infinity', '+1', '%33', '300;']]
    }

    for (const [name, [locator, values]] of Object.entries(wrong)) {
      it(`refuses an invalid ${name}, and names ${locator}`, async () => {
        for (const value of values) {
          assert.deepEqual(await refused(kvp({ ...TILE, [name]: value })),
            [400, 'InvalidParameterValue', locator], JSON.stringify(value))
        }
      })
    }

    it('refuses a tile outside the matrix', async () => {
      for (const value of ['-1', '1024', '99999999999', '999999999999999']) {
        assert.deepEqual(await refused(kvp({ ...TILE, TILEROW: value })), [400, 'TileOutOfRange', 'TileRow'])
        assert.deepEqual(await refused(kvp({ ...TILE, TILECOL: value })), [400, 'TileOutOfRange', 'TileCol'])
      }
      assert.deepEqual(await tile(kvp({ ...TILE, TILEROW: '1023', TILECOL: '0' })), { ...asked, x: 0, y: 1023 })
    })

    it('refuses GetFeatureInfo as not supported', async () => {
      assert.deepEqual(await refused(kvp({ ...TILE, REQUEST: 'GetFeatureInfo' })),
        [501, 'OperationNotSupported', 'GetFeatureInfo'])
    })

    it('checks the format, tile size, zooms and bounds of the layer', async () => {
      const alps = { ...TILE, LAYER: 'alps', FORMAT: 'image/jpeg', TILEMATRIX: '8', TILEROW: '90', TILECOL: '133' }
      assert.deepEqual(await tile(kvp(alps)), { kind: 'tile', layer: 'alps', z: 8, x: 133, y: 90, ext: 'jpg' })
      assert.deepEqual(await refused(kvp({ ...alps, TILECOL: '136' })), [400, 'TileOutOfRange', 'TileCol'])
      assert.deepEqual(await refused(kvp({ ...alps, TILEROW: '0' })), [400, 'TileOutOfRange', 'TileRow'])
      assert.deepEqual(await refused(kvp({ ...alps, TILEMATRIX: '3', TILEROW: '2', TILECOL: '4' })),
        [400, 'TileOutOfRange', 'TileMatrix'])
      assert.deepEqual(await refused(kvp({ ...alps, TILEMATRIX: '13' })), [400, 'InvalidParameterValue', 'TileMatrix'])
      assert.deepEqual(await refused(kvp({ ...alps, FORMAT: 'image/png' })), [400, 'InvalidParameterValue', 'Format'])

      const roads = {
        ...TILE, LAYER: 'roads', FORMAT: 'application/vnd.mapbox-vector-tile', TILEMATRIXSET: 'GoogleMapsCompatible_512'
      }
      assert.deepEqual(await tile(kvp(roads)), { ...asked, layer: 'roads', ext: 'pbf' })
      assert.deepEqual(await refused(kvp({ ...roads, TILEMATRIXSET: 'GoogleMapsCompatible' })),
        [400, 'InvalidParameterValue', 'TileMatrixSet'])
    })

    it('accepts the name of a matrix set with and without its deepest zoom', async () => {
      assert.deepEqual(await tile(kvp({ ...TILE, TILEMATRIXSET: 'GoogleMapsCompatible_Level19' })), asked)
      assert.deepEqual(await tile('/roads/default/GoogleMapsCompatible_512_Level14/10/412/300.pbf'),
        { ...asked, layer: 'roads', ext: 'pbf' })
    })

    it('accepts tiles on both sides of the antimeridian', async () => {
      const pacific = { ...TILE, LAYER: 'pacific', TILEMATRIX: '5', TILEROW: '15' }
      for (const column of ['0', '31']) assert.equal((await tile(kvp({ ...pacific, TILECOL: column }))).x, +column)
    })
  })

  describe('by address', () => {
    it('requests the same tile as by KVP', async () => {
      assert.deepEqual(await tile('/osm/default/GoogleMapsCompatible/10/412/300.png'), asked)
      assert.deepEqual(await tile('/alps/default/GoogleMapsCompatible/8/90/133.jpeg'),
        { kind: 'tile', layer: 'alps', z: 8, x: 133, y: 90, ext: 'jpg' })
      assert.deepEqual(await tile('/roads/default/GoogleMapsCompatible_512/10/412/300.mvt'),
        { ...asked, layer: 'roads', ext: 'pbf' })
    })

    it('requests a tile as of a time', async () => {
      assert.deepEqual(await tile('/osm/default/2024-03-01/GoogleMapsCompatible/10/412/300.png'),
        { ...asked, time: '2024-03-01T23:59:59Z' })
      assert.deepEqual(await tile('/osm/default/2024-03-01T00:00:00Z/GoogleMapsCompatible/10/412/300.png'),
        { ...asked, time: '2024-03-01T00:00:00Z' })
      assert.deepEqual(await tile('/osm/default/current/GoogleMapsCompatible/10/412/300.png'), asked)
    })

    it('refuses wrong parts with the same errors as KVP', async () => {
      const tail = 'default/GoogleMapsCompatible/10/412/300.png'
      const wrong = {
        [`/nothere/${tail}`]: 'Layer',
        [`/osm%2F..%2Falps/${tail}`]: 'Layer',
        '/osm/night/GoogleMapsCompatible/10/412/300.png': 'Style',
        '/osm/default/EPSG:4326/10/412/300.png': 'TileMatrixSet',
        '/osm/default/GoogleMapsCompatible/20/412/300.png': 'TileMatrix',
        '/osm/default/GoogleMapsCompatible/10/x/300.png': 'TileRow',
        '/osm/default/GoogleMapsCompatible/10/412/x.png': 'TileCol',
        '/osm/default/GoogleMapsCompatible/10/412/300': 'TileCol',
        '/osm/default/GoogleMapsCompatible/10/412/300.jpg': 'Format',
        '/osm/default/GoogleMapsCompatible/10/412/300.exe': 'Format',
        '/osm/default/2024-13/GoogleMapsCompatible/10/412/300.png': 'Time',
        '/osm/default/..%2F..%2Fetc/GoogleMapsCompatible/10/412/300.png': 'Time'
      }
      for (const [path, locator] of Object.entries(wrong)) {
        assert.deepEqual(await refused(path), [400, 'InvalidParameterValue', locator], path)
      }
    })

    it('answers 404 outside the layer', async () => {
      assert.deepEqual(await refused('/osm/default/GoogleMapsCompatible/10/1024/300.png'),
        [404, 'TileOutOfRange', 'TileRow'])
      assert.deepEqual(await refused('/alps/default/GoogleMapsCompatible/8/90/0.jpg'),
        [404, 'TileOutOfRange', 'TileCol'])
      assert.deepEqual(await refused('/alps/default/GoogleMapsCompatible/0/0/0.jpg'),
        [404, 'TileOutOfRange', 'TileMatrix'])
    })

    it('answers 404 at other addresses', async () => {
      for (
        const path of ['/osm', '/1.0.0/', '/1.1.0/WMTSCapabilities.xml', '/WMTSCapabilities.xml',
          '/1.0.0/wmtscapabilities.xml', `/${'a/'.repeat(200)}`, '/osm/default/GoogleMapsCompatible/10/412/300/5/5.png']
      ) {
        assert.deepEqual(await refused(path), [404, 'NoApplicableCode', undefined], path)
      }
    })
  })

  describe('in other grids', () => {
    let grids
    before(async () => { grids = await startService({ layers: others, times: {} }) })
    after(() => grids.close())
    afterEach(() => assert.deepEqual(grids.thrown, []))
    const swiss =
      { ...TILE, LAYER: 'swiss', TILEMATRIXSET: 'LV95_Level20', TILEMATRIX: '20', TILEROW: '60', TILECOL: '100' }

    it('finds the tile of the store by the matrix of the set', async () => {
      const expected = { kind: 'tile', layer: 'swiss', z: 20, x: 100, y: 60, ext: 'png' }
      assert.deepEqual(await tile(kvp(swiss), grids), expected)
      assert.deepEqual(await tile(kvp({ ...swiss, TILEMATRIXSET: 'LV95' }), grids), expected)
      assert.deepEqual(await tile('/swiss/default/LV95/20/60/100.png', grids), expected)
      assert.deepEqual(await tile('/degrees/default/2023/WorldCRS84Quad_Level6/6/63/127.png', grids), {
        kind: 'tile', layer: 'degrees', time: '2023-12-31T23:59:59Z', z: 7, x: 127, y: 63, ext: 'png'
      }, 'matrix 6 is zoom 7')
      assert.deepEqual(await tile('/town/default/Town/t1/4/6.png', grids),
        { kind: 'tile', layer: 'town', z: 3, x: 6, y: 4, ext: 'png' })
    })

    it('refuses tiles and matrices outside the set or the layer', async () => {
      for (const [fields, ...expected] of [
        [{ TILEMATRIXSET: 'GoogleMapsCompatible' }, 'InvalidParameterValue', 'TileMatrixSet'],
        [{ TILEMATRIXSET: 'LV95_Level21' }, 'InvalidParameterValue', 'TileMatrixSet'],
        [{ TILEMATRIX: '21' }, 'InvalidParameterValue', 'TileMatrix'],
        [{ TILEMATRIX: '29' }, 'InvalidParameterValue', 'TileMatrix'],
        [{ TILEMATRIX: '020' }, 'InvalidParameterValue', 'TileMatrix'],
        [{ TILEMATRIX: '13', TILEROW: '0', TILECOL: '0' }, 'TileOutOfRange', 'TileMatrix'],
        [{ TILEROW: '125' }, 'TileOutOfRange', 'TileRow'], [{ TILECOL: '188' }, 'TileOutOfRange', 'TileCol'],
        [{ TILECOL: '-1' }, 'TileOutOfRange', 'TileCol'], [{ TILEROW: 'x' }, 'InvalidParameterValue', 'TileRow'],
        [{ TILECOL: '0' }, 'TileOutOfRange', 'TileCol']
      ]) {
        assert.deepEqual(await refused(kvp({ ...swiss, ...fields }), grids), [400, ...expected], JSON.stringify(fields))
      }
      const town = { ...TILE, LAYER: 'town', TILEMATRIXSET: 'Town', TILEROW: '0', TILECOL: '0' }
      for (const matrix of ['3', 't2', 'T1', 'constructor']) {
        assert.deepEqual(await refused(kvp({ ...town, TILEMATRIX: matrix }), grids),
          [400, 'InvalidParameterValue', 'TileMatrix'])
      }
      assert.deepEqual(await refused('/town/default/Town/t0/2/0.png', grids), [404, 'TileOutOfRange', 'TileRow'])
      assert.deepEqual(await refused('/degrees/default/WorldCRS84Quad/0/1/0.png', grids),
        [404, 'TileOutOfRange', 'TileRow'])
    })
  })

  describe('in time', () => {
    const at = async Time => (await tile(kvp({ ...TILE, Time }))).time

    it('takes current, default and no time as the newest', async () => {
      for (const time of ['current', 'default', 'Current', '']) assert.equal(await at(time), undefined)
      for (const time of ['{Time}', '%7BTime%7D', '']) {
        assert.deepEqual(await tile(`/osm/default/${time}/GoogleMapsCompatible/10/412/300.png`),
          asked, 'an address template that was not filled in')
      }
    })

    it('takes dates, partial times and timestamps as their last second', async () => {
      assert.equal(await at('2024'), '2024-12-31T23:59:59Z')
      assert.equal(await at('2024-02'), '2024-02-29T23:59:59Z')
      assert.equal(await at('2024-03-01T12:00Z'), '2024-03-01T12:00:59Z')
      assert.equal(await at('2024-03-01T12:00:00Z'), '2024-03-01T12:00:00Z')
      assert.equal(await at('2024-03-01T12:00:00.000Z'), '2024-03-01T12:00:00Z', 'as JavaScript clients write it')
      assert.equal(await at('2024-03-01T12:00:00+01:00'), '2024-03-01T11:00:00Z')
    })

    it('refuses any other time', async () => {
      for (
        const time of ['yesterday', '2024-02-30', '2024/2020', '2020,2024',
          '2020/2024/P', '2020/2024/P1X', '2020/2024/P1D/P1D', '2020/', '/2024', '../../etc/passwd', '2024-03-01/..',
          '2024\u0000', '٢٠٢٤', '20240301', '1709251200', ' 2024', '2024-03-01T25:00', 'x'.repeat(5000)]
      ) {
        assert.deepEqual(await refused(kvp({ ...TILE, TIME: time })),
          [400, 'InvalidParameterValue', 'Time'], time.slice(0, 40))
      }
    })
  })

  describe('a random request', () => {
    const hostile = fc.oneof(
      fc.constantFrom(...Object.values(TILE), 'GetCapabilities', 'GetFeatureInfo',
        'current', '2020/2024/P1Y', '2020--2024.xml', '2024', 'alps',
        '-1', '../..', '%00', '<!--', '\u202e', '__proto__', 'constructor', '${jndi}', "' or 1=1", '9'.repeat(400)),
      fc.string({ unit: 'binary', maxLength: 40 })
    )
    const name = fc.oneof(fc.constantFrom(...Object.keys(TILE), 'TIME', 'AcceptVersions', 'layer', '__proto__', ''),
      fc.string({ maxLength: 10 }))

    const check = async path => {
      const answer = await service.get(path)
      if (answer.status === 200) return
      assert.ok([400, 404, 501].includes(answer.status), `${answer.status} for ${path}`)
      assert.deepEqual(violations(parseXml(answer.text)), [], path)
    }

    it('by KVP is answered, or refused in a valid report', () => fc.assert(fc.asyncProperty(
      fc.array(fc.tuple(name, hostile), { maxLength: 6 }), fc.boolean(),
      (parameters, whole) => check(kvp([...parameters, ...(whole ? Object.entries(TILE) : [])]))
    ), { numRuns: 300 }))

    it('by address is answered, or refused in a valid report', () => fc.assert(fc.asyncProperty(
      fc.array(hostile, { minLength: 1, maxLength: 8 }), fc.constantFrom('.png', '.pbf', '.exe', ''),
      (parts, extension) => check(`/${parts.map(encodeURIComponent).join('/')}${extension}`)
    ), { numRuns: 300 }))
  })

  describe('when the tile cannot be read', () => {
    const failing = async (error, check) => {
      const broken = await startService({ answerTile: () => { throw error } })
      try {
        await check(broken)
      } finally {
        await broken.close()
      }
    }

    it('answers errors about the request with an exception report', async () => {
      await failing(new TilecouchError('TILE_NOT_FOUND', { id: 'osm:10:300:412' }),
        async broken => assert.deepEqual(await refused(kvp(TILE), broken), [404, 'NoApplicableCode', undefined]))
      await failing(new TilecouchError('LAYER_NOT_FOUND', { layer: 'osm' }),
        async broken => assert.deepEqual(await refused(kvp(TILE), broken), [400, 'InvalidParameterValue', 'Layer']))
    })

    it('leaves other errors to the gateway', async () => {
      for (
        const error of [new Error('a bug'), new TilecouchError('DATABASE_NOT_FOUND', { db: 'http://couch/tiles' }),
          new TilecouchError('UNREACHABLE', { url: 'http://couch', why: 'ECONNREFUSED' }),
          new TilecouchError('ABORTED')]
      ) {
        await failing(error, async broken => {
          await broken.get(kvp(TILE))
          assert.deepEqual(broken.thrown, [error])
        })
      }
    })
  })
})
