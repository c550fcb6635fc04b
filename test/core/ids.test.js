// Ids of documents and tiles, names of layers, references and tile paths: their forms, their parsers and their order.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  LAYER_KINDS, RESERVED, STORE_ID, blockId, checkLayer, checkNewLayer,
  compareIds, compareInner, compareRows, editionId, formatReference,
  idsOfLayers, isAdministrative, isLayer, isTileId, layerId, layerRange,
  limitsId, manifestId, parseDocumentId, parseReference,
  parseTileId, parseTilePath, pastRange, removedId, styleId, tileId, versionId, workId
} from '../../core/index.js'
import { catalogue } from '../../core/errors.js'
import { codeOf, layer, refusesAll, tile, time } from '../support/samples.js'

const sign = Math.sign
const T = '2024-03-01T00:00:00Z'

describe('ids', () => {
  it('have a fixed form for each kind of document', () => {
    assert.equal(tileId('osm', 10, 300, 412), 'osm:10:300:412')
    assert.equal(versionId('osm', 10, 300, 412, '2023-06-01T00:00:00Z'), 'osm:10:300:412@2023-06-01T00:00:00Z')
    assert.equal(layerId('osm'), 'layer:osm')
    assert.equal(editionId('osm', '2024-03-01T00:00:00Z'), 'edition:osm@2024-03-01T00:00:00Z')
    assert.equal(styleId('osm', '2024-03-01T00:00:00Z'), 'style:osm@2024-03-01T00:00:00Z')
    assert.deepEqual(parseDocumentId('style:osm@2024-03-01T00:00:00Z'),
      { kind: 'style', layer: 'osm', time: '2024-03-01T00:00:00Z' })
    for (const id of ['style:osm', 'style:osm@2024', 'style:1:0:0', 'style:layer@2024-03-01T00:00:00Z']) {
      assert.equal(parseDocumentId(id), undefined, id)
    }
  })

  it('tell administrative documents from tiles of a layer named work or token', () => {
    for (const id of [workId('20240301T101500123-4f9k'), 'activity:20240301T101500123-4f9k', 'token:x_-5', 'work:']) {
      assert.equal(isAdministrative(id), id !== 'work:', id)
    }
    for (const id of ['work:3:1:2', 'token:3:1:2@2024-03-01T00:00:00Z',
      'layer:work', 'edition:work@2024-03-01T00:00:00Z', 'osm:3:1:2', 'tilecouch', 'workshop:5']) {
      assert.equal(isAdministrative(id), false, id)
    }
    assert.equal(parseDocumentId(workId('20240301T101500123-4f9k')), undefined, 'it belongs to no layer')
  })

  it('are parsed into the parts they were made from', () => {
    fc.assert(fc.property(layer, tile, time, (name, [z, x, y], t) => {
      assert.deepEqual(parseTileId(tileId(name, z, x, y)), { layer: name, z, x, y })
      assert.deepEqual(parseTileId(versionId(name, z, x, y, t)), { layer: name, z, x, y, time: t })
    }))
  })

  it('are parsed only in the form in which they are written', () => {
    fc.assert(fc.property(fc.stringMatching(/^[a-z0-9_:@.TZ-]{0,20}$/), text => {
      if (!isTileId(text)) return
      const { layer: name, z, x, y, time: t } = parseTileId(text)
      assert.equal(t ? versionId(name, z, x, y, t) : tileId(name, z, x, y), text)
    }), { numRuns: 1000 })
  })

  it('are refused when they are not the ids of tiles', () => {
    refusesAll(parseTileId, [
      '', 'osm', 'osm:1:1', 'osm:1:1:1:1', 'osm:01:0:0', 'osm:1:00:0',
      'osm:1:0:0x', ' osm:1:0:0', 'osm:1:0:0 ', 'osm:1:0:0\n', 'osm:1:-1:0',
      'osm:1:2:0', 'osm:1:0:2', 'osm:31:0:0', 'osm:1:1e0:0', 'OSM:1:0:0',
      'layer:1:0:0', 'edition:1:0:0', '_design/x:1:0:0',
      'osm:1:0:0@', 'osm:1:0:0@2024', 'osm:1:0:0@2024-02-30T00:00:00Z', 'osm:1:0:0@2024-01-01T00:00:00z', 'layer:osm'
    ], 'BAD_ID')
    assert.equal(isTileId(undefined), false)
    assert.equal(isTileId('osm:1:1:1'), true)
  })

  it('sort the head before its past, and the past by time', () => {
    fc.assert(fc.property(tile, time, time, ([z, x, y], a, b) => {
      const head = tileId('osm', z, x, y)
      assert.equal(compareIds(head, versionId('osm', z, x, y, a)), -1)
      assert.equal(compareIds(versionId('osm', z, x, y, a), versionId('osm', z, x, y, b)), compareIds(a, b))
    }))
  })

  it('sort a tile with its past before the next tile, unless the next id starts with its id', () => {
    fc.assert(fc.property(tile, fc.nat(), time, ([z, x, y], otherRow, t) => {
      const [head, next] = [tileId('osm', z, x, y), tileId('osm', z, x, otherRow % 2 ** z)].sort(compareIds)
      if (head === next || next.startsWith(head)) return
      assert.equal(compareIds(`${head}@${t}`, next), -1)
    }))
  })

  it('of the past of a tile lie in a range without any other ids', () => {
    fc.assert(fc.property(tile, tile, time, ([z, x, y], [oz, ox, oy], t) => {
      const { startkey, endkey } = pastRange(tileId('osm', z, x, y))
      const isInside = id => compareIds(startkey, id) <= 0 && compareIds(id, endkey) <= 0
      assert.ok(isInside(versionId('osm', z, x, y, t)))
      assert.ok(!isInside(tileId('osm', z, x, y)), 'the head stands before it')
      if (oz === z && ox === x && oy === y) return
      assert.ok(!isInside(versionId('osm', oz, ox, oy, t)) && !isInside(tileId('osm', oz, ox, oy)))
    }))
    const { startkey, endkey } = pastRange('osm:10:3:4')
    for (const id of ['osm:10:3:4', 'osm:10:3:40', 'osm:10:3:40@2024-01-01T00:00:00Z', 'osm:10:3:41']) {
      assert.ok(id < startkey || id > endkey, id)
    }
  })

  it('lie in the range of their layer, and in the range of no other layer', () => {
    fc.assert(fc.property(layer, layer, tile, time, (name, otherLayer, [z, x, y], t) => {
      const { startkey, endkey } = layerRange(name)
      for (const id of [tileId(otherLayer, z, x, y), versionId(otherLayer, z, x, y, t)]) {
        assert.equal(compareIds(startkey, id) <= 0 && compareIds(id, endkey) <= 0, name === otherLayer, id)
      }
    }))
    const { startkey, endkey } = layerRange('osm')
    for (const id of ['osm', 'osm-2:0:0:0', 'osm2:0:0:0', 'osm_:0:0:0', 'layer:osm']) {
      assert.ok(id < startkey || id > endkey, id)
    }
  })

  it('have the same order when their numbers are compared one by one', () => {
    fc.assert(fc.property(tile, tile, ([z1, x1, y1], [z2, x2, y2]) => {
      const order = sign(compareIds(tileId('osm', z1, x1, y1), tileId('osm', z2, x2, y2)))
      assert.equal(sign(compareInner(z1, z2) || compareInner(x1, x2) || compareRows(y1, y2)), order)
    }))
    const numbers = [...Array(130).keys(), 999, 1000, 1001]
    for (const a of numbers) {
      for (const b of numbers) {
        assert.equal(sign(compareInner(a, b)), sign(compareIds(`osm:9:${a}:0`, `osm:9:${b}:0`)),
          `columns ${a} and ${b}`)
        assert.equal(sign(compareRows(a, b)), sign(compareIds(`osm:9:0:${a}`, `osm:9:0:${b}`)), `rows ${a} and ${b}`)
      }
    }
    assert.deepEqual([1, 2, 10, 11, 3].sort(compareInner), [10, 11, 1, 2, 3])
    assert.deepEqual([1, 2, 10, 11, 3].sort(compareRows), [1, 10, 11, 2, 3])
  })
})

describe('layer names', () => {
  it('are 1 to 63 characters of a-z, 0-9, _ and -, but not layer or edition', () => {
    for (const name of ['a', '0', 'osm', 'osm-2024_v1', 'layers', 'a'.repeat(63)]) assert.equal(checkLayer(name), name)
    refusesAll(checkLayer, ['', '_a', '-a', 'Osm', 'a b', 'a.b',
      'a/b', 'ä', 'a\n', 'layer', 'edition', 'a'.repeat(64), null, 3, undefined], 'BAD_LAYER')
    assert.equal(isLayer(['osm']), false, 'a list of one is not a name')
  })

  it('of new layers are not kinds of documents or db, which older layers may have', () => {
    refusesAll(checkNewLayer, ['layer', 'edition', 'tile', 'manifest',
      'block', 'removed', 'limits', 'style', 'work', 'activity', 'token', 'db', 'Osm'], 'BAD_LAYER')
    assert.equal(checkNewLayer('dbs'), 'dbs')
    for (const name of ['tile', 'manifest', 'block', 'removed', 'style', 'work', 'activity', 'token', 'db']) {
      assert.deepEqual(parseTileId(`${name}:1:0:0`).layer, checkLayer(name))
    }
    for (const name of RESERVED) {
      assert.match(catalogue.BAD_LAYER.advice ?? '', new RegExp(`\\b${name}\\b`), 'people are told')
    }
  })
})

describe('ids of the documents of some layers', () => {
  it('include every kind of document, and none of a layer with a similar name', () => {
    const layers = ['osm', '3', 'block']
    const expression = new RegExp(idsOfLayers(layers))
    const run = '20240301T101500123-4f9k'
    const idsOf = name => [
      layerId(name), editionId(name, T), styleId(name, T), manifestId(name, T, run),
      manifestId(name, T, run, 2), blockId(name, '3:1:0', 'a1_-b2c3d4e5'),
      removedId(name, run), limitsId(name), tileId(name, 3, 1, 0), versionId(name, 3, 1, 0, T)
    ]
    for (const name of ['osm', '3', 'block', 'osm2', 'os', 'manifest', '33', 'sm']) {
      for (const id of idsOf(name)) assert.equal(expression.test(id), layers.includes(name), id)
      assert.deepEqual(new Set(idsOf('osm').map(id => parseDocumentId(id)?.kind)), new Set([...LAYER_KINDS, undefined]))
    }
    for (const id of [STORE_ID, workId(run), 'token:osm', '_design/osm', 'osm', 'x:osm:3:1:0']) {
      assert.equal(expression.test(id), false, id)
    }
  })
})

describe('references', () => {
  it('are a layer, or a layer at a time as it was written', () => {
    assert.deepEqual(parseReference('osm'), { layer: 'osm' })
    assert.deepEqual(parseReference('osm@2024-03'), { layer: 'osm', time: '2024-03' })
    assert.equal(formatReference('osm'), 'osm')
    assert.equal(formatReference('osm', '2024'), 'osm@2024')
    assert.equal(codeOf(() => parseReference('osm@')), 'BAD_TIME')
    assert.equal(codeOf(() => parseReference('@2024')), 'BAD_LAYER')
    assert.equal(codeOf(() => parseReference(undefined)), 'BAD_LAYER')
  })

  it('are parsed into the parts they were made from', () => {
    fc.assert(fc.property(layer, time, (name, t) => {
      assert.deepEqual(parseReference(formatReference(name, t)), { layer: name, time: t })
    }))
  })
})

describe('tile paths', () => {
  it('are z/x/y, without leading zeros', () => {
    fc.assert(fc.property(tile, ([z, x, y]) => { assert.deepEqual(parseTilePath(`${z}/${x}/${y}`), { z, x, y }) }))
    refusesAll(parseTilePath, ['', '1/0', '1/0/0/0', '1/2/0', '1/0/2',
      '31/0/0', '1/-1/0', '1/a/0', '1/0/0.png', '01/0/0', '1/00/0', '1/0/ 0', '1/0/0\n', null], 'BAD_TILE')
  })
})
