import assert from 'node:assert/strict'
import fc from 'fast-check'
import { styleAt } from '../../core/index.js'
import { runList } from '../support/design-functions.js'

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
    for (const bad of ['', 'x', 'javascript:x/', 'http://h', 'http://h/\n/', 'ftp://h/', 'http://h/"/']) {
      assert.equal(runList('at', [past], { db: '../../../db/' }, { 'X-Tilecouch-Base': bad }).headers.Location,
        `../../../db/osm:10:300:412@${T1}/tile`, bad)
    }
  })

  it('never redirects to another host or path, whatever ?db= contains', () => {
    const evil = ['https://evil.example/', '//evil.example/', '/\\evil.example/',
      '/', 'evil/', '../x/', '../../db/../../evil/', '..//evil/', '../\n//evil/',
      '\t//evil', 'javascript:', '.../', '../db', '../db//', '../db/\n']
    const built = fc.array(fc.constantFrom('../', 'db/', '/', '.',
      '..', 'https:', '\\', '\n', ' ', 'evil.example', '?', '#', '%2f'), { maxLength: 6 }).map(parts => parts.join(''))
    fc.assert(fc.property(fc.oneof(fc.constantFrom(...evil), built, fc.string()), db => {
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
  const stored = {
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
    for (const doc of [layer, stored]) {
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
    const { json } = style(stored, { reference: 'osm@2024' }, 'http://h/')
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
    for (const doc of [{ ...layer, vector_layers: undefined }, { ...stored, style: undefined }]) {
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
