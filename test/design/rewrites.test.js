// The rewrites of the design document, compared with the parsers of core.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { AFTER, endOf, flipY, isLayer, parseTilePath, startOf } from '../../core/index.js'
import { errorOf, rewritten } from '../support/design-functions.js'
import { tile as anyTile } from '../support/samples.js'

const attempt = call => {
  try { return call() } catch { return undefined }
}

/** The path that CouchDB reads: the target relative to the design document. */
const target = url => new URL(rewritten(url).path, 'http://h/tiles/_design/tiles/').pathname

describe('rewrites', () => {
  it('read the head of a tile from its attachment', () => {
    assert.deepEqual(rewritten('/osm/10/300/412.png'), { path: '../../osm:10:300:412/tile', query: {} })
    assert.equal(target('/osm/10/300/412.png'), '/tiles/osm:10:300:412/tile')
    assert.equal(target('/osm/10/300/412.jpeg'), '/tiles/osm:10:300:412/tile')
    assert.equal(target('/tms/1.0.0/osm/10/300/611.png'), '/tiles/osm:10:300:412/tile')
  })

  it('read one row of by_tile for the version as of a time', () => {
    const { path, query, headers } = rewritten('/osm@2024-03/10/300/412.png')
    assert.deepEqual(headers, { 'X-Tilecouch-Base': '' })
    assert.equal(path, '_list/at/versions/by_tile')
    assert.deepEqual(query, {
      reduce: 'false', descending: 'true', limit: '1',
      startkey: JSON.stringify(['osm', 10, 300, 412, '2024-03\ufff0']),
      endkey: JSON.stringify(['osm', 10, 300, 412]), db: '../../../db/'
    })
  })

  it('redirect a client to the database through db/, at every depth of the URL', () => {
    for (const url of ['/osm@2024/10/300/412.png', '/tms/1.0.0/osm@2024/10/300/412.png']) {
      const { query } = rewritten(url)
      assert.equal(new URL(query.db, `http://h/any/proxy/_rewrite${url}`).pathname, '/any/proxy/_rewrite/db/')
    }
  })

  it('read the base URL that clients see from Host and X-Forwarded headers, or leave it empty', () => {
    const basesFor =
      (headers, options) => ['/osm@2024/10/300/412.png', '/tms/1.0.0/osm@2024/10/300/412.png', '/osm@2024.json']
      .map(url => rewritten(url, { headers, ...(options && { raw: options(url) }) }).headers['X-Tilecouch-Base'])
    const cases = [
      [{ Host: 'h:5984' }, 'http://h:5984/tiles/_design/tiles/_rewrite/'],
      [{ host: '[::1]:5984', 'X-Forwarded-Prefix': '/couch/', 'X-Forwarded-Proto': 'https' },
        'https://[::1]:5984/couch/tiles/_design/tiles/_rewrite/'],
      [
        {
          Host: 'inner', 'X-Forwarded-Host': 'maps.example.org, inner',
          'X-Forwarded-Prefix': '/', 'X-Forwarded-Proto': 'https,http'
        }, 'https://maps.example.org/tiles/_design/tiles/_rewrite/'
      ],
      // a proxy that does not tell its path may show these addresses under any path
      [{ Host: 'maps.example.org', 'X-Forwarded-For': '10.0.0.1' }, ''],
      [{ Host: 'maps.example.org', 'X-Forwarded-Host': 'maps.example.org', 'X-Forwarded-Proto': 'https' }, ''],
      // urllib of Python, wget --no-http-keep-alive
      [{ Host: '127.0.0.1:5984', Connection: 'close' }, 'http://127.0.0.1:5984/tiles/_design/tiles/_rewrite/'],
      [{ Host: '127.0.0.1:5984', Connection: 'close', 'X-Real-IP': '10.0.0.1' }, ''],
      [{}, ''], [{ Host: 'a b' }, ''], [{ Host: 'evil.example/x' }, ''], [{ Host: 'a@evil' }, ''], [{ Host: '' }, '']
    ]
    for (const [headers, expected] of cases) {
      assert.deepEqual(basesFor(headers), [expected, expected, expected], JSON.stringify(headers))
    }
    for (const url of ['/osm@2024/10/300/412.png', '/tms/1.0.0/osm@2024/10/300/412.png',
      '/osm@2024.json', '//osm@2024.json?x=1']) {
      const base = uri => rewritten(url, { headers: { Host: 'h', 'X-Forwarded-Uri': uri } }).headers['X-Tilecouch-Base']
      assert.equal(base(`/maps${url}`), 'http://h/maps/', 'whatever path it is shown under')
      assert.equal(base(url), 'http://h/')
      for (const invalid of ['/../..', '/a"b', '/a\\b', '/\r\nX: y']) assert.equal(base(invalid + url), '', invalid)
    }
  })

  it('flip the rows of TMS', () => {
    fc.assert(fc.property(anyTile, ([z, x, y]) => {
      assert.deepEqual(rewritten(`/tms/1.0.0/osm/${z}/${x}/${y}.png`), rewritten(`/osm/${z}/${x}/${flipY(z, y)}.png`))
      assert.equal(rewritten(`/tms/1.0.0/osm@2024/${z}/${x}/${y}.png`).query.startkey,
        rewritten(`/osm@2024/${z}/${x}/${flipY(z, y)}.png`).query.startkey)
    }))
  })

  it('show TileJSON, versions and times', () => {
    assert.deepEqual(rewritten('/osm.json'),
      { path: '_show/tilejson/layer:osm', query: { reference: 'osm' }, headers: { 'X-Tilecouch-Base': '' } })
    assert.deepEqual(rewritten('/osm@2024-03.json'),
      { path: '_show/tilejson/layer:osm', query: { reference: 'osm@2024-03' }, headers: { 'X-Tilecouch-Base': '' } })
    assert.deepEqual(rewritten('/osm/10/300/412.json'), {
      path: '_list/versions/versions/by_tile',
      query: { reduce: 'false', startkey: '["osm",10,300,412]', endkey: '["osm",10,300,412,{}]' }
    })
    assert.deepEqual(rewritten('/osm/times.json').query,
      { group_level: '2', startkey: '["osm"]', endkey: '["osm",{}]', layer: 'osm', z: '' })
    assert.equal(rewritten('/osm/times.json?z=4').query.group_level, '3')
  })

  it('show the style of a layer, as of a time', () => {
    const { path, query, headers } = rewritten('/osm@2024-03/style.json?theme=dark')
    assert.equal(path, '_list/style/versions/styles')
    assert.deepEqual(query, {
      include_docs: 'true', descending: 'true', limit: '1', startkey: '["osm","2024-03\ufff0"]',
      endkey: '["osm"]', reference: 'osm@2024-03', theme: 'dark'
    })
    assert.deepEqual(headers, { 'X-Tilecouch-Base': '' })
    assert.deepEqual(rewritten('/osm/style.json').query,
      { ...query, startkey: '["osm",{}]', reference: 'osm', theme: '' })
    assert.equal(errorOf(rewritten('/Osm/style.json')), 'BAD_LAYER')
    assert.equal(errorOf(rewritten('/osm@2024-13/style.json')), 'BAD_TIME')
  })

  it('show a QGIS layer file with all editions of the layer, or with none as of a time', () => {
    const query = { include_docs: 'true', startkey: '["osm",{},""]', endkey: '["osm",{},{}]', reference: 'osm' }
    assert.deepEqual(rewritten('/osm.qlr'),
      { path: '_list/qgis/versions/styles', query, headers: { 'X-Tilecouch-Base': '' } })
    assert.deepEqual(rewritten('/osm@2024.qlr').query, { ...query, endkey: query.startkey, reference: 'osm@2024' })
    assert.equal(errorOf(rewritten('/osm@24.qlr')), 'BAD_TIME')
  })

  it('show the sprite and the glyphs of one style', () => {
    const style = 'osm@2024-03-01T00:00:00Z'
    for (const name of ['sprite.json', 'sprite.png', 'sprite@2x.json', 'sprite@2x.png']) {
      assert.equal(target(`/styles/${style}/${name}`), `/tiles/style:${style}/${encodeURIComponent(name)}`)
    }
    assert.equal(target(`/styles/${style}/glyphs/Noto%20Sans%20Regular/0-255.pbf`),
      `/tiles/style:${style}/glyphs/Noto%20Sans%20Regular/0-255.pbf`)
    assert.equal(target(`/styles/${style}/glyphs/Noto%20Sans%20Bold,Arial/256-511.pbf`),
      `/tiles/style:${style}/glyphs/Noto%20Sans%20Bold/256-511.pbf`, 'the first font of a stack')
    for (
      const path of ['sprite.gif', 'style', 'glyphs/A/0-255.json', 'glyphs/..%2f..%2fx/0-255.pbf', 'sprite.json/x/y']
    ) {
      assert.equal(errorOf(rewritten(`/styles/${style}/${path}`)), 'NOT_FOUND', path)
    }
    assert.deepEqual(rewritten('/styles/1/0/0.png'), { path: '../../styles:1:0:0/tile', query: {} },
      'a layer may be called so')
  })

  it('serve the viewer, and redirect a URL without the final slash to it', () => {
    assert.deepEqual(rewritten('/'), { path: 'index.html', query: {} })
    assert.deepEqual(rewritten('/?layer=osm'), { path: 'index.html', query: {} })
    assert.deepEqual(rewritten('/leaflet.js'), { path: 'leaflet.js', query: {} })
    const redirect = rewritten('')
    assert.deepEqual([redirect.code, redirect.headers.Location], [301, '_rewrite/'])
    assert.ok(redirect.body, 'an empty body breaks keep-alive clients')
  })

  it('read the database behind db/, and refuse to write to it', () => {
    assert.equal(target('/db/osm:1:0:0/tile'), '/tiles/osm%3A1%3A0%3A0/tile')
    assert.equal(target('/db/_design/versions/_view/by_tile'), '/tiles/_design/versions/_view/by_tile')
    assert.equal(target('/db'), '/tiles/')
    for (const path of ['_all_docs', '_bulk_get', '_changes', '_find',
      '_revs_diff', '_all_docs/queries', '_design/versions/_view/by_tile', '_design/versions/_view/by_tile/queries']) {
      assert.equal(errorOf(rewritten(`/db/${path}`, { method: 'POST' })), undefined, path)
    }
    for (const [method, path] of [
      ['PUT', 'osm:1:0:0'], ['DELETE', 'osm:1:0:0'], ['POST', ''], ['POST', '_bulk_docs'],
      ['POST', '_purge'], ['POST', '_compact'], ['POST', '_index'], ['POST', '_all_docs/'.repeat(2)],
      ['PUT', '_security'], ['COPY', 'osm:1:0:0'], ['POST', '_design/x/_update/y'], ['POST', 'x/_find'], ['PATCH', 'x']
    ]) {
      assert.equal(errorOf(rewritten(`/db/${path}`, { method })), 'READ_ONLY', `${method} ${path}`)
    }
  })

  it('refuse to write to tiles, TileJSON and the viewer', () => {
    for (const method of ['PUT', 'POST', 'DELETE', 'COPY']) {
      for (const url of ['/osm/1/0/0.png', '/', '/osm.json', '/leaflet.js']) {
        assert.equal(errorOf(rewritten(url, { method })), 'READ_ONLY')
      }
    }
    assert.equal(errorOf(rewritten('/osm/1/0/0.png', { method: 'HEAD' })), undefined)
  })

  it('never lead out of the database', () => {
    const hostile = [
      '/..', '/.', '/%2e%2e', '/..%2f..', '/%2e%2e%2f_users', '/_info',
      '/_rewrite', '/_show/x', '/db/..', '/db/../_users', '/db/%2e%2e/%2e%2e/_users', '/db/a/../../../_config',
      '/db/..%2f..%2f_users/_all_docs', '/osm/../_users', '/../../_users/1/1/1.png',
      '/osm:1:0:0%2f..%2f..%2f_users/1/0/0.png', '/osm/1/0/..%2f0.png', '/osm@..%2f..%2f_users/1/0/0.png',
      '/tms/1.0.0/../1/0/0.png', '/osm%00/1/0/0.png', '/osm?rev=1/1/0/0.png',
      '/osm%3frev=1/1/0/0.png', '/osm%23/1/0/0.png', '/db/osm%3f/tile'
    ]
    for (const url of hostile) {
      const answer = rewritten(url)
      if (errorOf(answer)) continue
      const { pathname, search, hash } = new URL(answer.path, 'http://h/tiles/_design/tiles/')
      assert.ok(pathname.startsWith('/tiles/') && !search && !hash, `${url} -> ${answer.path}`)
      assert.ok(!/^\/tiles\/_design(\/tiles(\/_[^ls]|\/?$)|$)/.test(pathname), `${url} -> ${pathname}`)
    }
  })

  it('answer any path with a target below the database, a redirect or a JSON error', () => {
    const part = fc.oneof(
      fc.constantFrom('..', '.', 'osm', 'db', 'styles', 'style.json',
        'glyphs', 'osm@2024-03-01T00:00:00Z', '0-255.pbf', 'tms', '1.0.0',
        '_users', 'times.json', 'osm.json', '1', '0.png', 'osm@2024', '%2e%2e'), fc.string({ maxLength: 6 })
    )
    fc.assert(fc.property(fc.array(part, { maxLength: 7 }), parts => {
      const answer = rewritten('/' + parts.map(encodeURIComponent).join('/'))
      if (answer.code) {
        assert.ok(answer.code === 301 || (errorOf(answer) && JSON.parse(answer.body).reason))
        return
      }
      assert.ok(new URL(answer.path, 'http://h/tiles/_design/tiles/').pathname.startsWith('/tiles/'), answer.path)
    }), { numRuns: 1000 })
  })

  it('accept the same tiles as core, and refuse malformed file names', () => {
    const number = fc.oneof(fc.nat(40),
      fc.constantFrom('', '-1', '00', '01', '1e1', '1.5', 'a', ' 1', 2 ** 30 - 1, 2 ** 30, 1e10, '0x1', '٣'))
    fc.assert(fc.property(number, number, number, (z, x, y) => {
      const parts = [z, x, y].map(part => encodeURIComponent(part))
      fc.pre(parts.every(Boolean))
      const isKnown = Boolean(attempt(() => parseTilePath(`${z}/${x}/${y}`)))
      const answer = rewritten(`/osm/${parts[0]}/${parts[1]}/${parts[2]}.png`)
      assert.equal(errorOf(answer), isKnown ? undefined : 'BAD_TILE', `${z}/${x}/${y}`)
      if (isKnown) assert.equal(answer.path, `../../osm:${z}:${x}:${y}/tile`)
    }), { numRuns: 2000 })
    for (const name of ['0', '0.', '.png', '0.p', '0.toolong', '0.PNG', '0.png.png']) {
      assert.equal(errorOf(rewritten(`/osm/1/0/${name}`)), 'BAD_TILE', name)
    }
  })

  it('accept the same layer names as core', () => {
    const anyName = fc.oneof(fc.stringMatching(/^[a-zA-Z0-9_.-]{1,8}$/),
      fc.constantFrom('layer', 'edition', 'a'.repeat(63), 'a'.repeat(64)))
    fc.assert(fc.property(anyName, name => {
      fc.pre(name !== 'tms' && name !== 'db' && !/^\.+$/.test(name))
      assert.equal(errorOf(rewritten(`/${name}/1/0/0.png`)), isLayer(name) ? undefined : 'BAD_LAYER', name)
    }))
  })

  it('accept the same times as core, and end periods at the same moment', () => {
    const SEPARATORS = ['-', '-', 'T', ':', ':']
    const twoDigits = fc.nat(70).map(value => String(value).padStart(2, '0'))
    const writtenTimes = fc.tuple(fc.constantFrom('2024', '2023', '1900', '2000'),
      fc.array(twoDigits, { maxLength: 5 }), fc.constantFrom('', 'Z'))
      .map(([year, parts, zone]) => year + parts.map((part, index) => SEPARATORS[index] + part).join('') + zone)
    const likelyTimes = fc.date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
      .chain(date => fc.constantFrom(4, 7, 10, 13, 16, 19).map(length => date.toISOString().slice(0, length)))
    const oddTimes = fc.constantFrom('2024-02-30', '2023-02-29', '2024-02-29',
      '1900-02-29', '0000-02-29', '0004-02-29', '0100-02-29', '2024-13',
      '2024-00', '2024-01-00', '2024-01-01T24', '2024-01-01T23:60', '2024-1-1', 'now', '..', '2024-', '2024T12')
    fc.assert(fc.property(fc.oneof(writtenTimes, likelyTimes, oddTimes), time => {
      const end = attempt(() => endOf(time))
      const answer = rewritten(`/osm@${time}/1/0/0.png`)
      assert.equal(errorOf(answer), end ? undefined : 'BAD_TIME', time)
      assert.equal(errorOf(rewritten(`/osm@${time}.json`)), end ? undefined : 'BAD_TIME', time)
      if (!end) return
      const bound = JSON.parse(answer.query.startkey)[4]
      assert.ok(bound.endsWith(AFTER) && startOf(time).startsWith(bound.slice(0, -1)) &&
        end.startsWith(bound.slice(0, -1)), `${time} -> ${bound}`)
    }), { numRuns: 2000 })
  })

  it('refuse times with an offset, fractions of seconds or another spelling', () => {
    for (const time of ['2024-03-01T12:00+02:00', '2024-03-01T12:00:00.5Z', '2024-03-01t12', '2024-03-01%2012']) {
      assert.equal(errorOf(rewritten(`/osm@${time}/1/0/0.png`)), 'BAD_TIME', time)
    }
  })

  it('answer errors in JSON that gives the reason and is not cached', () => {
    const answer = rewritten('/osm/1/5/0.png')
    assert.equal(answer.code, 400)
    assert.deepEqual(answer.headers, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
    assert.match(JSON.parse(answer.body).reason, /1\/5\/0/)
    assert.equal(rewritten('/osm/1').code, 404)
    assert.equal(rewritten('/osm/1/0/0/0.png').code, 404)
  })
})
