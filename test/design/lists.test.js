// The functions of CouchDB that make answers: lists, and the show of TileJSON.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { styleAt, layerDocument, tileJson, tileBounds, tileRanges } from '../../core/index.js'
import { runList, loadDesign, errorOf, rewritten } from '../support/design-functions.js'

const T1 = '2024-01-01T00:00:00Z'
const T2 = '2024-02-01T00:00:00Z'
const key = time => ['osm', 10, 300, 412, time]
const value = { rev: '3-abc', bytes: 10, expires: null, gone: false }
const head = { id: 'osm:10:300:412', key: key(T2), value }
const past = { id: `osm:10:300:412@${T1}`, key: key(T1), value: { ...value, rev: '1-abc' } }

describe('the list that redirects to the version as of a time', () => {
  it('redirects to a past version by its id alone', () => {
    const { code, headers, json } = runList('at', [past], { db: '../../../db/' })
    assert.equal(code, 302)
    assert.equal(headers.Location, `../../../db/osm:10:300:412@${T1}/tile`)
    assert.equal(headers['X-Tilecouch-Time'], T1)
    assert.deepEqual(json, { location: headers.Location, time: T1 }, 'an empty body breaks keep-alive clients')
  })

  it('redirects to a head with its revision, because the head may change meanwhile', () => {
    assert.equal(runList('at', [head], { db: '../../../db/' }).headers.Location,
      '../../../db/osm:10:300:412/tile?as=tile&rev=3-abc')
  })

  it('finds the database without ?db= when a client requests the list directly', () => {
    const { headers } = runList('at', [past])
    const base = 'http://h/proxy/tiles/_design/tiles/_list/at/versions/by_tile'
    assert.equal(new URL(headers.Location, base).pathname, `/proxy/tiles/osm:10:300:412@${T1}/tile`)
  })

  it('redirects to a whole URL when the rewrite sends a valid base URL', () => {
    const headers = { 'X-Tilecouch-Base': 'https://maps.example.org:8443/a%20b/_rewrite/' }
    assert.equal(runList('at', [past], { db: '../../../db/' }, headers).headers.Location,
      `https://maps.example.org:8443/a%20b/_rewrite/db/osm:10:300:412@${T1}/tile`)
    for (const invalid of ['', 'x', 'javascript:x/', 'http://h', 'http://h/\n/', 'ftp://h/', 'http://h/"/']) {
      assert.equal(runList('at', [past], { db: '../../../db/' }, { 'X-Tilecouch-Base': invalid }).headers.Location,
        `../../../db/osm:10:300:412@${T1}/tile`, invalid)
    }
  })

  it('never redirects to another host or path, whatever ?db= contains', () => {
    const evil = ['https://evil.example/', '//evil.example/', '/\\evil.example/',
      '/', 'evil/', '../x/', '../../db/../../evil/', '..//evil/', '../\n//evil/',
      '\t//evil', 'javascript:', '.../', '../db', '../db//', '../db/\n']
    const randomPaths = fc.array(fc.constantFrom('../', 'db/', '/', '.',
      '..', 'https:', '\\', '\n', ' ', 'evil.example', '?', '#', '%2f'), { maxLength: 6 }).map(parts => parts.join(''))
    fc.assert(fc.property(fc.oneof(fc.constantFrom(...evil), randomPaths, fc.string()), db => {
      const { Location } = runList('at', [past], { db }).headers
      assert.match(Location, /^(\.\.\/)+(db\/)?osm:10:300:412@/, JSON.stringify(db))
      assert.equal(new URL(Location, 'http://h/a/b/c/d/e/f').host, 'h')
      assert.ok(!/[\r\n]/.test(Location), 'nobody adds a header')
    }), { numRuns: 1000 })
  })

  it('answers 404 when the tile did not exist yet or was gone at that time', () => {
    const none = runList('at', [], {})
    assert.deepEqual([none.code, none.json.error, none.headers['Cache-Control']], [404, 'TILE_NOT_FOUND', 'no-store'])
    const gone = runList('at', [{ ...past, value: { ...value, gone: true } }], {})
    assert.deepEqual([gone.code, gone.json.error], [404, 'TILE_NOT_FOUND'])
    assert.match(gone.json.reason, new RegExp(T1))
  })
})

describe('the list that makes a style', () => {
  const layer = { _id: 'layer:osm', type: 'layer', layer: 'osm', format: 'pbf', vector_layers: [
    { id: 'water', fields: { name: 'String' } }
  ] }
  const styleDoc = {
    _id: `style:osm@${T1}`, type: 'style', layer: 'osm', time: T1,
    style: {
      version: 8,
      sources: { osm: { type: 'vector', url: 'couch://osm' }, old: {
        type: 'raster', tiles: ['couch://relief@2019/{z}/{x}/{y}.png', 'https://x.org/{z}/{x}/{y}']
      } }, layers: []
    },
    _attachments: { 'sprite.json': {}, 'sprite.png': {}, 'glyphs/Noto Sans/0-255.pbf': {} }
  }
  const style = (doc, query, base = '') => runList('style', doc ? [{ id: doc._id, key: [], value: null, doc }] : [],
    query, { 'X-Tilecouch-Base': base })

  it('returns the same style as core', () => {
    for (const doc of [layer, styleDoc]) {
      for (const query of [{ reference: 'osm' }, { reference: 'osm@2024', theme: 'dark' }]) {
        for (const base of ['', 'https://maps.example.org/_rewrite/']) {
          const { code, headers, json } = style(doc, query, base)
          assert.deepEqual([code, headers['Cache-Control']], [200, 'private, max-age=0, must-revalidate'])
          assert.deepEqual(json, styleAt(doc, { base, time: query.reference.split('@')[1], theme: query.theme }))
        }
      }
    }
  })

  it('names the tiles, the sprite and the glyphs of that time', () => {
    const { json } = style(styleDoc, { reference: 'osm@2024' }, 'http://h/')
    assert.deepEqual(json.sources,
      { osm: { type: 'vector', url: 'http://h/osm@2024.json' }, old: {
        type: 'raster', tiles: ['http://h/relief@2019/{z}/{x}/{y}.png', 'https://x.org/{z}/{x}/{y}']
      } })
    assert.deepEqual([json.sprite, json.glyphs],
      [`http://h/styles/osm@${T1}/sprite`, `http://h/styles/osm@${T1}/glyphs/{fontstack}/{range}.pbf`])
    assert.equal(style(layer, { reference: 'osm' }).json.sources.osm.url, '../osm.json', 'relative to the style')
  })

  it('answers 404 when the layer, its source layers or the stored style are missing', () => {
    assert.deepEqual([style(undefined, {}).code, style(undefined, {}).json.error], [404, 'LAYER_NOT_FOUND'])
    for (const doc of [{ ...layer, vector_layers: undefined }, { ...styleDoc, style: undefined }]) {
      assert.deepEqual([style(doc, {}).code, style(doc, {}).json.error], [404, 'STYLE_UNKNOWN'])
    }
  })
})

describe('the list of versions', () => {
  it('lists versions oldest first, with the id and revision that a client needs to fetch them', () => {
    const { code, json } = runList('versions', [past, head])
    assert.equal(code, 200)
    assert.deepEqual(json, {
      layer: 'osm', z: 10, x: 300, y: 412,
      versions: [
        { time: T1, id: past.id, rev: '1-abc', bytes: 10, expires: null, gone: false, current: false },
        { time: T2, id: head.id, rev: '3-abc', bytes: 10, expires: null, gone: false, current: true }
      ]
    })
  })

  it('lists each time once: the head hides its copy among the past versions', () => {
    const copy = { id: `osm:10:300:412@${T2}`, key: key(T2), value: { ...value, rev: '1-copy' } }
    for (const rows of [[past, head, copy], [past, copy, head]]) {
      assert.deepEqual(runList('versions', rows).json.versions.map(({ id }) => id), [past.id, head.id])
    }
  })

  it('answers 404 for a tile that nobody has loaded', () => {
    const { code, json } = runList('versions', [])
    assert.deepEqual([code, json.error], [404, 'TILE_NOT_FOUND'])
  })
})

describe('the show of TileJSON', () => {
  const show = loadDesign('_design/tiles/shows/tilejson.js')
  const json = (doc, reference) => JSON.parse(show(doc, { query: reference === undefined ? {} : { reference } }).body)

  const number = fc.integer({ min: -180, max: 180 })
  const object = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.string())
  const [south, north] = [fc.integer({ min: -90, max: 0 }), fc.integer({ min: 0, max: 90 })]
  /** Any layer document: each field is present or missing. */
  const layerDoc = fc.record({
    name: fc.string(), description: fc.string(), attribution: fc.string(), legend: fc.string(), version: fc.string(),
    minzoom: fc.nat(15), maxzoom: fc.integer({ min: 15, max: 30 }),
    fillzoom: fc.nat(30), bounds: fc.tuple(number, south, number, north), center: fc.tuple(number, north, fc.nat(30)),
    vector_layers: fc.array(object), format: fc.constantFrom('png', 'jpg', 'webp', 'avif', 'pbf'),
    tileSize: fc.integer({ min: 64, max: 4096 }),
    ttl: fc.integer({ min: 1, max: 1e8 }), upstream: object,
    retention: fc.record({ daily: fc.integer({ min: 1, max: 99 }) }), pruned: fc.constant('2024-03-01T00:00:00Z'),
    offline: fc.boolean(), same: fc.constant('features'), encoding: fc.constantFrom('terrarium', 'mapbox', 'mvt'),
    grid: fc.constantFrom('WebMercatorQuad', 'LV95')
  }, { requiredKeys: [] })
    .map(({ upstream, ...fields }) => ({ ...layerDocument('osm', fields), ...(upstream && { upstream }), _rev: '2-x' }))

  it('returns the same TileJSON as core, for any layer, with and without a time', () => {
    fc.assert(fc.property(layerDoc, fc.constantFrom(undefined, '2024', '2024-03-01T00:00:00Z'), (doc, time) => {
      assert.deepEqual(json(doc, time ? `osm@${time}` : 'osm'), JSON.parse(JSON.stringify(tileJson(doc, { time }))))
    }), { numRuns: 500 })
  })

  it('has whole URLs of tiles when the rewrite sends its base URL', () => {
    const base = 'http://h:5984/tiles/_design/tiles/_rewrite/'
    const answer =
      show(layerDocument('osm'), { query: { reference: 'osm@2024' }, headers: { 'X-Tilecouch-Base': base } })
    assert.deepEqual(JSON.parse(answer.body).tiles, tileJson(layerDocument('osm'), { time: '2024', base }).tiles)
  })

  it('shows the URL of the newest tiles when the request has no reference', () => {
    assert.deepEqual(json(layerDocument('osm')).tiles, ['osm/{z}/{x}/{y}.png'])
  })

  it('hides upstream, retention, ttl and other internal fields of the layer', () => {
    const text = show(
      { ...layerDocument('osm', { retention: { last: 1 }, pruned: '2024-03-01T00:00:00Z', ttl: 5 }), upstream: {
        url: 'http://a:b@h/'
      }, _rev: '1-a' }, { query: {} }
    ).body
    for (const word of ['upstream', 'retention', 'pruned', 'ttl', '_rev', '_id', 'http']) {
      assert.ok(!text.includes(word), word)
    }
  })

  it('answers 404 for a missing document and for one that is not a layer', () => {
    for (const doc of [null, { _id: 'osm:0:0:0', type: 'tile' }]) {
      const answer = show(doc, { query: { reference: 'osm' } })
      assert.equal(answer.code, 404)
      assert.equal(JSON.parse(answer.body).error, 'LAYER_NOT_FOUND')
      assert.equal(answer.headers['Cache-Control'], 'no-store')
    }
    assert.equal(show(layerDocument('osm'), { query: {} }).code, undefined)
  })
})

const degrees = limit => fc.integer({ min: -limit * 1e6, max: limit * 1e6 }).map(millionths => millionths / 1e6)
const anywhere = fc.tuple(degrees(180), degrees(90), degrees(180), degrees(90))
  .map(([w, a, e, b]) => [w, Math.min(a, b), e, Math.max(a, b)])
const onEdges = fc.tuple(fc.nat(8), fc.nat(8), fc.nat(8), fc.nat(8)).map(([a, b, c, d]) => {
  const [, , , north] = tileBounds(3, 0, Math.min(b, d))
  const [, , , south] = tileBounds(3, 0, Math.max(b, d))
  return [a * 45 - 180, south, c * 45 - 180, north]
})
const bbox = fc.oneof(anywhere, onEdges)

const row = (x, y, time = T1, bytes = 10) => ({
  id: `osm:3:${x}:${y}@${time}`, key: ['osm', 3, x, y, time], value: { rev: '1-a', bytes, expires: null, gone: false }
})

/**
 * Compares array keys as CouchDB orders them, as far as these tests need: numbers, strings, then objects; the shorter
 * key first.
 */
function compareKeys (a, b) {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const rank = part => ['number', 'string', 'object'].indexOf(typeof part)
    if (rank(a[index]) !== rank(b[index])) return rank(a[index]) - rank(b[index])
    if (a[index] !== b[index] && rank(a[index]) < 2) return a[index] < b[index] ? -1 : 1
  }
  return a.length - b.length
}

describe('times of a view of the map', () => {
  it('are counted over exactly the tiles that core counts, for any box', () => {
    const world = Array.from({ length: 64 }, (_, index) => row(index >> 3, index & 7))
    fc.assert(fc.property(bbox, box => {
      const { query } = rewritten(`/osm/times.json?bbox=${box}&z=3`)
      const [startkey, endkey] = [JSON.parse(query.startkey), JSON.parse(query.endkey)]
      const range = world.filter(({ key: own }) => compareKeys(startkey, own) <= 0 && compareKeys(own, endkey) <= 0)
      const expected = tileRanges(box, 3)
        .reduce((sum, { x0, x1, y0, y1 }) => sum + (x1 - x0 + 1) * (y1 - y0 + 1), 0)
      assert.deepEqual(runList('times', range, query).json.times, [{ time: T1, tiles: expected, bytes: 10 * expected }])
    }), { numRuns: 300 })
  })

  it('ask for the columns and rows that core works out, at any zoom', () => {
    fc.assert(fc.property(anywhere, fc.nat(30), (box, z) => {
      fc.pre(box[0] <= box[2])
      const { query } = rewritten(`/osm/times.json?bbox=${box}&z=${z}`)
      const [first] = tileRanges(box, z)
      assert.equal(query.rows, `${first.y0}-${first.y1}`)
      assert.equal(query.columns.split('-')[0], String(first.x0))
    }), { numRuns: 300 })
  })

  it('need a zoom with a box, and refuse boxes that core refuses', () => {
    assert.equal(errorOf(rewritten('/osm/times.json?bbox=1,2,3,4')), 'BAD_ZOOM')
    for (const z of ['31', '-1', 'a', '1.5', '']) {
      assert.equal(errorOf(rewritten(`/osm/times.json?z=${z}`)), 'BAD_ZOOM', z)
    }
    for (const text of ['', ',,,', '1,2,3', '1,2,,4', '1,2,3,x',
      '-181,0,0,1', '0,0,181,1', '0,2,0,1', '0,-91,0,0', '0,0,0,91', '0,-Infinity,0,0', '1,2,3,4,5']) {
      assert.equal(errorOf(rewritten(`/osm/times.json?bbox=${text}&z=3`)), 'BAD_BBOX', text)
    }
  })
})

describe('the list of times', () => {
  it('sums the tiles and bytes of each time, oldest first', () => {
    const { json, headers } = runList('times', [row(0, 0, T2, 5), row(0, 1, T1, 7), row(1, 0, T2, 1)],
      { layer: 'osm', z: '3', columns: '0-1', rows: '0-1' })
    assert.deepEqual(json,
      { layer: 'osm', z: 3, times: [{ time: T1, tiles: 1, bytes: 7 }, { time: T2, tiles: 2, bytes: 6 }] })
    assert.equal(headers['Content-Type'], 'application/json')
  })

  it('leaves out tiles outside the columns and rows of the view', () => {
    const rows = [row(0, 5), row(1, 0), row(1, 1), row(1, 2), row(2, 1), row(7, 1)]
    assert.equal(runList('times', rows, { layer: 'osm', z: '3', columns: '1-2', rows: '1-1' }).json.times[0].tiles, 2)
    assert.equal(runList('times', rows, { layer: 'osm', z: '3', columns: '7-1', rows: '1-1' }).json.times[0].tiles,
      2, 'over the antimeridian')
  })

  it('reads reduced rows of by_time, of the whole layer or of one zoom', () => {
    const sumRow = (rowKey, count, sum) => ({ key: rowKey, value: { count, sum } })
    const layer = [sumRow(['osm', T1], 3, 30), sumRow(['osm', T2], 1, 10)]
    assert.deepEqual(runList('times', layer, { layer: 'osm', z: '' }).json,
      { layer: 'osm', times: [{ time: T1, tiles: 3, bytes: 30 }, { time: T2, tiles: 1, bytes: 10 }] })
    const zooms = [sumRow(['osm', T1, 2], 1, 10), sumRow(['osm', T1, 3], 2, 20), sumRow(['osm', T2, 2], 1, 10)]
    assert.deepEqual(runList('times', zooms, { layer: 'osm', z: '2' }).json.times,
      [{ time: T1, tiles: 1, bytes: 10 }, { time: T2, tiles: 1, bytes: 10 }])
  })

  it('is empty when the view has no tiles', () => {
    assert.deepEqual(runList('times', [], { layer: 'osm', z: '3', columns: '0-1', rows: '0-1' }).json,
      { layer: 'osm', z: 3, times: [] })
  })
})
