import assert from 'node:assert/strict'
import { layerDocument, plainNameOf, tileJson } from '../../core/index.js'
import { layerRules } from '../../core/rules.js'
import { codeOf } from '../support/samples.js'

const full = {
  name: 'Streets', description: 'All of them', attribution: '© people', legend: 'blue is water', version: '1.0.0',
  minzoom: 0, maxzoom: 14, fillzoom: 14, bounds: [-180, -85, 180, 85],
  center: [0, 0, 3], vector_layers: [{ id: 'water', fields: {} }],
  format: 'png', tileSize: 256, ttl: 604800, upstream: { url: 'https://example.org/{z}/{x}/{y}.png' },
  offline: false, retention: { daily: 5 },
  dropped: [['2023-03-01T00:00:00Z', '2024-03-01T00:00:00Z', '20240301T000000000-abcd']],
  pruned: '2024-03-01T00:00:00Z', renaming: 'town', retina: 'osm-512',
  group: 'Aerial', order: 3, encoding: 'terrarium', same: 'pixels:2', grid: 'LV95'
}

describe('layer documents', () => {
  it('hold the fields of a layer under its id', () => {
    assert.deepEqual(layerDocument('osm', full), { _id: 'layer:osm', type: 'layer', layer: 'osm', ...full })
    assert.deepEqual(Object.keys(full).sort(), Object.keys(layerRules).sort(), 'every field is tried here')
  })

  it('leave out fields that are undefined or null, which removes these fields', () => {
    assert.deepEqual(layerDocument('osm', { name: undefined, ttl: null }),
      { _id: 'layer:osm', type: 'layer', layer: 'osm' })
  })

  it('refuse a field that has the wrong kind of value, and name it', () => {
    const bad = {
      name: [3, {}], description: [3], attribution: [[]], legend: [true],
      version: [1], minzoom: [-1, 1.5, 31, '3', NaN], maxzoom: [31], fillzoom: ['0'],
      bounds: [[], [1, 2, 3], [1, 2, 3, 'x'], [1, 2, 3, Infinity], '1,2,3,4'],
      center: [[1, 2], [1, 2, 3, 4], '0,0,3'], vector_layers: [{}, [1], [null], [[]]],
      format: [3], tileSize: [63, 4097, 256.5, '256'], ttl: [0, -1, 1.5, '7d', Infinity],
      upstream: ['https://example.org', [], 3], offline: ['no', 0, []],
      retention: [[], 5],
      dropped: ['2024', [['2024']], [['2023-03-01T00:00:00Z', '2024-03-01T00:00:00Z']],
        [['2023-03-01T00:00:00Z', '2024-03-01T00:00:00Z', 'x']]], pruned: [true, '2024', '2024-02-30T00:00:00Z'],
        renaming: ['Town', 'layer', 3], retina: ['Town', 'osm', 'layer', 3],
        group: [3, []], order: [-1, 1.5, '3', 1e7],
        same: ['bytes', 'pixels:', 'pixels:100', 'pixels:-1', 'Features', 3, ['pixels'], 'pixels\n'],
        encoding: ['mlt', 'Terrarium', '', 3, ['mapbox'], 'toString'], grid: [3, true, ['LV95']]
    }
    assert.deepEqual(Object.keys(bad).sort(), Object.keys(layerRules).sort(), 'every field is tried here')
    for (const [field, values] of Object.entries(bad)) {
      for (const value of values) {
        assert.throws(() => layerDocument('osm', { [field]: value }),
          { code: 'BAD_LAYER_FIELD', message: new RegExp(`bad ${field} `) }, `${field}: ${JSON.stringify(value)}`)
      }
    }
  })

  it('refuse fields that no layer has', () => {
    for (const field of ['_id', '_attachments', 'type', 'tiles', 'tilejson', 'colour', 'constructor', 'toString']) {
      assert.equal(codeOf(() => layerDocument('osm', { [field]: 'x' })), 'BAD_LAYER_FIELD', field)
    }
    assert.equal(codeOf(() => layerDocument('osm', JSON.parse('{"__proto__": "x"}'))), 'BAD_LAYER_FIELD')
  })

  it('refuse a bad name', () => {
    assert.equal(codeOf(() => layerDocument('Osm', {})), 'BAD_LAYER')
  })
})

describe('TileJSON', () => {
  it('has relative addresses in Web Mercator only, and leaves out internal fields', () => {
    const { upstream, retention, same, dropped, pruned, renaming, retina, ttl, grid, ...shown } = full
    const doc = { ...layerDocument('osm', full), _rev: '1-a' }
    const json = { tilejson: '3.0.0', ...shown, scheme: 'xyz' }
    assert.deepEqual(tileJson({ ...doc, grid: undefined }),
      { ...json, grid: undefined, tiles: ['osm/{z}/{x}/{y}.png'] })
    assert.deepEqual(tileJson(doc), { ...json, grid }, 'an address would be taken for one in Web Mercator')
  })

  it('of a time names the time in its addresses', () => {
    const json = tileJson(layerDocument('osm', { format: 'pbf' }), { time: '2024-03', base: 'https://example.org/' })
    assert.deepEqual(json, {
      tilejson: '3.0.0', name: 'osm, 2024-03', 'tilecouch:name': 'osm',
      scheme: 'xyz', tiles: ['https://example.org/osm@2024-03/{z}/{x}/{y}.pbf'], format: 'pbf', time: '2024-03'
    })
  })

  it('of a time has a name with the time, which plainNameOf removes', () => {
    const names = {
      2023: 'Town, 2023', '2023-06-01T00:00:00Z': 'Town, 2023-06-01',
      '2023-12-31T23:59:59Z': 'Town, 2023-12-31', '2023-06-01T06:00:00Z': 'Town, 2023-06-01T06:00:00Z'
    }
    for (const [time, name] of Object.entries(names)) {
      const json = tileJson(layerDocument('town', { name: 'Town' }), { time })
      assert.deepEqual([json.name, plainNameOf(json)], [name, 'Town'])
      assert.equal(plainNameOf({ ...json, name: 'Our town' }), 'Our town', 'somebody wrote another one')
    }
    assert.equal(plainNameOf(tileJson(layerDocument('town', { name: 'Town, 2023' }))), 'Town, 2023')
    assert.equal(plainNameOf({}), undefined)
  })

  it('has PNG tiles and the name of the layer by default', () => {
    assert.deepEqual(tileJson(layerDocument('osm')),
      { tilejson: '3.0.0', name: 'osm', scheme: 'xyz', tiles: ['osm/{z}/{x}/{y}.png'], format: 'png' })
  })
})
