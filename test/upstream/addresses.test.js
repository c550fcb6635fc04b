// Tests the upstream field of a layer, and the addresses that are made from it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { checkUpstream, layerDocument, openUpstream, tileBounds, upstreamDefaults } from '../../loader/index.js'
import { blockOf, rectangleOf, tilesOf } from '../../loader/load/upstream/image.js'
import { exceptionText, getMapAddress, tileAddress } from '../../core/upstream-address.js'

const address = (upstream, z, x, y, size = 256) => tileAddress(checkUpstream(upstream), { z, x, y }, size)
const getMap = (more, rectangle, size = 256) => new URL(getMapAddress({
  ...checkUpstream({ type: 'wms', url: 'https://h/wms', layers: 'a b,c', ...more }), format: 'image/png'
}, rectangle, size))
const WORLD = { z: 0, left: 0, top: 0, width: 256, height: 256 }

describe('addresses of tiles', () => {
  it('are made from every kind of template, and spread over subdomains, with the same one for a tile', () => {
    const golden = [
      [{ url: 'https://h/{z}/{x}/{y}.png' }, 'https://h/3/1/2.png'],
      [{ url: 'https://h/{z}/{x}/{-y}.png' }, 'https://h/3/1/5.png'],
      [{ type: 'tms', url: 'https://h/{z}/{x}/{y}.png' }, 'https://h/3/1/5.png'],
      [{ type: 'tms', url: 'https://h/{z}/{x}/{-y}.png' }, 'https://h/3/1/5.png'],
      [{ url: 'https://h/{quadkey}.png' }, 'https://h/021.png'],
      [{ url: 'https://h/{z}/{x}/{y}{r}.png' }, 'https://h/3/1/2.png'],
      [{ url: 'https://h/?a={z}&b={x}&c={y}&d={z}' }, 'https://h/?a=3&b=1&c=2&d=3'],
      [{ type: 'wmts', url: 'https://h/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.png' },
        'https://h/GoogleMapsCompatible/3/2/1.png'],
      [{
        type: 'wmts', url: 'https://h/{layer}/{style}/{tilematrixset}/{tilematrix}/{tilerow}/{tilecol}.png',
        layers: 'a/b c', styles: 'x', matrixSet: 'EPSG:3857', matrix: 'EPSG:3857:{z}'
      },
        'https://h/a%2Fb%20c/x/EPSG%3A3857/EPSG%3A3857%3A3/2/1.png']
    ]
    for (const [upstream, expected] of golden) assert.equal(address(upstream, 3, 1, 2), expected)
    assert.equal(address({ url: 'https://h/{z}/{x}/{y}{r}.png' }, 3, 1, 2, 512), 'https://h/3/1/2@2x.png')
    const upstream = { url: 'https://{s}.h/{z}/{x}/{y}', subdomains: ['a', 'b', 'c'] }
    const hosts = tilesOf({ z: 3, x0: 0, y0: 0, x1: 5, y1: 5 })
      .map(({ z, x, y }) => new URL(address(upstream, z, x, y)).host)
    for (const host of ['a.h', 'b.h', 'c.h']) assert.equal(hosts.filter(name => name === host).length, 12)
    assert.equal(address(upstream, 3, 1, 2), address(upstream, 3, 1, 2))
  })
})

describe('GetMap', () => {
  it('has SRS in 1.1.1 and CRS in 1.3.0, and in both a BBOX with easting first', () => {
    const rectangle = { z: 1, left: 256, top: 256, width: 256, height: 256 } // the south-eastern quarter
    for (const [version, name] of [['1.1.1', 'SRS'], ['1.3.0', 'CRS']]) {
      const { searchParams: query } = getMap({ version }, rectangle)
      assert.equal(query.get(name), 'EPSG:3857')
      assert.equal(query.get(name === 'SRS' ? 'CRS' : 'SRS'), null)
      assert.equal(query.get('VERSION'), version)
      assert.deepEqual(query.get('BBOX')?.split(',').map(Number).map(Math.round), [0, -20037508, 20037508, 0])
    }
  })

  it('has every parameter of the standard and of the address of the WMS', () => {
    const { searchParams: query, pathname } =
      getMap({ styles: 'x', transparent: true, params: { map: '/srv/a b.map', EXCEPTIONS: 'BLANK' } }, WORLD)
    assert.equal(pathname, '/wms')
    const expected = {
      SERVICE: 'WMS', REQUEST: 'GetMap', LAYERS: 'a b,c', STYLES: 'x',
      WIDTH: '256', HEIGHT: '256', FORMAT: 'image/png', TRANSPARENT: 'TRUE', map: '/srv/a b.map', EXCEPTIONS: 'BLANK',
      BBOX: '-20037508.34278924,-20037508.34278924,20037508.34278924,20037508.34278924'
    }
    for (const [name, value] of Object.entries(expected)) assert.equal(query.get(name), value, name)
    assert.deepEqual([...query.keys()].filter((name, index, keys) => keys.indexOf(name) !== index), [], 'nothing twice')
    assert.equal(getMap({}, WORLD).searchParams.get('STYLES'), '', 'there, though empty')
    for (const url of ['https://h/cgi?map=/a.map', 'https://h/cgi?map=/a.map&']) {
      const { search } = getMap({ url }, WORLD)
      assert.match(search, /^\?map=\/a\.map&SERVICE=WMS&/)
    }
    assert.match(getMap({ url: 'https://h/wms?' }, WORLD).search, /^\?SERVICE=WMS&/)
  })

  it('has an exact BBOX without exponents at every zoom', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 22 }), fc.nat(), fc.nat(), (z, a, b) => {
      const [x, y] = [a % 2 ** z, b % 2 ** z]
      const text = getMap({}, { z, left: x * 256, top: y * 256, width: 256, height: 256 }).searchParams.get('BBOX')
      assert.match(text ?? '', /^(-?\d+(\.\d+)?,){3}-?\d+(\.\d+)?$/)
      const [west, south, east, north] = tileBounds(z, x, y)
      const metres = (lon, lat) => [lon * 111319.49079327358, Math.log(Math.tan((90 + lat) * Math.PI / 360)) * 6378137]
      const expected = [...metres(west, south), ...metres(east, north)]
      text?.split(',')
        .forEach((value, index) => assert.ok(Math.abs(Number(value) - expected[index]) < 1e-3, `${text} ${expected}`))
    }))
  })

  it('fails with exceptions whose code and text are read from XML', () => {
    assert.equal(
      exceptionText(
        '<?xml version="1.0"?><ServiceExceptionReport><ServiceException code="LayerNotDefined">no layer ' +
          'x</ServiceException></ServiceExceptionReport>'
      ), 'LayerNotDefined: no layer x'
    )
    assert.equal(
      exceptionText(
        '<ogc:ServiceExceptionReport><ogc:ServiceException>\n  <![CDATA[it\n ' +
          'broke]]>\n</ogc:ServiceException></ogc:ServiceExceptionReport>'
      ), 'it broke'
    )
    assert.equal(exceptionText('<html><body>502</body></html>'), undefined)
  })
})

describe('metatiles', () => {
  const world = [[-180, -85, 180, 85]]

  it('are aligned blocks, which together hold every tile of a zoom once', () => {
    for (const side of [1, 2, 3, 4, 8]) {
      for (let z = 0; z <= 4; z++) {
        const tileCounts = new Map()
        for (const tile of tilesOf({ z, x0: 0, y0: 0, x1: 2 ** z - 1, y1: 2 ** z - 1 })) {
          const block = blockOf(tile, side, [])
          assert.ok(tilesOf(block).some(({ x, y }) => x === tile.x && y === tile.y))
          tileCounts.set(`${block.x0}/${block.y0}`, tilesOf(block).length)
        }
        assert.equal([...tileCounts.values()].reduce((sum, count) => sum + count, 0), 4 ** z, `side ${side}, zoom ${z}`)
      }
    }
  })

  it('end at the edge of the world, as their buffer does', () => {
    assert.deepEqual(blockOf({ z: 1, x: 1, y: 1 }, 4, world), { z: 1, x0: 0, y0: 0, x1: 1, y1: 1 })
    assert.deepEqual(rectangleOf({ z: 1, x0: 0, y0: 0, x1: 1, y1: 1 }, 256, 64),
      { z: 1, left: 0, top: 0, width: 512, height: 512 })
    assert.deepEqual(blockOf({ z: 3, x: 7, y: 7 }, 3, world), { z: 3, x0: 6, y0: 6, x1: 7, y1: 7 })
    assert.deepEqual(rectangleOf({ z: 3, x0: 6, y0: 0, x1: 7, y1: 2 }, 256, 64),
      { z: 3, left: 6 * 256 - 64, top: 0, width: 512 + 64, height: 768 + 64 })
    assert.deepEqual(rectangleOf({ z: 3, x0: 4, y0: 4, x1: 5, y1: 5 }, 512, 10),
      { z: 3, left: 2038, top: 2038, width: 1044, height: 1044 })
  })

  it('end at the bounds of the layer and of the upstream, and are fetched only within bounds and zooms', () => {
    const box = [10, 10, 80, 60] // at zoom 3: columns 4 and 5, rows 2 and 3
    assert.deepEqual(blockOf({ z: 3, x: 4, y: 3 }, 4, [box]), { z: 3, x0: 4, y0: 2, x1: 5, y1: 3 })
    assert.deepEqual(blockOf({ z: 3, x: 4, y: 3 }, 4, [box, [-180, -85, 40, 85]]), { z: 3, x0: 4, y0: 2, x1: 4, y1: 3 })
    const acrossDateLine = [170, -85, -170, 85]
    assert.deepEqual(blockOf({ z: 2, x: 3, y: 1 }, 4, [acrossDateLine]), { z: 2, x0: 3, y0: 0, x1: 3, y1: 3 })
    assert.deepEqual(blockOf({ z: 2, x: 0, y: 1 }, 4, [acrossDateLine]), { z: 2, x0: 0, y0: 0, x1: 0, y1: 3 })
    const upstream = openUpstream(
      { layer: 'a', minzoom: 2, maxzoom: 9, bounds: [0, 0, 90, 80],
        upstream: { url: 'http://h/{z}/{x}/{y}', minzoom: 1, maxzoom: 5, bounds: [-90, -80, 45, 80] } }
    )
    assert.deepEqual([[1, 1, 0], [2, 2, 1], [5, 17, 10], [6, 34, 20], [3, 5, 3], [3, 4, 3],
      [3, 3, 3]].map(([z, x, y]) => upstream.covers(z, x, y)), [false, true, true, false, false, true, false])
    const unlimited = openUpstream({ layer: 'a', upstream: { url: 'http://h/{z}/{x}/{y}' } })
    assert.ok(unlimited.covers(0, 0, 0) && unlimited.covers(30, 5, 5))
  })

  it('are fetched from a WMS, as many tiles as fit into the largest picture; others give single tiles', () => {
    const wms = openUpstream({ layer: 'a', upstream: { type: 'wms', url: 'http://h/wms', layers: 'a', metatile: 2 } })
    assert.equal(wms.groupOf(3, 2, 2).key, wms.groupOf(3, 3, 3).key)
    assert.notEqual(wms.groupOf(3, 2, 2).key, wms.groupOf(3, 4, 2).key)
    assert.deepEqual(wms.groupOf(3, 2, 2).tiles, tilesOf({ z: 3, x0: 2, y0: 2, x1: 3, y1: 3 }))
    const xyz = openUpstream({ layer: 'a', upstream: { url: 'http://h/{z}/{x}/{y}' } })
    assert.deepEqual(xyz.groupOf(3, 2, 2).tiles, [{ z: 3, x: 2, y: 2 }])
    const tilesIn = (tileSize, settings) => openUpstream(
      { layer: 'a', tileSize, upstream: { type: 'wms', url: 'http://h/wms', layers: 'a', ...settings } }
    ).groupOf(9, 8, 8).tiles.length
    assert.deepEqual([256, 512, 1024, 2048, 4096].map(size => tilesIn(size, { metatile: 8, buffer: 512 })),
      [64, 64, 25, 4, 1])
    assert.equal(tilesIn(1024, {}), 16)
  })
})

const XYZ = 'https://tiles.example.org/{z}/{x}/{y}.png'
const WMS = { type: 'wms', url: 'https://maps.example.org/wms', layers: 'roads' }

/** Returns the error with which an upstream is refused. */
function refusal (value) {
  try {
    checkUpstream(value)
  } catch (error) {
    assert.equal(error.code, 'BAD_UPSTREAM', error.stack)
    return error
  }
  assert.fail(`${JSON.stringify(value)} was taken`)
}

describe('the upstream field of a layer', () => {
  it('gets the defaults of its type, and does not change when it is checked again', () => {
    assert.deepEqual(checkUpstream({ url: XYZ }), { ...upstreamDefaults, url: XYZ })
    const { version, srs, metatile, buffer, ...map } = checkUpstream(WMS)
    assert.deepEqual([version, srs, metatile, buffer, map.styles, map.transparent],
      ['1.3.0', 'EPSG:3857', 4, 64, '', false])
    const tiled = checkUpstream({ type: 'wmts', url: 'https://h/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}' })
    assert.deepEqual([tiled.styles, tiled.matrixSet, tiled.matrix], ['default', 'GoogleMapsCompatible', '{z}'])
    const upstreams = [
      { url: XYZ, headers: { Referer: 'https://example.org/' }, minzoom: 2, maxzoom: 14,
        bounds: [170, -10, -170, 10], expires: 3600, rate: 0.5, seed: false, time: 'fetched' },
      { url: 'https://{s}.example.org/{quadkey}.png', subdomains: ['a', 'b'] },
      { type: 'tms', url: XYZ },
      { type: 'wmts', url: 'https://h/{Layer}/{Style}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}', layers: 'a' },
      { ...WMS, format: 'image/jpeg', params: { map: '/srv/city.map' }, version: '1.1.1', srs: 'EPSG:900913',
        transparent: true, metatile: 8, buffer: 0 }
    ]
    for (const upstream of upstreams) assert.deepEqual(checkUpstream(checkUpstream(upstream)), checkUpstream(upstream))
  })

  it('accepts common templates', () => {
    for (const url of [
      XYZ, 'http://localhost:8080/{z}/{x}/{-y}.png', 'https://h/tile?x={x}&y={y}&z={z}', 'https://h/{z}/{x}/{y}{r}.png',
      'https://h/{Z}/{X}/{Y}.png', 'https://h/t/{quadkey}?g=1', 'https://h:8443/a%20b/{z}-{x}-{y}',
      'https://h/wms.png?map=/srv/x.map&layer=keys&mode=tile&tile={x}+{y}+{z}'
    ]) checkUpstream({ url })
    checkUpstream({
      type: 'wmts',
      url: 'https://h/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=a&STYLE=b&TILEMATRIXSET=c&' +
        'TILEMATRIX={TileMatrix}&TILEROW={TileRow}&TILECOL={TileCol}&FORMAT=image/png'
    })
    checkUpstream({ ...WMS, url: 'https://h/cgi-bin/mapserv?map=/srv/city.map&' })
  })

  /** Upstreams with each of the values in a field. */
  const xyz = (field, ...values) => values.map(value => ({ url: XYZ, [field]: value }))
  const wms = (field, ...values) => values.map(value => ({ ...WMS, [field]: value }))
  const refusedByField = {
    upstream: [null, undefined, 'https://h/{z}/{x}/{y}.png', [], 5],
    type: [{ type: 'ows', url: XYZ }, { type: 'XYZ', url: XYZ }, { type: ['xyz'], url: XYZ },
      { layers: 'a', type: 'ows', url: XYZ }],
    url: [{}, ...['', 5, ['a'], null, 'tiles/{z}/{x}/{y}.png', 'ftp://h/{z}/{x}/{y}', 'file:///etc/{z}/{x}/{y}',
      'javascript:alert({z}{x}{y})', 'https://h/tile.png', 'https://h/{z}/{x}.png', 'https://h/{z}/{y}.png',
      'https://h/{x}/{y}.png', 'https://h/{z}/{x}/{y}/{time}.png', 'https://{x}.h/{z}/{x}/{y}.png',
      'https://h/{z}/{x}/{y}.png#a', 'https:///{z}/{x}/{y}', 'https://h h/{z}/{x}/{y}',
      `https://h/{z}/{x}/{y}/${'a'.repeat(1000)}`, 'https://h/\n{z}/{x}/{y}'].map(url => ({ url })),
    { type: 'tms', url: 'https://h/{quadkey}' }, { type: 'wms', url: XYZ, layers: 'a' },
    ...wms('url', 'https://h/wms?SERVICE=WMS&REQUEST=GetCapabilities', 'https://h/wms?bbox=1,2,3,4')],
    subdomains: [{ url: 'https://{s}.h/{z}/{x}/{y}' }, ...xyz('subdomains', ['a']), ...wms('subdomains', ['a']),
      ...[[], 'abc', ['a/b'], [''], [5], ['a@b'], ['-']]
        .map(subdomains => ({ url: 'https://{s}.h/{z}/{x}/{y}', subdomains }))],
    headers: xyz('headers', [], 'Referer: x', { 'a b': 'x' }, { 'a\r\nb': 'x' }),
    'headers.Referer': xyz('headers', { Referer: 5 }, { Referer: 'a\r\nHost: evil' }, { Referer: 'ü' }),
    'headers.Host': xyz('headers', { Host: 'other' }),
    'headers.User-Agent': xyz('headers', { 'User-Agent': 'Mozilla/5.0' }),
    minzoom: [...xyz('minzoom', -1, 31, '3'), { url: XYZ, minzoom: 5, maxzoom: 4 }],
    bounds: xyz('bounds', [1, 2, 3], '1,2,3,4', [0, 10, 0, -10], [0, 0, 200, 0]),
    layers: [{ type: 'wms', url: 'https://h/wms' }, ...wms('layers', '', ['a']), ...xyz('layers', 'a'),
      { type: 'wmts', url: 'https://h/{Layer}/{z}/{x}/{y}' }],
    srs: [...wms('srs', 'EPSG:4326', 'EPSG:25832'), ...xyz('srs', 'EPSG:3857')],
    version: wms('version', '1.1.0', 1.3),
    format: wms('format', 'image/svg+xml', 'text/html', 'png'),
    transparent: wms('transparent', 'TRUE'),
    params: wms('params', 'map=x'),
    'params.bbox': wms('params', { bbox: '1,2,3,4' }),
    'params.map': wms('params', { map: 5 }),
    metatile: [...wms('metatile', 0, 9, 2.5), ...xyz('metatile', 4)],
    buffer: wms('buffer', -1, 513),
    matrix: [{ type: 'wmts', url: XYZ, matrix: 'EPSG:3857' }],
    expires: xyz('expires', 'never', 0, 1.5, '7d'),
    time: xyz('time', 'now'),
    concurrency: xyz('concurrency', 0, 65, '4'),
    rate: xyz('rate', 0, NaN, 1001),
    timeout: xyz('timeout', 0, Infinity),
    negative: xyz('negative', -1),
    seed: xyz('seed', 'no'),
    tiles: xyz('tiles', []),
    constructor: [JSON.parse('{"url": "https://h/{z}/{x}/{y}", "constructor": 1}')],
    ['__proto__']: [JSON.parse('{"url": "https://h/{z}/{x}/{y}", "__proto__": {"type": "wms"}}')]
  }
  for (const [field, values] of Object.entries(refusedByField)) {
    it(`is refused with a bad ${field}, and the error names the field and the documentation`, () => {
      for (const value of values) {
        const { message, advice } = refusal(value)
        assert.ok(message.startsWith(`bad upstream: ${field} `), `${JSON.stringify(value)}: ${message}`)
        assert.match(advice, /docs\/upstreams\.md/)
      }
    })
  }

  const secret = 'hunter2-and-more'
  const secrets = [
    { url: `https://admin:${secret}@h/{z}/{x}/{y}` }, { url: `https://${secret}@h/{z}/{x}/{y}` },
    ...['apikey', 'api_key', 'ApiKey', 'key', 'token', 'access_token', 'password', 'sig', 'subscription-key', 'mapkey']
      .map(name => ({ url: `https://h/{z}/{x}/{y}?${name}=${secret}` })),
    ...['Authorization', 'authorization', 'Cookie', 'X-Api-Key', 'x-api-key', 'Proxy-Authorization',
      'X-Auth-Token', 'apikey', 'X-Secret'].map(name => ({ url: XYZ, headers: { [name]: secret } })),
    { ...WMS, params: { api_key: secret } }, { ...WMS, url: `https://h/wms?token=${secret}` },
    { ...WMS, url: `https://a:${secret}@h/wms` }, { url: XYZ, password: secret },
    { url: XYZ, authorization: `Bearer ${secret}` }, { url: XYZ, auth: { user: 'a', password: secret } },
    { url: `admin:${secret}@h/{z}/{x}/{y}` }, { url: `ftp://h/{z}/{x}/{y}?key=${secret}` },
    { url: `https://h/{z}/{x}/{z}?key=${secret}` }
  ]
  it('is refused with a secret; the error hides the secret and names upstreamHeaders', () => {
    for (const upstream of secrets) {
      const error = refusal(upstream)
      for (const text of [error.message, error.stack, JSON.stringify(error), inspect(error, { depth: 9 })]) {
        assert.ok(!text.includes(secret), text)
      }
      assert.match(error.advice, /upstreamHeaders/)
    }
  })

  it('is refused when a placeholder would become part of the host', () => {
    for (const url of ['http:10.0.{x}.{y}/{z}', 'http:/10.0.{x}.{y}/{z}', 'http:\\\\10.0.{x}.{y}/{z}',
      'http:///{x}.{y}/{z}', 'http://\\{x}.{y}/{z}', 'http://10.0.{x}.{y}/{z}', 'http://h:{x}/{y}/{z}',
      'http://{x}@h/{y}/{z}', 'file:///{z}/{x}/{y}', 'data:image/png,{z}{x}{y}', 'gopher://h/{z}/{x}/{y}']) {
      assert.equal(refusal({ url }).details.field, 'url', url)
    }
    assert.equal(refusal({ url: 'http://{s}/{z}/{x}/{y}', subdomains: ['a@b'] }).details.field, 'subdomains')
  })

  it('is accepted or refused with BAD_UPSTREAM, for any value', () => {
    fc.assert(fc.property(fc.oneof(fc.object(), fc.record({
      type: fc.constantFrom('xyz', 'tms', 'wmts', 'wms'), url: fc.string()
    }), fc.webUrl().map(url => ({ url: `${url}/{z}/{x}/{y}` }))), value => {
      try {
        checkUpstream(value)
      } catch (error) {
        assert.equal(error.code, 'BAD_UPSTREAM')
      }
    }), { numRuns: 2000 })
  })

  it('forbids seeding from the servers of OpenStreetMap alone, unless seed is true', () => {
    const seeds = (url, more) => checkUpstream({ url: `${url}/{z}/{x}/{y}.png`, ...more }).seed
    for (const host of ['tile.openstreetmap.org', 'a.tile.openstreetmap.org', 'TILE.openstreetmap.ORG',
      'tile.osm.org', 'tile.openstreetmap.org:443']) assert.equal(seeds(`https://${host}`), false, host)
    assert.equal(seeds('https://{s}.tile.openstreetmap.org', { subdomains: ['a'] }), false)
    for (const host of ['tile.example.org', 'tile.openstreetmap.org.example',
      'h/tile.openstreetmap.org', 'openstreetmap.org']) assert.equal(seeds(`https://${host}`), true, host)
    assert.equal(seeds('https://tile.openstreetmap.org', { seed: true }), true)
  })

  it('is checked when a layer is defined, and stored without defaults', () => {
    assert.deepEqual(layerDocument('osm', { upstream: { url: XYZ } }).upstream, { url: XYZ })
    assert.throws(() => layerDocument('osm', { upstream: { url: `${XYZ}?token=x` } }), { code: 'BAD_UPSTREAM' })
    assert.throws(() => layerDocument('osm', { upstream: 'https://h' }), { code: 'BAD_LAYER_FIELD' })
  })
})

describe('docs/upstreams.md', () => {
  it('a refusal of an unknown field lists exactly the accepted fields', () => {
    assert.throws(() => checkUpstream({ nothing: 1 }), error => {
      assert.deepEqual(error.details.why.replace(/^.*there are /, '').split(', ').sort(),
        Object.keys(upstreamDefaults).sort())
      return true
    })
  })

  it('shows a valid upstream; comments in core/upstream.js name the true defaults', () => {
    const page = readFileSync(new URL('../../docs/upstreams.md', import.meta.url), 'utf8')
    const [example] = [...page.matchAll(/```json\n(\{ "type"[\s\S]*?)```/g)].map(([, json]) => JSON.parse(json))
    assert.equal(checkUpstream(example).layers, 'hillshade,contours')
    const source = readFileSync(new URL('../../core/upstream.js', import.meta.url), 'utf8')
    const filled = { wms: checkUpstream({ type: 'wms', url: 'https://h/', layers: 'a' }),
      wmts: checkUpstream({ type: 'wmts', url: 'https://h/{z}/{x}/{y}' }) }
    const comments = [...source.matchAll(/^ {2}(\w+): undefined, \/\/ (.*)$/gm)]
    const stated = comments.flatMap(([, field, comment]) => comment.split('; ').map(part => {
      const [, type, value] = /^(wms|wmts): .*\(([\w:.{}]+)\)$/.exec(part) ?? []
      return { field, type, value }
    })).filter(({ value }) => value && value !== 'none')
    assert.ok(stated.length >= 8, `${stated.length} defaults in brackets`)
    for (const { field, type, value } of stated) assert.equal(String(filled[type][field]), value, `${field} of ${type}`)
  })
})
