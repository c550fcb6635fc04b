// Tests of the WMTS operation GetTile, by KVP and by address, and of the exceptions for invalid requests.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { TilecouchError } from '../../core/errors.js'
import { violations } from './wmts/schema.js'
import { TILE, asked, kvp, others, refusalOf, startService, tileOf } from './wmts/service.js'
import { parseXml } from './wmts/xml.js'

const swapped = Object.entries(TILE).reverse()
  .map(([name, value], index) => [index % 2 ? name.toLowerCase() : name[0] + name.slice(1).toLowerCase(), value])
const ALPS = { ...TILE, LAYER: 'alps', FORMAT: 'image/jpeg', TILEMATRIX: '8', TILEROW: '90', TILECOL: '133' }
const ROADS = {
  ...TILE, LAYER: 'roads', FORMAT: 'application/vnd.mapbox-vector-tile', TILEMATRIXSET: 'GoogleMapsCompatible_512'
}
const PACIFIC = { ...TILE, LAYER: 'pacific', TILEMATRIX: '5', TILEROW: '15' }
const SWISS = {
  ...TILE, LAYER: 'swiss', TILEMATRIXSET: 'LV95_Level20', TILEMATRIX: '20', TILEROW: '60', TILECOL: '100'
}
const TOWN = { ...TILE, LAYER: 'town', TILEMATRIXSET: 'Town', TILEROW: '0', TILECOL: '0' }
const alps = { kind: 'tile', layer: 'alps', z: 8, x: 133, y: 90, ext: 'jpg' }
const roads = { ...asked, layer: 'roads', ext: 'pbf' }
const pacific = { ...asked, layer: 'pacific', z: 5, y: 15 }
const swiss = { kind: 'tile', layer: 'swiss', z: 20, x: 100, y: 60, ext: 'png' }

/** The part of a tile address after the layer, the style and the time. */
const TAIL = 'GoogleMapsCompatible/10/412/300.png'
const PERIOD = '2020-01-01T00:00:00Z/2024-01-01T00:00:00Z/P1Y'
const ofYear = year => ({ ...asked, time: `${year}-12-31T23:59:59Z` })
const atTime = (written, time) => [kvp({ ...TILE, Time: written }), time ? { ...asked, time } : asked]

/**
 * Requests for tiles, each with the tile that it asks for.
 * @type {Record<string, any[][]>}
 */
const accepted = {
  'by KVP, with rows from the north': [[kvp(TILE), asked], [`/${kvp(TILE)}`, asked]],
  'with names in any case and order, beside unknown ones': [
    [kvp([['map', '/etc/passwd'], ...swapped, ['__proto__', 'x'], ['constructor', 'y']]), asked],
    [kvp({ ...TILE, SERVICE: 'wmts', FORMAT: 'IMAGE/PNG' }), asked]
  ],
  'with a name twice, the first of which counts': [
    [kvp([...Object.entries(TILE), ['layer', 'alps'], ['TileRow', '-1']]), asked]
  ],
  'in the first and the last row and column': [
    [kvp({ ...TILE, TILEROW: '1023', TILECOL: '0' }), { ...asked, x: 0, y: 1023 }],
    [kvp({ ...TILE, TILEROW: '0', TILECOL: '1023' }), { ...asked, x: 1023, y: 0 }]
  ],
  'of layers of other formats and tile sizes': [[kvp(ALPS), alps], [kvp(ROADS), roads]],
  'with the name of a matrix set with and without its deepest zoom': [
    [kvp({ ...TILE, TILEMATRIXSET: 'GoogleMapsCompatible_Level19' }), asked],
    ['/roads/default/GoogleMapsCompatible_512_Level14/10/412/300.pbf', roads]
  ],
  'on both sides of the antimeridian': [
    [kvp({ ...PACIFIC, TILECOL: '0' }), { ...pacific, x: 0 }],
    [kvp({ ...PACIFIC, TILECOL: '31' }), { ...pacific, x: 31 }]
  ],
  'by address': [
    [`/osm/default/${TAIL}`, asked], ['/alps/default/GoogleMapsCompatible/8/90/133.jpeg', alps],
    ['/roads/default/GoogleMapsCompatible_512/10/412/300.mvt', roads]
  ],
  'by address as of a time': [
    [`/osm/default/2024-03-01/${TAIL}`, { ...asked, time: '2024-03-01T23:59:59Z' }],
    [`/osm/default/2024-03-01T00:00:00Z/${TAIL}`, { ...asked, time: '2024-03-01T00:00:00Z' }]
  ],
  'in the present, with an address template that was not filled in': [
    ...['current', 'default', 'Current', ''].map(time => atTime(time)),
    ...['current', '{Time}', '%7BTime%7D', ''].map(time => [`/osm/default/${time}/${TAIL}`, asked])
  ],
  'as of the last second of a date, a partial time or a timestamp': [
    atTime('2024', '2024-12-31T23:59:59Z'), atTime('2024-02', '2024-02-29T23:59:59Z'),
    atTime('2024-03-01T12:00Z', '2024-03-01T12:00:59Z'), atTime('2024-03-01T12:00:00Z', '2024-03-01T12:00:00Z'),
    atTime('2024-03-01T12:00:00.000Z', '2024-03-01T12:00:00Z'), // the format of JavaScript clients
    atTime('2024-03-01T12:00:00+01:00', '2024-03-01T11:00:00Z')
  ],
  'as of the end of a period, as programs send entries of the list': [
    atTime(PERIOD, '2024-01-01T00:00:00Z'), atTime('2020/2024', '2024-12-31T23:59:59Z'),
    ...[PERIOD, encodeURIComponent(PERIOD), '2020/2024-01-01T00:00:00Z'].map(written =>
      [`/osm/default/${written}/${TAIL}`, { ...asked, time: '2024-01-01T00:00:00Z' }])
  ],
  'as of the time of the address unless the request names another one': [
    ...['', 'default/', '{Time}/', '%7Btime%7D/'].map(time => [`@2023/osm/default/${time}${TAIL}`, ofYear(2023)]),
    [`@2023/osm/default/2022/${TAIL}`, ofYear(2022)], [`@2023/osm/default/current/${TAIL}`, asked],
    [`@/osm/default/${TAIL}`, asked], [`@2023${kvp(TILE)}`, ofYear(2023)],
    [`@2023${kvp({ ...TILE, TIME: 'default' })}`, ofYear(2023)],
    [`@2023${kvp({ ...TILE, TIME: '2022' })}`, ofYear(2022)]
  ]
}

/** Requests for tiles of layers in other grids. @type {Record<string, any[][]>} */
const acceptedInGrids = {
  'by the matrix of the set': [
    [kvp(SWISS), swiss], [kvp({ ...SWISS, TILEMATRIXSET: 'LV95' }), swiss],
    ['/swiss/default/LV95/20/60/100.png', swiss],
    ['/town/default/Town/t1/4/6.png', { kind: 'tile', layer: 'town', z: 3, x: 6, y: 4, ext: 'png' }]
  ],
  'whose matrix 6 is zoom 7': [['/degrees/default/2023/WorldCRS84Quad_Level6/6/63/127.png', {
    kind: 'tile', layer: 'degrees', time: '2023-12-31T23:59:59Z', z: 7, x: 127, y: 63, ext: 'png'
  }]]
}

const INVALID = 'InvalidParameterValue'
const OUTSIDE = 'TileOutOfRange'

/** Requests with different values of one parameter, which get the same exception. */
const variants = (parameters, name, values, ...exception) =>
  values.map(value => [kvp({ ...parameters, [name]: value }), 400, ...exception])

/**
 * Requests with the exception that they get: status, code and locator.
 * @type {Record<string, any[][]>}
 */
const refused = {
  'a missing or empty parameter': [
    ...Object.entries({
      SERVICE: 'service', REQUEST: 'request', VERSION: 'version', LAYER: 'Layer', STYLE: 'Style', FORMAT: 'Format',
      TILEMATRIXSET: 'TileMatrixSet', TILEMATRIX: 'TileMatrix', TILEROW: 'TileRow', TILECOL: 'TileCol'
    }).flatMap(([name, locator]) => [
      [kvp(Object.entries(TILE).filter(([key]) => key !== name)), 400, 'MissingParameterValue', locator],
      ...variants(TILE, name, [''], 'MissingParameterValue', locator)
    ]),
    ['', 400, 'MissingParameterValue', 'service'],
    ["?request~GetCapabilities!service~!'WMTS'version~'1.0.0'", 400, 'MissingParameterValue', 'service']
  ],
  'an invalid SERVICE': variants(TILE, 'SERVICE', ['WMS', 'BOGUS', 'WMTS ', '../WMTS'], INVALID, 'service'),
  'an invalid REQUEST':
    variants(TILE, 'REQUEST', ['GetBOGUS', 'getcapabilities ', 'GetMap', 'constructor'], INVALID, 'request'),
  'an invalid VERSION': variants(TILE, 'VERSION', ['1.1.0', '1.0', '1.0.0.0', '0'], INVALID, 'version'),
  'an invalid LAYER': variants(TILE, 'LAYER', ['nothere', 'OSM', 'layer', 'edition', '../osm', 'osm@2024', 'osm,alps',
    'osm:10:300:412', '_design', '__proto__', 'a'.repeat(100), '<script>', '\u0000osm'], INVALID, 'Layer'),
  'an invalid STYLE': variants(TILE, 'STYLE', ['night', 'Default ', '../default'], INVALID, 'Style'),
  'an invalid FORMAT': [
    ...variants(TILE, 'FORMAT', ['image/jpeg', 'png', 'image/*', 'text/html', 'image/png\r\nSet-Cookie: a=b'],
      INVALID, 'Format'),
    ...variants(ALPS, 'FORMAT', ['image/png'], INVALID, 'Format')
  ],
  'an invalid TILEMATRIXSET': [
    ...variants(TILE, 'TILEMATRIXSET', ['EPSG:4326', 'googlemapscompatible', 'GoogleMapsCompatible_512',
      'GoogleMapsCompatible_Level18', '../..'], INVALID, 'TileMatrixSet'),
    ...variants(ROADS, 'TILEMATRIXSET', ['GoogleMapsCompatible'], INVALID, 'TileMatrixSet')
  ],
  'an invalid TILEMATRIX': [
    ...variants(TILE, 'TILEMATRIX', ['20', '-1', '010', '1e1', '10.0', 'ten', '99999999999999999999', '٣'],
      INVALID, 'TileMatrix'),
    ...variants(ALPS, 'TILEMATRIX', ['13'], INVALID, 'TileMatrix')
  ],
  'an invalid TILEROW or TILECOL': [
    ...variants(TILE, 'TILEROW', ['1.5', '1e2', '0x10', '0412', ' 412', '412/..', 'NaN', '٣'], INVALID, 'TileRow'),
    ...variants(TILE, 'TILECOL', ['1.5', 'Infinity', '+1', '%33', '300;'], INVALID, 'TileCol')
  ],
  'a tile outside the matrix': [['TILEROW', 'TileRow'], ['TILECOL', 'TileCol']].flatMap(([name, locator]) =>
    variants(TILE, name, ['-1', '1024', '99999999999', '999999999999999'], OUTSIDE, locator)),
  'a tile outside the bounds and zooms of the layer': [
    ...variants(ALPS, 'TILECOL', ['136'], OUTSIDE, 'TileCol'), ...variants(ALPS, 'TILEROW', ['0'], OUTSIDE, 'TileRow'),
    ...variants({ ...ALPS, TILEROW: '2', TILECOL: '4' }, 'TILEMATRIX', ['3'], OUTSIDE, 'TileMatrix')
  ],
  'GetFeatureInfo, which is not supported':
    [[kvp({ ...TILE, REQUEST: 'GetFeatureInfo' }), 501, 'OperationNotSupported', 'GetFeatureInfo']],
  'a wrong part of an address with the same exception as by KVP': Object.entries({
    [`nothere/default/${TAIL}`]: 'Layer',
    [`osm%2F..%2Falps/default/${TAIL}`]: 'Layer',
    [`osm/night/${TAIL}`]: 'Style',
    'osm/default/EPSG:4326/10/412/300.png': 'TileMatrixSet',
    'osm/default/GoogleMapsCompatible/20/412/300.png': 'TileMatrix',
    'osm/default/GoogleMapsCompatible/10/x/300.png': 'TileRow',
    'osm/default/GoogleMapsCompatible/10/412/x.png': 'TileCol',
    'osm/default/GoogleMapsCompatible/10/412/300': 'TileCol',
    'osm/default/GoogleMapsCompatible/10/412/300.jpg': 'Format',
    'osm/default/GoogleMapsCompatible/10/412/300.exe': 'Format',
    [`osm/default/2024-13/${TAIL}`]: 'Time',
    [`osm/default/..%2F..%2Fetc/${TAIL}`]: 'Time',
    [`osm/default/2020/2024/P1X/${TAIL}`]: 'Time'
  }).map(([path, locator]) => [`/${path}`, 400, INVALID, locator]),
  'an address below a wrong time':
    ['yesterday', '2023-02-30'].map(time => [`@${time}/osm/default/${TAIL}`, 400, INVALID, 'Time']),
  'an address outside the layer with 404': [
    ['/osm/default/GoogleMapsCompatible/10/1024/300.png', 404, OUTSIDE, 'TileRow'],
    ['/alps/default/GoogleMapsCompatible/8/90/0.jpg', 404, OUTSIDE, 'TileCol'],
    ['/alps/default/GoogleMapsCompatible/0/0/0.jpg', 404, OUTSIDE, 'TileMatrix']
  ],
  'any other address with 404': [
    '/osm', '/1.0.0/', '/1.1.0/WMTSCapabilities.xml', '/WMTSCapabilities.xml', '/1.0.0/wmtscapabilities.xml',
    `/${'a/'.repeat(200)}`, '/osm/default/GoogleMapsCompatible/10/412/300/5/5.png'
  ].map(path => [path, 404, 'NoApplicableCode', undefined]),
  'any other time': variants(TILE, 'TIME', ['yesterday', '2024-02-30', '2024/2020', '2020,2024', '2020/2024/P',
    '2020/2024/P1X', '2020/2024/P1D/P1D', '2020/', '/2024', '../../etc/passwd', '2024-03-01/..', '2024\u0000', '٢٠٢٤',
    '20240301', '1709251200', ' 2024', '2024-03-01T25:00', 'x'.repeat(5000)], INVALID, 'Time')
}

const refusedInGrids = {
  'a matrix that is not of the set or the layer': [
    ...variants(SWISS, 'TILEMATRIXSET', ['GoogleMapsCompatible', 'LV95_Level21'], INVALID, 'TileMatrixSet'),
    ...variants(SWISS, 'TILEMATRIX', ['21', '29', '020'], INVALID, 'TileMatrix'),
    ...variants({ ...SWISS, TILEROW: '0', TILECOL: '0' }, 'TILEMATRIX', ['13'], OUTSIDE, 'TileMatrix'),
    ...variants(TOWN, 'TILEMATRIX', ['3', 't2', 'T1', 'constructor'], INVALID, 'TileMatrix')
  ],
  'a tile outside the matrix or the layer': [
    ...variants(SWISS, 'TILEROW', ['125'], OUTSIDE, 'TileRow'),
    ...variants(SWISS, 'TILEROW', ['x'], INVALID, 'TileRow'),
    ...variants(SWISS, 'TILECOL', ['188', '-1', '0'], OUTSIDE, 'TileCol'),
    ['/town/default/Town/t0/2/0.png', 404, OUTSIDE, 'TileRow'],
    ['/degrees/default/WorldCRS84Quad/0/1/0.png', 404, OUTSIDE, 'TileRow']
  ]
}

describe('the WMTS', () => {
  let service

  before(async () => { service = await startService() })
  after(() => service.close())
  afterEach(() => assert.deepEqual(service.thrown, [], 'every error is a report'))

  /** @param {() => typeof service} from @param {typeof accepted} tiles @param {typeof refused} exceptions */
  function tryAll (from, tiles, exceptions) {
    for (const [title, requests] of Object.entries(tiles)) {
      it(`finds a tile ${title}`, async () => {
        for (const [path, expected] of requests) assert.deepEqual(await tileOf(from(), path), expected, path)
      })
    }
    for (const [title, requests] of Object.entries(exceptions)) {
      it(`refuses ${title}`, async () => {
        for (const [path, ...expected] of requests) {
          assert.deepEqual(await refusalOf(from(), path), expected, path.slice(0, 200))
        }
      })
    }
  }

  tryAll(() => service, accepted, refused)

  describe('in other grids', () => {
    let grids
    before(async () => { grids = await startService({ layers: others, times: {} }) })
    after(() => grids.close())
    afterEach(() => assert.deepEqual(grids.thrown, []))

    tryAll(() => grids, acceptedInGrids, refusedInGrids)
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
        async broken => assert.deepEqual(await refusalOf(broken, kvp(TILE)), [404, 'NoApplicableCode', undefined]))
      await failing(new TilecouchError('LAYER_NOT_FOUND', { layer: 'osm' }),
        async broken => assert.deepEqual(await refusalOf(broken, kvp(TILE)), [400, 'InvalidParameterValue', 'Layer']))
    })

    it('leaves other errors to the gateway', async () => {
      for (const error of [
        new Error('a bug'), new TilecouchError('DATABASE_NOT_FOUND', { db: 'http://couch/tiles' }),
        new TilecouchError('UNREACHABLE', { url: 'http://couch', why: 'ECONNREFUSED' }), new TilecouchError('ABORTED')
      ]) {
        await failing(error, async broken => {
          await broken.get(kvp(TILE))
          assert.deepEqual(broken.thrown, [error])
        })
      }
    })
  })
})
