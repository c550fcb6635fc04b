import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { checkUpstream, layerDocument, upstreamDefaults } from '../../core/index.js'

const XYZ = 'https://tiles.example.org/{z}/{x}/{y}.png'
const WMS = { type: 'wms', url: 'https://maps.example.org/wms', layers: 'roads' }

/** What a refusal says. */
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
  it('gets the defaults of its type', () => {
    assert.deepEqual(checkUpstream({ url: XYZ }), { ...upstreamDefaults, url: XYZ })
    const wms = checkUpstream(WMS)
    assert.deepEqual([wms.version, wms.srs, wms.metatile, wms.buffer, wms.styles, wms.transparent],
      ['1.3.0', 'EPSG:3857', 4, 64, '', false])
    const wmts = checkUpstream({ type: 'wmts', url: 'https://h/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}' })
    assert.deepEqual([wmts.styles, wmts.matrixSet, wmts.matrix], ['default', 'GoogleMapsCompatible', '{z}'])
  })

  it('does not change when it is checked again', () => {
    const all = [
      {
        url: XYZ, headers: { Referer: 'https://example.org/' }, minzoom: 2,
        maxzoom: 14, bounds: [170, -10, -170, 10], expires: 3600, rate: 0.5, seed: false, time: 'fetched'
      },
      { url: 'https://{s}.example.org/{quadkey}.png', subdomains: ['a', 'b'] },
      { type: 'tms', url: XYZ },
      { type: 'wmts', url: 'https://h/{Layer}/{Style}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}', layers: 'a' },
      { ...WMS, format: 'image/jpeg', params: {
        map: '/srv/city.map'
      }, version: '1.1.1', srs: 'EPSG:900913', transparent: true, metatile: 8, buffer: 0 }
    ]
    for (const upstream of all) assert.deepEqual(checkUpstream(checkUpstream(upstream)), checkUpstream(upstream))
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

  const wrong = {
    upstream: [null, undefined, 'https://h/{z}/{x}/{y}.png', [], 5],
    type: [{ type: 'ows', url: XYZ }, { type: 'XYZ', url: XYZ }, { type: ['xyz'], url: XYZ }],
    url: [
      {}, { url: '' }, { url: 5 }, { url: ['a'] }, { url: null }, { url: 'tiles/{z}/{x}/{y}.png' },
      { url: 'ftp://h/{z}/{x}/{y}' }, { url: 'file:///etc/{z}/{x}/{y}' }, { url: 'javascript:alert({z}{x}{y})' },
      { url: 'https://h/tile.png' }, { url: 'https://h/{z}/{x}.png' },
      { url: 'https://h/{z}/{y}.png' }, { url: 'https://h/{x}/{y}.png' },
      { url: 'https://h/{z}/{x}/{y}/{time}.png' }, { url: 'https://{x}.h/{z}/{x}/{y}.png' },
      { url: 'https://h/{z}/{x}/{y}.png#a' }, { url: 'https:///{z}/{x}/{y}' }, { url: 'https://h h/{z}/{x}/{y}' },
      { url: `https://h/{z}/{x}/{y}/${'a'.repeat(1000)}` }, { url: 'https://h/\n{z}/{x}/{y}' },
      { type: 'tms', url: 'https://h/{quadkey}' }, { type: 'wms', url: XYZ, layers: 'a' },
      { ...WMS, url: 'https://h/wms?SERVICE=WMS&REQUEST=GetCapabilities' },
      { ...WMS, url: 'https://h/wms?bbox=1,2,3,4' }
    ],
    subdomains: [{ url: 'https://{s}.h/{z}/{x}/{y}' }, { url: XYZ, subdomains: ['a'] }, ...[
      [], 'abc', ['a/b'], [''], [5], ['a@b'], ['-']
    ].map(subdomains => ({ url: 'https://{s}.h/{z}/{x}/{y}', subdomains })), { ...WMS, subdomains: ['a'] }],
    headers: [{ url: XYZ, headers: [] }, { url: XYZ, headers: 'Referer: x' },
      { url: XYZ, headers: { 'a b': 'x' } }, { url: XYZ, headers: { 'a\r\nb': 'x' } }],
    'headers.Referer': [{ url: XYZ, headers: { Referer: 5 } }, { url: XYZ, headers: { Referer: 'a\r\nHost: evil' } },
      { url: XYZ, headers: { Referer: 'ü' } }],
    'headers.Host': [{ url: XYZ, headers: { Host: 'other' } }],
    'headers.User-Agent': [{ url: XYZ, headers: { 'User-Agent': 'Mozilla/5.0' } }],
    minzoom: [{ url: XYZ, minzoom: -1 }, { url: XYZ, minzoom: 31 },
      { url: XYZ, minzoom: '3' }, { url: XYZ, minzoom: 5, maxzoom: 4 }],
    bounds: [{ url: XYZ, bounds: [1, 2, 3] }, { url: XYZ, bounds: '1,2,3,4' },
      { url: XYZ, bounds: [0, 10, 0, -10] }, { url: XYZ, bounds: [0, 0, 200, 0] }],
    layers: [{ type: 'wms', url: 'https://h/wms' }, { ...WMS, layers: '' },
      { ...WMS, layers: ['a'] }, { url: XYZ, layers: 'a' }, { type: 'wmts', url: 'https://h/{Layer}/{z}/{x}/{y}' }],
    srs: [{ ...WMS, srs: 'EPSG:4326' }, { ...WMS, srs: 'EPSG:25832' }, { url: XYZ, srs: 'EPSG:3857' }],
    version: [{ ...WMS, version: '1.1.0' }, { ...WMS, version: 1.3 }],
    format: [{ ...WMS, format: 'image/svg+xml' }, { ...WMS, format: 'text/html' }, { ...WMS, format: 'png' }],
    transparent: [{ ...WMS, transparent: 'TRUE' }],
    params: [{ ...WMS, params: 'map=x' }],
    'params.bbox': [{ ...WMS, params: { bbox: '1,2,3,4' } }],
    'params.map': [{ ...WMS, params: { map: 5 } }],
    metatile: [{ ...WMS, metatile: 0 }, { ...WMS, metatile: 9 }, { ...WMS, metatile: 2.5 }, { url: XYZ, metatile: 4 }],
    buffer: [{ ...WMS, buffer: -1 }, { ...WMS, buffer: 513 }],
    matrix: [{ type: 'wmts', url: XYZ, matrix: 'EPSG:3857' }],
    expires: [{ url: XYZ, expires: 'never' }, { url: XYZ, expires: 0 },
      { url: XYZ, expires: 1.5 }, { url: XYZ, expires: '7d' }],
    time: [{ url: XYZ, time: 'now' }],
    concurrency: [{ url: XYZ, concurrency: 0 }, { url: XYZ, concurrency: 65 }, { url: XYZ, concurrency: '4' }],
    rate: [{ url: XYZ, rate: 0 }, { url: XYZ, rate: NaN }, { url: XYZ, rate: 1001 }],
    timeout: [{ url: XYZ, timeout: 0 }, { url: XYZ, timeout: Infinity }],
    negative: [{ url: XYZ, negative: -1 }],
    seed: [{ url: XYZ, seed: 'no' }],
    tiles: [{ url: XYZ, tiles: [] }],
    constructor: [JSON.parse('{"url": "https://h/{z}/{x}/{y}", "constructor": 1}')],
    ['__proto__']: [JSON.parse('{"url": "https://h/{z}/{x}/{y}", "__proto__": {"type": "wms"}}')]
  }
  for (const [field, values] of Object.entries(wrong)) {
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
    ...['apikey', 'api_key', 'ApiKey', 'key', 'token', 'access_token',
      'password', 'sig', 'subscription-key', 'mapkey']
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
    for (
      const url of ['http:10.0.{x}.{y}/{z}', 'http:/10.0.{x}.{y}/{z}',
        'http:\\\\10.0.{x}.{y}/{z}', 'http:///{x}.{y}/{z}', 'http://\\{x}.{y}/{z}',
        'http://10.0.{x}.{y}/{z}', 'http://h:{x}/{y}/{z}', 'http://{x}@h/{y}/{z}',
        'file:///{z}/{x}/{y}', 'data:image/png,{z}{x}{y}', 'gopher://h/{z}/{x}/{y}']
    ) {
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
    // a refusal lists the fields there are
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
    const filled = { wms: checkUpstream({ type: 'wms', url: 'https://h/', layers: 'a' }), wmts: checkUpstream(
      { type: 'wmts', url: 'https://h/{z}/{x}/{y}' }
    ) }
    const said = [
      ...source.matchAll(/^ {2}(\w+): undefined, \/\/ (.*)$/gm)
    ].flatMap(([, field, comment]) => comment.split('; ').map(part => {
      const [, type, value] = /^(wms|wmts): .*\(([\w:.{}]+)\)$/.exec(part) ?? []
      return { field, type, value }
    })).filter(({ value }) => value && value !== 'none')
    assert.ok(said.length >= 8, `${said.length} defaults in brackets`)
    for (const { field, type, value } of said) assert.equal(String(filled[type][field]), value, `${field} of ${type}`)
  })
})
