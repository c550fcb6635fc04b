// Documents of layers: hostile ones, the fields of good ones, and the TileJSON that is made of them.
import assert from 'node:assert/strict'
import {
  examine, faultIn, soundOf, tokenKinds, layerDocument, plainNameOf, tileJson
} from '../../core/index.js'
import { faultInRecord, styleKinds } from '../../core/store/records.js'
import { loadDesign } from '../support/design-functions.js'
import { goodDocuments, hostileDocuments } from '../support/hostile-documents.js'
import { layerRules } from '../../core/rules.js'
import { writtenKinds } from '../support/record-kinds.js'
import { codeOf } from '../support/samples.js'

const validate = loadDesign('_design/tiles/validate_doc_update.js')
const otherKinds = { ...styleKinds, ...writtenKinds, ...tokenKinds }

function faultOf (doc) {
  if (['layer', 'edition'].includes(doc.type)) return faultIn(doc)
  if (['style', 'work', 'activity', 'token'].includes(doc.type)) return faultIn(doc, otherKinds)
  return faultInRecord(doc)
}

/** Why validate_doc_update refuses a document. The function gets it parsed from JSON, as in CouchDB. */
function refusalOf (doc) {
  try {
    // tokens need an admin
    validate(JSON.parse(JSON.stringify(doc)), null, { name: 'w', roles: ['tilecouch-writer'] },
      { admins: { names: ['w'] } })
    return undefined
  } catch ({ forbidden }) {
    return forbidden
  }
}

const brief = doc => JSON.stringify(doc).slice(0, 300)

describe('hostile documents of layers', () => {
  const hostile = hostileDocuments(17)

  it('include more than 80 of each type', () => {
    for (
      const type of ['layer', 'edition', 'style', 'manifest', 'removed', 'block', 'limits', 'work', 'activity', 'token']
    ) assert.ok(hostile.filter(doc => doc.type === type).length > 80, type)
  })

  it('each have a fault with a short description', () => {
    for (const doc of hostile) {
      const fault = faultOf(doc)
      assert.ok(fault, brief(doc))
      assert.ok(fault.length < 300 && !fault.includes('secret'), fault)
    }
    assert.equal({}.polluted, undefined)
  })

  it('are refused by validate_doc_update as well', () => {
    for (const doc of hostile) assert.equal(typeof refusalOf(doc), 'string', brief(doc))
  })

  it('are distinguished from good documents, which both checks accept', () => {
    for (const layer of ['osm', '0', 'a'.repeat(63)]) {
      for (const doc of goodDocuments(layer)) {
        assert.equal(faultOf(doc), undefined)
        assert.equal(refusalOf(doc), undefined)
      }
    }
    const [layer] = goodDocuments('osm')
    for (const doc of [{ ...layer, later: { version: [2] } }, { _id: 'layer:osm', type: 'layer', layer: 'osm' },
      { ...layer, bounds: [170, -20, -170, 20] }, { ...layer, attribution: 'x'.repeat(50_000) }]) {
      assert.equal(faultOf(doc), undefined, brief(doc))
      assert.equal(refusalOf(doc), undefined, brief(doc))
    }
  })

  it('are distinguished from documents of older versions, which both checks accept', () => {
    const T = '2024-03-01T00:00:00Z'
    const run = '20240301T101500123-4f9k'
    for (const doc of [
      {
        _id: 'layer:osm', type: 'layer', layer: 'osm', minzoom: 0, maxzoom: 14,
        bounds: [-180, -85.0511287798066, 180, 85.0511287798066], center: [5.5, 47.1, 7], format: 'png'
      },
      { _id: 'layer:osm', type: 'layer', layer: 'osm', upstream: {
        url: 'https://example.org', why: 'of before there were rules'
      }, retention: { years: 5 } },
      { _id: 'layer:db', type: 'layer', layer: 'db', ttl: 604800 },
      {
        _id: `edition:osm@${T}`, type: 'edition', layer: 'osm', time: T,
        title: 'spring', source: '/srv/tiles', complete: false, started: T, tiles: 5, created: 5, advanced: 0,
        backfilled: 0, unchanged: 0, failed: 0, gone: 0, bytes: 99, extended: 0, retried: 3, of: 'a'.repeat(32)
      },
      { _id: `edition:osm@${T}`, type: 'edition', layer: 'osm', time: T },
      { _id: `manifest:osm@${T}:${run}`, type: 'manifest', layer: 'osm', time: T, run, complete: true, area: {
        boxes: [], polygon: { type: 'Polygon', coordinates: [[[0, 0], [10, 0], [10, 10], [0, 0]]] }
      }, tiles: 1, root: 'a'.repeat(32), parts: ['3:0:0', '14:100:255'] },
      { _id: `manifest:osm@${T}:${run}:0`, type: 'manifest', layer: 'osm', time: T, run, part: 0, blocks: {
        '3:0:0': ['abcdefghijk-'], '30:16777215:0': ['abcdefghijk_', 'bbcdefghijkl']
      } },
      { _id: `removed:osm:${run}`, type: 'removed', layer: 'osm', run, since: T, until: T, zooms: {
        min: 3, max: 3
      }, area: { boxes: [[170, -10, -170, 10], [-180, -90, 180, 90]] } },
      { _id: `removed:osm:${run}`, type: 'removed', layer: 'osm', run, tiles: ['osm:3:1:1'], runs: [run], finished: T }
    ]) {
      assert.equal(faultOf(doc), undefined, brief(doc))
      assert.equal(validate(JSON.parse(JSON.stringify(doc)), doc.type === 'manifest' ? null : doc,
        { name: 'w', roles: ['tilecouch-writer'] }, {}), undefined)
    }
  })

  it('have a fault also when they are nested very deep or are very long', () => {
    let value = 1
    for (let depth = 0; depth < 20_000; depth++) value = [value]
    for (const field of ['name', 'vector_layers', 'upstream', 'later']) {
      assert.match(faultIn({ _id: 'layer:osm', type: 'layer', layer: 'osm', [field]: value }) ?? '',
        new RegExp(`bad ${field}`))
    }
    assert.match(faultIn({ _id: 'layer:osm', type: 'layer', layer: 'osm', attribution: 'x'.repeat(10_000_000) }) ?? '',
      /bad attribution/)
  })

  it('are reported and left out by soundOf, which keeps the good documents', () => {
    const [layer] = goodDocuments('osm')
    const layers = hostile.filter(({ type }) => type === 'layer')
    const faulty = []
    assert.deepEqual(soundOf([...layers, layer, undefined, goodDocuments('osm')[1]], 'layer', doc => faulty.push(doc)),
      [layer])
    assert.equal(faulty.length, layers.length + 1)
  })

  it('cannot change a prototype', () => {
    const [layer, , , manifest] = goodDocuments('osm')
    assert.match(faultInRecord({ ...manifest, blocks: JSON.parse('{"__proto__":["abcdefghijkl"]}') }) ?? '',
      /bad blocks/)
    const { faults, valid } =
      examine(JSON.parse('{"__proto__":{"ttl":5},"_id":"layer:osm","type":"layer","layer":"osm"}'))
    assert.deepEqual([faults, valid.ttl], [[], undefined])
    assert.deepEqual(Object.keys(examine(layer).valid).sort(),
      Object.keys(layer).filter(field => !['_id', 'type', 'layer'].includes(field)).sort())
  })

  it('are split into faults and valid fields by examine', () => {
    const { faults, valid } =
      examine({ _id: 'layer:osm', type: 'layer', layer: 'osm', minzoom: 4e9, maxzoom: 3, ttl: -1, name: 'x' })
    assert.deepEqual(faults, ['bad minzoom 4000000000', 'bad ttl -1'])
    assert.deepEqual(valid, { maxzoom: 3, name: 'x' })
  })

  it('have a fault when they are not objects of a known type', () => {
    for (const doc of [null, undefined, 5, 'layer', [], {}, { type: 'tile' }, { type: '__proto__' },
      { type: 'constructor' }, { type: { toString: 5 } }, { type: 'layer' }]) assert.ok(faultIn(doc))
  })
})

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
    const badValues = {
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
    assert.deepEqual(Object.keys(badValues).sort(), Object.keys(layerRules).sort(), 'every field is tried here')
    for (const [field, values] of Object.entries(badValues)) {
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
    const { upstream, retention, same, dropped, pruned, renaming, retina, ttl, grid, ...shownFields } = full
    const doc = { ...layerDocument('osm', full), _rev: '1-a' }
    const json = { tilejson: '3.0.0', ...shownFields, scheme: 'xyz' }
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
