// The differences between the features of vector tiles of two times, and the canonical text of a vector tile.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { xToLon, yToLat } from '../../core/index.js'
import { FeatureDiff, canonicalText, unzipTile } from '../../core/features.js'
import { encodeTile } from '../support/vector-tile.js'

// a view of 3 x 3 tiles of zoom 4, of 64 units with a margin of 8
const [Z, X, Y, SIDE, EXTENT, MARGIN] = [4, 5, 6, 3, 64, 8]
const WIDTH = SIDE * EXTENT
const tiles = Array.from({ length: SIDE * SIDE }, (_, i) => ({ z: Z, x: X + i % SIDE, y: Y + Math.floor(i / SIDE) }))

/**
 * Cuts a feature of the model to a tile. A feature has one or two boxes in units of the view, with both ends included,
 * all of one kind of geometry.
 */
function cut ({ id, boxes, type, kind }, { x, y }) {
  const [left, top] = [(x - X) * EXTENT, (y - Y) * EXTENT]
  const clip = (value, from) => Math.min(Math.max(value - from, -MARGIN), EXTENT + MARGIN)
  const lines = boxes.flatMap(([x1, y1, x2, y2]) => {
    const [a, b, c, d] = [clip(x1, left), clip(y1, top), clip(x2, left), clip(y2, top)]
    const isOutside = x2 - left < -MARGIN || x1 - left >= EXTENT + MARGIN ||
      y2 - top < -MARGIN || y1 - top >= EXTENT + MARGIN
    if (isOutside) return []
    const lineOfType = { Point: [[a, b]], LineString: [[a, b], [c, d]], Polygon: [[a, b], [c, b], [c, d], [a, d]] }
    return [lineOfType[type]]
  })
  return lines.length ? { id, type, lines, properties: { kind } } : undefined
}

function encode (features, tile, other) {
  const cutOut = features.map(feature => cut(feature, tile)).filter(Boolean)
  return cutOut.length ? encodeTile({ things: cutOut }, { extent: EXTENT, other }) : undefined
}

const coordinate = fc.integer({ min: 0, max: WIDTH - 1 })
const kinds = fc.constantFrom('a', 'b', 'c')
const features = fc.record({
  id: fc.integer({ min: 1, max: 12 }),
  type: fc.constantFrom('Point', 'LineString', 'Polygon'),
  boxes: fc.array(fc.tuple(coordinate, coordinate, coordinate, coordinate), { minLength: 1, maxLength: 2 }),
  kind: kinds
}).map(({ type, boxes, ...fields }) => ({
  ...fields,
  type,
  boxes: boxes.map(([a, b, c, d]) => type === 'Point'
    ? [a, b, a, b] : [Math.min(a, c), Math.min(b, d), Math.max(a, c) + 1, Math.max(b, d) + 1])
}))
const withIds = fc.uniqueArray(features, { selector: ({ id }) => id, maxLength: 10 })
const mirrored = ([x1, y1, x2, y2]) => [x2, y2, x1, y1].map(value => WIDTH - value)
// two times: some features stay, some lose a part or get that of another, some go or come
const fates = fc.array(fc.constantFrom('stay', 'part', 'kind', 'go'), { minLength: 12, maxLength: 12 })
const twoTimes = fc.tuple(withIds, withIds, fates).map(([before, otherFeatures, fate]) => {
  const keptFeatures = before.filter(({ id }) => fate[id - 1] !== 'go').map(item => {
    if (fate[item.id - 1] === 'part') {
      return { ...item, boxes: item.boxes.length > 1 ? item.boxes.slice(1) : [item.boxes[0], mirrored(item.boxes[0])] }
    }
    return fate[item.id - 1] === 'kind' ? { ...item, kind: 'd' } : item
  })
  return [before, [...keptFeatures, ...otherFeatures.filter(({ id }) => !before.some(item => item.id === id))]]
})

const text = value => JSON.stringify(value)

describe('differences of features', () => {
  it('agree with a model for features with ids that lie in several tiles', () => {
    fc.assert(fc.property(twoTimes, ([before, after]) => {
      const expected = {}
      for (let id = 1; id <= 12; id++) {
        const [old, now] = [before, after].map(list => list.find(item => item.id === id))
        if (text(old) !== text(now)) {
          const removedOrChanged = now ? 'changed' : 'removed'
          expected[id] = [old ? removedOrChanged : 'added', (now ?? old).kind, old && now ? old.kind : undefined]
        }
      }
      const differ = new FeatureDiff()
      for (const tile of tiles) {
        const bytes = encode(before, tile)
        const isSame = text(before.map(item => cut(item, tile))) === text(after.map(item => cut(item, tile)))
        differ.add(tile, bytes, isSame ? bytes : encode(after, tile, true))
      }
      const changes = Object.fromEntries([
        ...differ.features()
      ].map(({ id, properties }) => [id, [properties.change, properties.kind, properties.before?.kind]]))
      assert.deepEqual(changes, expected)
    }), { seed: 21, numRuns: 400 })
  })

  it('agree with a model for features without ids that neighbouring tiles repeat', () => {
    const points = fc.array(fc.record(
      { at: fc.constantFrom([1, 1], [60, 60], [63, 70], [64, 64], [100, 3], [127, 127], [130, 64]), kind: kinds }
    ), { maxLength: 12 })
    fc.assert(fc.property(points, points, (before, after) => {
      const boxed = list => list.map(({ at: [x, y], kind }) => ({ boxes: [[x, y, x, y]], type: 'Point', kind }))
      // at each place, equal points cancel out, and as many of the others as possible are changed
      const expected = []
      for (const place of new Set([...before, ...after].map(({ at }) => text(at)))) {
        const [olds, news] =
          [before, after].map(list => list.filter(({ at }) => text(at) === place).map(({ kind }) => kind))
        for (const kind of [...olds]) if (news.includes(kind)) {
          [olds, news].forEach(list => list.splice(list.indexOf(kind), 1))
        }
        const changed = Math.min(olds.length, news.length)
        expected.push(...Array(changed).fill('changed'), ...Array(olds.length - changed).fill('removed'),
          ...Array(news.length - changed).fill('added'))
      }
      const differ = new FeatureDiff()
      for (const tile of tiles) differ.add(tile, encode(boxed(before), tile), encode(boxed(after), tile, true))
      assert.deepEqual([...differ.features()].map(({ properties }) => properties.change).sort(), expected.sort())
    }), { seed: 22, numRuns: 400 })
  })

  const point =
    (id, x, properties = {}) => ({ ...(id !== undefined && { id }), type: 'Point', lines: [[[x, 10]]], properties })
  const compare = (before, after, options) => {
    const differ = new FeatureDiff(options)
    differ.add({ z: 0, x: 0, y: 0 }, before && encodeTile(before), after && encodeTile(after))
    return [...differ.features()]
  }

  it('are GeoJSON with the attributes of both times', () => {
    const line = { id: 7, type: 'LineString', lines: [[[0, 2048], [2048, 2048]]] }
    const [feature, ...otherFeatures] = compare({ roads: [{ ...line, properties: { name: 'A1', lanes: 2 } }] },
      { roads: [{ ...line, properties: { name: 'A1', lanes: 3, toll: true } }] })
    assert.deepEqual(feature, {
      type: 'Feature', id: 7,
      properties: {
        name: 'A1', lanes: 3, toll: true, change: 'changed', source_layer: 'roads', before: { name: 'A1', lanes: 2 }
      },
      geometry: { type: 'LineString', coordinates: [[-180, 0], [0, 0]] }
    })
    assert.deepEqual(otherFeatures, [])
    const [road] = compare(undefined, { roads: [point(1, 5, { change: 'x', before: 'y', source_layer: 'z' })] })
    assert.deepEqual(road.properties, {
      change: 'added', source_layer: 'roads', _change: 'x', _before: 'y', _source_layer: 'z'
    }, 'attributes of these names are kept')
  })

  it('wind polygons as RFC 7946 does, and join the parts of all tiles in one geometry', () => {
    const ring = (from, to) => [[from, from], [to, from], [to, to], [from, to]]
    const lake = { id: 3, type: 'Polygon', lines: [ring(0, 64), ring(16, 32).reverse()] }
    const differ = new FeatureDiff()
    differ.add({ z: 1, x: 0, y: 0 }, undefined, encodeTile({ water: [lake] }, { extent: 64 }))
    differ.add({ z: 1, x: 1, y: 0 }, undefined, encodeTile({ water: [lake] }, { extent: 64 }))
    const [{ geometry }] = [...differ.features()]
    assert.equal(geometry.type, 'MultiPolygon')
    assert.equal(geometry.coordinates.length, 2)
    const area = points => points.reduce(
      (sum, [x, y], i) => sum + x * points[(i + 1) % points.length][1] - points[(i + 1) % points.length][0] * y, 0
    )
    for (const [outer, hole] of geometry.coordinates) assert.ok(area(outer) > 0 && area(hole) < 0)
    const [west, north] = [xToLon(0.25, 1), yToLat(0.25, 1)].map(degrees => +degrees.toFixed(9))
    assert.ok(geometry.coordinates[0][1].some(([lon, lat]) => lon === west && lat === north), 'where the hole begins')
  })

  it('do not rely on ids that a layer repeats, or that only number the features', () => {
    const repeated = compare({ poi: [point(1, 5), point(1, 9)] }, { poi: [point(1, 9), point(1, 13)] })
    assert.deepEqual(repeated.map(({ id, properties }) => [id, properties.change]),
      [[undefined, 'removed'], [undefined, 'added']])
    const [before, after] = [{ poi: [point(1, 5), point(2, 9)] }, { poi: [point(1, 3), point(2, 5), point(3, 9)] }]
    assert.equal(compare(before, after).length, 3)
    assert.deepEqual(compare(before, after, { ids: false }).map(({ properties }) => properties.change), ['added'])
  })

  it('include every feature of a layer or a tile that was added or removed', () => {
    const changesOf = list => list.map(({ properties }) => `${properties.source_layer} ${properties.change}`)
    assert.deepEqual(changesOf(compare({ a: [point(1, 5)] }, { b: [point(1, 5)] })), ['a removed', 'b added'])
    assert.deepEqual(changesOf(compare({ a: [point(1, 5)] }, undefined)), ['a removed'])
    assert.deepEqual(compare({ a: [point(1, 5)], b: [] }, { a: [point(1, 5)] }), [])
  })

  it('join the layers of a tile that have the same name', () => {
    const [tileA, tileB] = [encodeTile({ a: [point(1, 5)] }), encodeTile({ a: [point(2, 7)] })]
    const bothTiles = new Uint8Array([...tileA, ...tileB])
    const differ = new FeatureDiff()
    differ.add({ z: 0, x: 0, y: 0 }, tileA, bothTiles)
    assert.deepEqual([...differ.features()].map(({ id }) => id), [2])
    assert.notEqual(canonicalText(bothTiles), canonicalText(tileB))
    assert.equal(canonicalText(bothTiles), canonicalText(encodeTile({ a: [point(1, 5), point(2, 7)] })))
  })

  it('refuse a damaged tile', () => {
    assert.throws(
      () => new FeatureDiff().add({ z: 0, x: 0, y: 0 }, new Uint8Array([0x1a, 0x05, 0x78, 0x02, 0x12, 0x09, 0x01]))
    )
  })
})

describe('the canonical text of a vector tile', () => {
  const lists = fc.array(fc.record({
    id: fc.option(fc.integer({ min: 0, max: 2 ** 40 }), { nil: undefined }),
    type: fc.constantFrom('Point', 'LineString', 'Polygon'),
    lines: fc.array(fc.array(fc.tuple(fc.integer({ min: -99, max: 4200 }), fc.integer({ min: -99, max: 4200 })),
      { minLength: 3, maxLength: 5 }), { minLength: 1, maxLength: 3 }),
    properties: fc.dictionary(fc.constantFrom('name', 'kind', '__proto__', 'n'),
      fc.oneof(fc.string(), fc.integer({ min: 0, max: 1e6 }), fc.boolean(), fc.constantFrom(0.5, -1.25)))
  }), { maxLength: 5 })

  it('is equal for tiles with the same features in another encoding, and differs for others', () => {
    const anyLayers = fc.dictionary(fc.constantFrom('a', 'b', 'c'), lists)
    const otherLayers = fc.dictionary(fc.constantFrom('a', 'b'), lists)
    fc.assert(fc.property(anyLayers, otherLayers, (first, second) => {
      assert.equal(canonicalText(encodeTile(first)), canonicalText(encodeTile(first, { other: true })))
      assert.equal(canonicalText(encodeTile(first)) === canonicalText(encodeTile(second, { other: true })),
        meaning(first) === meaning(second))
    }), { seed: 23, numRuns: 400 })

    // The parts of tiles that must be equal in the model: for every layer with features, its polygons in order, and its
    // other features sorted. Points have no lines.
    function meaning (layers) {
      const plain = ({ id, type, lines, properties }) =>
        text([id, type, type === 'Point' ? lines.flat() : lines, Object.entries(properties).sort()])
      const isPolygon = ({ type }) => type === 'Polygon'
      const parts = list => [list.filter(isPolygon).map(plain), list.filter(item => !isPolygon(item)).map(plain).sort()]
      const filledLayers = Object.entries(layers).filter(([, list]) => list.length)
      return text(filledLayers.map(([name, list]) => [name, parts(list)]).sort())
    }
  })

  it('depends on the order of polygons, but not on that of points and lines', () => {
    const feature = (type, name) => ({ type, lines: [[[0, 0], [0, 9], [9, 9]]], properties: { name } })
    for (const [type, isSame] of [['Point', true], ['LineString', true], ['Polygon', false]]) {
      const [lake, wood] = ['lake', 'wood'].map(name => feature(type, name))
      assert.equal(canonicalText(encodeTile({ a: [lake, wood] })) === canonicalText(encodeTile({ a: [wood, lake] })),
        isSame, type)
    }
  })

  it('differs by the types of values and the extent, and is undefined for numbers beyond 2^53', () => {
    const tile = (value, extent, id) =>
      canonicalText(encodeTile({ a: [{ id, type: 'Point', lines: [[[1, 1]]], properties: { value } }] }, { extent }))
    assert.notEqual(tile(1), tile('1'))
    assert.notEqual(tile(true), tile('true'))
    assert.notEqual(tile(1), tile(1, 8192))
    assert.equal(tile(2 ** 60), undefined)
    assert.equal(tile(1, 4096, 2 ** 60), undefined)
  })
})

it('unzipTile unpacks a gzipped tile, and returns any other tile unchanged', async () => {
  const bytes = encodeTile({ a: [] })
  assert.deepEqual([await unzipTile(gzipSync(bytes)), await unzipTile(bytes)], [bytes, bytes])
})
