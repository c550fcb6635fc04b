// Tests of the router, which parses addresses of the gateway. The rewrites of CouchDB must parse them alike.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { TilecouchError, endOf, flipY, isLayer, quadkey } from '../../core/index.js'
import { parseRequest } from '../../server/gateway/router.js'
import { errorOf, rewritten } from '../support/design-functions.js'
import { tile as anyTile } from '../support/samples.js'

const ask = (target, method = 'GET') => parseRequest(method, target)

/** Returns the code of the error that the router throws, which must be a 4xx error of the catalogue. */
function refusal (target, method) {
  try {
    ask(target, method)
  } catch (error) {
    assert.ok(error instanceof TilecouchError, `${target}: ${error.stack}`)
    assert.ok(error.status >= 400 && error.status < 500, `${target}: ${error.code}`)
    return error.code
  }
}

const TILE = { kind: 'tile', layer: 'osm', time: undefined, z: 10, x: 300, y: 412, ext: 'png' }

describe('the router', () => {
  it('parses tiles, now and as of a time', () => {
    assert.deepEqual(ask('/osm/10/300/412.png'), TILE)
    assert.deepEqual(ask('/osm/10/300/412.png', 'HEAD'), TILE)
    assert.deepEqual(ask('/osm@2024-03/10/300/412.webp'), { ...TILE, time: '2024-03', ext: 'webp' })
    assert.deepEqual(ask('/osm@2024-03-01T12:00:00Z/0/0/0.pbf'),
      { ...TILE, time: '2024-03-01T12:00:00Z', z: 0, x: 0, y: 0, ext: 'pbf' })
    assert.deepEqual(ask('/osm/30/1073741823/0.png'), { ...TILE, z: 30, x: 1073741823, y: 0 })
  })

  it('ignores the query of a tile', () => {
    for (const query of ['?', '?v=3', '?time=2024&z=4', '?a=/x/1/2/3.png', '?%', '?#x']) {
      assert.deepEqual(ask(`/osm/10/300/412.png${query}`), TILE, query)
    }
  })

  it('parses equivalent spellings of an address alike', () => {
    for (const target of ['//osm/10/300/412.png', '/osm//10/300/412.png', '/osm/10/300/412.png/',
      '/%6fsm/10/300/412.png', '/osm/1%30/300/412%2Epng', 'http://other.example:99/osm/10/300/412.png',
      'HTTPS://other.example/osm/10/300/412.png?x', '/osm/10/300/412.png#part']) {
      assert.deepEqual(ask(target), TILE, target)
    }
    assert.deepEqual(ask('/osm%402024-03/10/300/412.png'), { ...TILE, time: '2024-03' })
    assert.deepEqual(ask('/osm@2024-03-01T12%3A00/10/300/412.png'), { ...TILE, time: '2024-03-01T12:00' })
  })

  it('flips the rows of TMS', () => {
    fc.assert(fc.property(anyTile, ([z, x, y]) => {
      assert.deepEqual(ask(`/tms/1.0.0/osm/${z}/${x}/${y}.png`),
        { ...ask(`/osm/${z}/${x}/${flipY(z, y)}.png`), numbering: 'tms' })
      assert.deepEqual(ask(`/tms/1.0.0/osm@2024/${z}/${x}/${y}.png`),
        { ...ask(`/osm@2024/${z}/${x}/${flipY(z, y)}.png`), numbering: 'tms' })
    }))
  })

  it('parses quadkeys, and refuses invalid ones', () => {
    fc.assert(fc.property(anyTile, ([z, x, y]) => {
      assert.deepEqual(ask(`/quadkey/osm/${quadkey(z, x, y)}.png`),
        { ...ask(`/osm/${z}/${x}/${y}.png`), numbering: 'quadkey' })
      assert.deepEqual(ask(`/quadkey/osm@2024-03-01/${quadkey(z, x, y)}.jpg`),
        { ...ask(`/osm@2024-03-01/${z}/${x}/${y}.jpg`), numbering: 'quadkey' })
    }))
    for (const name of ['4.png', 'a.png', '0123', '01.PNG', '0 1.png', `${'0'.repeat(31)}.png`, '-1.png',
      '01.png.png']) {
      assert.equal(refusal(`/quadkey/osm/${encodeURIComponent(name)}`), 'BAD_QUADKEY', name)
    }
    assert.equal(refusal('/quadkey/layer/01.png'), 'BAD_LAYER')
    assert.equal(refusal('/quadkey/osm@x/01.png'), 'BAD_TIME')
  })

  it('parses TileJSON, TMS, versions, QGIS files and times', () => {
    assert.deepEqual(ask('/osm.json'), { kind: 'tilejson', layer: 'osm', time: undefined })
    assert.deepEqual(ask('/osm@2024-03.json'), { kind: 'tilejson', layer: 'osm', time: '2024-03' })
    for (const target of ['/tms/1.0.0', '/tms/1.0.0/']) assert.deepEqual(ask(target), { kind: 'tms' })
    assert.deepEqual(ask('/tms/1.0.0/osm'), { kind: 'tms', layer: 'osm', time: undefined })
    assert.deepEqual(ask('/tms/1.0.0/osm@2024/tilemapresource.xml'), { kind: 'tms', layer: 'osm', time: '2024' })
    for (const target of ['/osm/10/300/412.json', '/osm@2024/10/300/412.json',
      '/tms/1.0.0/osm/10/300/611.json', `/quadkey/osm/${quadkey(10, 300, 412)}.json`]) {
      const numbering = /tms|quadkey/.exec(target)?.[0]
      assert.deepEqual(ask(target),
        { kind: 'versions', layer: 'osm', z: 10, x: 300, y: 412, ...(numbering && { numbering }) }, target)
    }
    assert.deepEqual(ask('/osm@2024-03.qlr'), { kind: 'qgis', layer: 'osm', time: '2024-03' })
    assert.deepEqual(ask('/qgis-xyz.xml'), { kind: 'connections', of: 'xyz' })
    assert.deepEqual(ask('/qgis-wms.xml'), { kind: 'file', name: 'qgis-wms.xml' })
    assert.deepEqual(ask('/osm/times.json'), { kind: 'times', layer: 'osm' })
    assert.deepEqual(ask('/osm/times.json?z=4'), { kind: 'times', layer: 'osm', z: 4 })
    assert.deepEqual(ask('/osm/times.json?bbox=5.9,45.8,10.5,47.8&z=10'),
      { kind: 'times', layer: 'osm', bbox: [5.9, 45.8, 10.5, 47.8], z: 10 })
    assert.deepEqual(ask('/osm/times.json?z=10&bbox=170%2C-10%2C-170%2C10'),
      { kind: 'times', layer: 'osm', bbox: [170, -10, -170, 10], z: 10 })
  })

  it('parses the style of a layer, its sprite and its glyphs', () => {
    assert.deepEqual(ask('/osm/style.json'), { kind: 'style', layer: 'osm', time: undefined, theme: undefined })
    assert.deepEqual(ask('/osm@2024-03/style.json?theme=dark'),
      { kind: 'style', layer: 'osm', time: '2024-03', theme: 'dark' })
    const time = '2024-03-01T00:00:00Z'
    const file = name => ({ kind: 'style', layer: 'osm', time, file: name })
    assert.deepEqual(ask(`/styles/osm@${time}/sprite@2x.png`), file('sprite@2x.png'))
    assert.deepEqual(ask(`/styles/osm@${time}/glyphs/Noto%20Sans%20Regular,Arial/0-255.pbf`),
      file('glyphs/Noto Sans Regular/0-255.pbf'))
    assert.deepEqual(ask('/styles/1/0/1.png').kind, 'tile')
    assert.equal(refusal('/styles/osm@2024-02-30T00:00:00Z/sprite.png'), 'BAD_TIME')
    for (const name of ['sprite.gif', 'sprite', 'x/sprite.png', 'glyphs', 'glyphs/A/0.pbf',
      'glyphs/A/0-255.pbf/x', 'glyphs/..%2f../0-255.pbf']) assert.ok(refusal(`/styles/osm@${time}/${name}`), name)
  })

  it('parses the viewer, health, metrics, WMTS, GDAL and the database', () => {
    assert.deepEqual(ask('/'), { kind: 'file', name: 'index.html' })
    assert.deepEqual(ask(''), { kind: 'file', name: 'index.html' })
    assert.deepEqual(ask('/?layer=osm'), { kind: 'file', name: 'index.html' })
    assert.deepEqual(ask('/leaflet.js'), { kind: 'file', name: 'leaflet.js' })
    assert.deepEqual(ask('/health'), { kind: 'health' })
    assert.deepEqual(ask('/metrics?x'), { kind: 'metrics' })
    const capabilities = ask('/wmts/1.0.0/WMTSCapabilities.xml')
    assert.deepEqual([capabilities.kind, capabilities.path], ['wmts', ['1.0.0', 'WMTSCapabilities.xml']])
    const kvp = ask('/wmts?SERVICE=WMTS&Layer=%C3%A4')
    assert.deepEqual([kvp.path, kvp.query.get('Layer')], [[], 'ä'])
    assert.deepEqual(ask('/wmts/osm/default/2024-03-01T00%3A00%3A00Z/GoogleMapsCompatible/10/412/300.png').path, [
      'osm', 'default', '2024-03-01T00:00:00Z', 'GoogleMapsCompatible', '10', '412', '300.png'
    ])
    for (const [target, time] of [
      ['/wmts@2023/1.0.0/WMTSCapabilities.xml', '2023'], ['/wmts@2023?SERVICE=WMTS', '2023'],
      ['/wmts@yesterday/1.0.0/WMTSCapabilities.xml', 'yesterday'], ['/wmts?SERVICE=WMTS', undefined]
    ]) {
      const { kind, time: written } = ask(target)
      assert.deepEqual([kind, written], ['wmts', time], target)
    }
    assert.deepEqual(ask('/osm/gdal.xml'), { kind: 'gdal', layer: 'osm', time: undefined })
    assert.deepEqual(ask('/osm@2024-03/gdal.xml'), { kind: 'gdal', layer: 'osm', time: '2024-03' })
    assert.equal(refusal('/osm@2024-13/gdal.xml'), 'BAD_TIME')
    assert.deepEqual(ask('/db'), { kind: 'db', path: '', query: '' })
    assert.deepEqual(ask('/db/osm%3A1:0:0/tile?rev=1-a%20'),
      { kind: 'db', path: '/osm%3A1:0:0/tile', query: 'rev=1-a%20' })
    for (const method of ['POST', 'PUT', 'DELETE', 'COPY']) assert.equal(ask('/db/_all_docs', method).kind, 'db')
  })

  it('parses layers that are named like other addresses', () => {
    for (const layer of ['tms', 'wmts', 'quadkey', 'ogc', 'health', 'metrics', 'constructor', 'times']) {
      assert.deepEqual(ask(`/${layer}/1/0/1.png`),
        { kind: 'tile', layer, time: undefined, z: 1, x: 0, y: 1, ext: 'png' })
      assert.equal(ask(`/${layer}@2024/1/0/1.png`).kind, 'tile')
      assert.equal(ask(`/${layer}.json`).kind, 'tilejson')
      assert.equal(ask(`/${layer}@2024.json`).kind, 'tilejson')
      assert.equal(ask(`/${layer}/times.json`).kind, 'times')
      assert.equal(ask(`/${layer}@2024/gdal.xml`).kind, 'gdal')
    }
    assert.equal(refusal('/__proto__/1/0/1.png'), 'BAD_LAYER')
    for (const layer of ['layer', 'edition']) assert.equal(refusal(`/${layer}/1/0/0.png`), 'BAD_LAYER')
  })

  it('refuses every method that is not a read', () => {
    for (const method of ['PUT', 'POST', 'DELETE', 'PATCH', 'COPY', 'TRACE', 'get', '', undefined]) {
      for (const target of ['/osm/1/0/0.png', '/', '/osm.json', '/leaflet.js', '/wmts', '/health', '/nowhere/at/all']) {
        assert.equal(refusal(target, method ?? null), 'READ_ONLY', `${method} ${target}`)
      }
    }
  })

  it('refuses each invalid address with the code of its fault', () => {
    const targetsByCode = {
      BAD_LAYER: ['/Osm/1/0/0.png', '/osm@/1/0/0.png', '/@2024/1/0/0.png',
        `/${'a'.repeat(64)}/1/0/0.png`, '/o.sm/1/0/0.png', '/ösm/1/0/0.png', '/_users/1/0/0.png',
        '/-a.json', '/../1/0/0.png', '/%2e%2e/1/0/0.png', '/osm%2F..%2Fx/1/0/0.png', '/osm:1:0:0/1/0/0.png'],
      BAD_TIME: ['/osm@24/1/0/0.png', '/osm@2024-13/1/0/0.png', '/osm@2024-02-30/1/0/0.png',
        '/osm@2023-02-29.json', '/osm@2024-03-01T24/1/0/0.png', '/osm@now/1/0/0.png',
        '/osm@2024@2024/1/0/0.png', '/osm@..%2F..%2F_users/1/0/0.png',
        '/osm@2024-03-01T12:00+02:00/1/0/0.png', '/osm@2024-03-01T12:00:00.5Z/1/0/0.png', '/osm@2024-/1/0/0.png'],
      BAD_TILE: ['/osm/1/2/0.png', '/osm/31/0/0.png', '/osm/1/0/0',
        '/osm/1/0/0.', '/osm/1/0/.png', '/osm/1/0/0.PNG', '/osm/1/0/0.toolong',
        '/osm/1/0/0.png.png', '/osm/01/0/0.png', '/osm/1/-1/0.png', '/osm/1/0/+0.png', '/osm/1e0/0/0.png',
        '/osm/1/0/..%2F0.png', '/osm/%D9%A1/0/0.png', '/tms/1.0.0/osm/1/0/2.png', '/osm/99999999999/0/0.png'],
      BAD_ADDRESS: ['/%', '/%zz/1/0/0.png', '/%c3%28/1/0/0.png', '/%ff',
        '/osm%00/1/0/0.png', '/osm/1/0/0.png%00', '/a%0d%0aSet-Cookie:x', '/osm\\1\\0\\0.png',
        '/..%5c..%5cetc', `/${'a/'.repeat(1001)}`, '*', 'osm/1/0/0.png', 'ftp://x/osm/1/0/0.png', 'x:1'],
      BAD_ZOOM: ['/osm/times.json?z=31', '/osm/times.json?z=', '/osm/times.json?z=-1',
        '/osm/times.json?z=1.5', '/osm/times.json?z=01', '/osm/times.json?bbox=1,2,3,4'],
      BAD_BBOX: ['/osm/times.json?bbox=1,2,3&z=1', '/osm/times.json?bbox=&z=1', '/osm/times.json?bbox=1,2,3,x&z=1',
        '/osm/times.json?bbox=1,5,3,4&z=1', '/osm/times.json?bbox=181,2,3,4&z=1', '/osm/times.json?bbox=1,2,3,NaN&z=1'],
      NOT_FOUND: ['/osm/1', '/osm/1/0', '/osm/1/0/0/0.png', '/..', '/.',
        '/.couchapprc', '/_all_docs', '/a%2Fb', '/osm/TIMES.json', '/tms/1.0.0/osm/0/0/0.png/x', '/wmts2/x/y/z/a/b']
    }
    for (const [code, targets] of Object.entries(targetsByCode)) {
      for (const target of targets) assert.equal(refusal(target), code, target)
    }
  })

  it('parses or refuses random text, and repeats no control characters of it', () => {
    const part = fc.oneof(
      fc.constantFrom('', '.', '..', 'osm', 'osm@2024', 'db', 'tms',
        '1.0.0', 'wmts', 'quadkey', 'times.json', 'osm.json', '0', '1', '30',
        '0.png', '0.json', '%2e%2e', '%00', '%', '\\', '__proto__', 'constructor', '?', '#', ' ', '\u0000', 'http:'),
      fc.string({ maxLength: 8, unit: 'binary' }),
      fc.string({ maxLength: 8, unit: 'binary' }).map(text => encodeURIComponent(text.toWellFormed()))
    )
    fc.assert(fc.property(fc.array(part, {
      maxLength: 9
    }), fc.constantFrom('/', '', '//', 'http://h'), fc.constantFrom('GET', 'HEAD', 'POST'), (parts, start, method) => {
      const target = start + parts.join('/')
      let request
      try {
        request = parseRequest(method, target)
      } catch (error) {
        assert.ok(error instanceof TilecouchError && error.status >= 400 && error.status < 500,
          `${JSON.stringify(target)}: ${error.stack}`)
        assert.ok([...error.message].every(letter => letter >= ' '),
          `${JSON.stringify(target)}: ${JSON.stringify(error.message)}`)
        return
      }
      if ('layer' in request) assert.ok(isLayer(request.layer))
      if ('name' in request) assert.match(request.name, /^[A-Za-z0-9][\w.-]*$/)
    }), { numRuns: 5000 })
  })
})

describe('the router and the rewrites of CouchDB', () => {
  /** Asserts that the router and the rewrites parse an address alike, or refuse it with the same code. */
  function compare (target) {
    const code = refusal(target)
    if (!code && ask(target).kind === 'tms') return // CouchDB has no TMS documents
    const rewrite = rewritten(target)
    assert.equal(code, errorOf(rewrite), target)
    if (code) return
    const request = ask(target)
    const { kind, layer, z, x, y, time } = request
    if (kind === 'tile' && time === undefined) assert.equal(rewrite.path, `../../${layer}:${z}:${x}:${y}/tile`, target)
    else if (kind === 'tile') {
      assert.equal(rewrite.path, '_list/at/versions/by_tile')
      assert.deepEqual(JSON.parse(rewrite.query.endkey), [layer, z, x, y], target)
      const prefix = JSON.parse(rewrite.query.startkey)[4].slice(0, -1)
      assert.ok(endOf(time).startsWith(prefix) && `${time}Z`.startsWith(prefix), `${target}: ${prefix}`)
    } else if (kind === 'versions') assert.deepEqual([rewrite.path, JSON.parse(rewrite.query.startkey)],
      ['_list/versions/versions/by_tile', [layer, z, x, y]])
    else if (kind === 'tilejson') assert.equal(rewrite.query.reference, time === undefined ? layer : `${layer}@${time}`)
    else if (kind === 'style' && request.file) assert.equal(rewrite.path,
      `../../style:${layer}@${time}/${request.file.split('/').map(encodeURIComponent).join('/')}`)
    else if (kind === 'style') assert.deepEqual([rewrite.query.reference, rewrite.query.theme],
      [time === undefined ? layer : `${layer}@${time}`, request.theme ?? ''])
    else if (kind === 'qgis') assert.equal(rewrite.query.reference, time === undefined ? layer : `${layer}@${time}`)
    else if (kind === 'times') assert.equal(rewrite.query.layer, layer)
    else if (kind === 'db') assert.match(rewrite.path, /^\.\.\/\.\.\//, target) // a layer "db" has no addresses
    else assert.fail(`${target}: ${kind}`)
  }

  const layer = fc.oneof(fc.constantFrom('osm', 'a', 'layer', 'edition', 'tms', 'db', 'wmts', 'quadkey', 'health',
    'metrics', 'OSM', 'o.m', '_x', '-x', 'a'.repeat(63), 'a'.repeat(64)), fc.stringMatching(/^[a-z0-9_-]{1,6}$/))
  const time = fc.oneof(
    fc.constantFrom('2024', '2024-02-29', '2023-02-29', '1900-02-29',
      '2000-02-29', '2024-04-31', '2024-00', '2024-13', '2024-01-00',
      '2024-03-01T12', '2024-03-01T12Z', '2024-03-01T12:30', '2024-03-01T12:30:59Z',
      '2024-03-01T12:60', '2024-03-01T24:00', '2024Z', '2024-03Z', '2024-03-01Z', 'now', '2024-3', ' 2024', '20240301'),
    fc.date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
      .chain(date => fc.constantFrom(4, 7, 10, 13, 16, 19, 20)
        .map(length => length === 20 ? `${date.toISOString().slice(0, 19)}Z` : date.toISOString().slice(0, length)))
  )
  const reference = fc.oneof(layer, fc.tuple(layer, time).map(parts => parts.join('@')))
  const number = fc.oneof(fc.nat(40).map(String),
    fc.constantFrom('00', '01', '-1', '1e1', '1.5', 'a', String(2 ** 30 - 1), String(2 ** 30), '12345678901'))
  const ext = fc.constantFrom('.png', '.json', '.pbf', '.jpeg', '.x', '.toolong', '.PNG', '', '.png.png')
  const slash = fc.constantFrom('/', '/', '/', '//')

  it('agree about tiles, times, TMS and versions', () => {
    const start = fc.constantFrom('', '', '/tms/1.0.0')
    const path = fc.tuple(start, reference, number, slash, number, number, ext)
    fc.assert(fc.property(path, ([folder, ref, z, between, x, y, extension]) => {
      if (folder === '' && /^(tms|db)/.test(ref)) return
      compare(`${folder}/${ref}/${z}${between}${x}/${y}${extension}`)
    }), { numRuns: 4000 })
  })

  it('agree about TileJSON and layer files', () => {
    fc.assert(fc.property(reference, fc.constantFrom('json', 'qlr'),
      (ref, extension) => compare(`/${ref}.${extension}`)), { numRuns: 2000 })
  })

  it('agree about styles and their files', () => {
    const parts = fc.array(fc.constantFrom('sprite.json', 'sprite@2x.png',
      'sprite.gif', 'glyphs', 'Noto%20Sans', 'A,B', '0-255.pbf', 'style.json', '1'), { minLength: 1, maxLength: 3 })
    fc.assert(fc.property(reference, fc.constantFrom('', '?theme=dark', '?theme='),
      (ref, query) => compare(`/${ref}/style.json${query}`)), { numRuns: 1000 })
    fc.assert(fc.property(reference, parts, (ref, fileParts) => {
      if (fileParts.length !== 2) compare(`/styles/${ref}/${fileParts.join('/')}`)
    }), { numRuns: 2000 })
  })

  it('agree about the times of a view', () => {
    const value = fc.oneof(fc.constantFrom('', '0', '-180', '180', '181', '-90',
      '90', '91', 'x', ' 1', '1e1', 'Infinity', '0x10'), fc.double({ min: -190, max: 190, noNaN: true }).map(String))
    const box = fc.oneof(fc.array(value, { minLength: 3, maxLength: 5 }).map(parts => parts.join()),
      fc.constantFrom(undefined, ''))
    fc.assert(fc.property(reference, box, fc.option(number, { nil: undefined }), (ref, bbox, z) => {
      compare(
        `/${ref}/times.json?` +
          `${new URLSearchParams({ ...(bbox !== undefined && { bbox }), ...(z !== undefined && { z }) })}`
      )
    }), { numRuns: 4000 })
  })

  it('agree about random paths', () => {
    const part = fc.constantFrom('osm', 'osm@2024', 'osm@x', 'Osm',
      '1', '0', '0.png', 'times.json', 'tms', '1.0.0', '..', '_users')
    fc.assert(fc.property(fc.array(part, { minLength: 2, maxLength: 7 }), parts => compare(`/${parts.join('/')}`)),
      { numRuns: 2000 })
  })
})
