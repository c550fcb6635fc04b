import assert from 'node:assert/strict'
import fc from 'fast-check'
import { layerDocument, tileJson } from '../../core/index.js'
import { loadDesign } from '../support/design-functions.js'

const show = loadDesign('_design/tiles/shows/tilejson.js')
const json = (doc, reference) => JSON.parse(show(doc, { query: reference === undefined ? {} : { reference } }).body)

const number = fc.integer({ min: -180, max: 180 })
const object = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.string())
const [south, north] = [fc.integer({ min: -90, max: 0 }), fc.integer({ min: 0, max: 90 })]
/** Any layer document: every field there or not. */
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

describe('the show of TileJSON', () => {
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
