// Areas as GeoJSON: the forms that are accepted, and those that are refused.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { feature as feature110 } from 'topojson-client'
import { parseArea, tileAt } from '../../core/index.js'
import { codeOf } from '../support/samples.js'

const square = (w, s, e, n) => [[w, s], [e, s], [e, n], [w, n], [w, s]]
const polygon = (...rings) => ({ type: 'Polygon', coordinates: rings })
const feature = geometry => ({ type: 'Feature', properties: {}, geometry })
const collection = (...features) => ({ type: 'FeatureCollection', features })
const BOX = polygon(square(0, 0, 10, 10))
const columns = object => [...parseArea({ polygon: object }).columns(6)]

describe('areas in GeoJSON', () => {
  const equalForms = {
    'a feature': feature(BOX),
    'a multipolygon of one': { type: 'MultiPolygon', coordinates: [BOX.coordinates] },
    'a collection of features': collection(feature(BOX)),
    'a collection with empty features': collection(feature(null),
      feature(BOX), feature({ type: 'MultiPolygon', coordinates: [] }), feature(polygon())),
    'a collection of geometries': { type: 'GeometryCollection', geometries: [BOX] },
    'a collection of collections': collection(feature({ type: 'GeometryCollection', geometries: [BOX] }),
      collection(feature(BOX))),
    'two halves': collection(feature(polygon(square(0, 0, 5, 10))), feature(polygon(square(5, 0, 10, 10)))),
    'a ring in the other direction': polygon([...BOX.coordinates[0]].reverse()),
    'positions with a height': polygon(square(0, 0, 10, 10).map(position => [...position, 431])),
    'a ring with repeated points': polygon(square(0, 0, 10, 10).flatMap(position => [position, position])),
    'a collapsed island among others': {
      type: 'MultiPolygon', coordinates: [BOX.coordinates, [[[40, 40], [41, 41], [40, 40], [40, 40]]]]
    },
    'a hole without an inside': polygon(square(0, 0, 10, 10), [[2, 2], [4, 4], [3, 3], [2, 2]]),
    'a hole elsewhere without an inside': polygon(square(0, 0, 10, 10), [[20, 20], [40, 40], [30, 30], [20, 20]]),
    'a polygon that names the default coordinate system': {
      ...BOX, crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } }
    },
    'a polygon with unknown members': { ...BOX, id: 7, bbox: [1, 2, 3, 4], foreign: { members: true } },
    'a box one world to the east': polygon(square(360, 0, 370, 10)),
    'a box one world to the west': polygon(square(-360, 0, -350, 10))
  }
  for (const [form, object] of Object.entries(equalForms)) {
    it(`may be ${form}`, () => { assert.deepEqual(columns(object), columns(BOX)) })
  }

  const refused = {
    'null': [null, /the GeoJSON is null/],
    'a text': ['POLYGON((0 0, 1 1))', /not an object/],
    'a list': [[BOX], /not an object/],
    'an object without a type': [{ hello: 1 }, /of type undefined/],
    'TopoJSON': [{ type: 'Topology', objects: {} }, /of type "Topology"/],
    'a point': [{ type: 'Point', coordinates: [0, 0] }, /of type "Point", which has no inside/],
    'a line': [feature({ type: 'LineString', coordinates: square(0, 0, 1, 1) }),
      /geometry of the GeoJSON is of type "LineString"/],
    'a point among polygons': [collection(feature(BOX), feature({ type: 'Point', coordinates: [0, 0] })),
      /feature 2 of the GeoJSON/],
    'a feature without a geometry member': [{ type: 'Feature' }, /geometry of the GeoJSON is undefined/],
    'a collection without features': [{ type: 'FeatureCollection' }, /no list of features/],
    'an empty collection': [collection(), /has no polygon/],
    'only features that are nowhere': [collection(feature(null)), /has no polygon/],
    'an empty polygon': [polygon(), /has no polygon/],
    'a polygon without coordinates': [{ type: 'Polygon' }, /no coordinates/],
    'a multipolygon without coordinates': [{ type: 'MultiPolygon', coordinates: {} }, /no coordinates/],
    'a polygon as flat as a ring': [polygon(...square(0, 0, 1, 1)), /ring 1 of the GeoJSON has 2 positions/],
    'a ring that is a text': [polygon('ring'), /ring 1 of the GeoJSON is "ring"/],
    'a ring of three positions': [polygon([[0, 0], [1, 1], [0, 0]]), /3 positions.*at least 4/],
    'an open ring': [polygon([[0, 0], [1, 0], [1, 1], [0, 1]]), /not closed: it starts at \[0,0\] and ends at \[0,1\]/],
    'an open hole': [polygon(square(0, 0, 10, 10), [[1, 1], [2, 1], [2, 2], [1, 2]]),
      /ring 2 of the GeoJSON is not closed/],
    'a ring with texts for numbers': [polygon([['0', '0'], ['1', '0'], ['1', '1'], ['0', '0']]),
      /position 1 of ring 1 .* not \[longitude, latitude\]/],
    'a ring with positions of one number': [polygon([[0], [1], [2], [0]]), /not \[longitude, latitude\]/],
    'a ring with null for a number': [polygon([[0, 0], [null, 0], [1, 1], [0, 0]]), /position 2 of ring 1/],
    'a polygon in metres': [polygon(square(1113194, 5e6, 1113195, 6e6)), /latitude 5000000: .* in degrees/],
    'a polygon far beyond 180 degrees': [polygon(square(1000, 0, 1001, 1)), /longitude 1000/],
    'a latitude beyond the pole': [polygon(square(0, 80, 10, 90.5)), /latitude 90.5/],
    'another coordinate system': [{ ...BOX, crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::3857' } } },
      /EPSG::3857/],
    'a member with another system': [collection(feature({ ...BOX, crs: { type: 'link' } })), /coordinate system is/],
    'a ring along one line': [polygon([[0, 0], [5, 5], [10, 10], [0, 0]]), /no inside: its points lie on one line/],
    'a ring that repeats one point': [polygon([[3, 3], [3, 3], [3, 3], [3, 3]]), /no inside/],
    'a polygon that its hole covers': [polygon(square(0, 0, 1, 1), square(0, 0, 1, 1)), /it has no inside/],
    'a ring whose edges all go there and back': [
      polygon([[0, 0], [10, 10], [0, 0], [10, 0], [0, 0]]), /it has no inside/
    ],
    'a polygon beyond the last row of tiles': [polygon(square(0, 86, 10, 89)), /beyond latitude 85\.05/],
    'a rectangle that may go either way round': [polygon(square(-170, -20, 170, 20)),
      /goes from -170 to 170: write -190 for 170 if it crosses the antimeridian, or add a point between/],
    'such a rectangle, reversed': [polygon(square(170, -20, -170, 20)), /goes from 170 to -170: write 190 for -170/],
    'a ring wider than the world': [
      polygon([[-190, 0], [-20, 0], [150, 0], [200, 0], [200, 10], [150, 10], [-20, 10], [-190, 10], [-190, 0]]),
      /wider than the world: -190 to 200/
    ],
    'a ring with a step of more than the world': [polygon(square(-200, 0, 200, 10)), /goes from -200 to 200/],
    'a ring with a step of more than half the world': [polygon([[-120, 0], [120, 0], [0, 50], [-120, 0]]),
      /goes from -120 to 120: write -240 for 120/]
  }
  for (const [form, [object, message]] of Object.entries(refused)) {
    it(`may not be ${form}`, () => {
      assert.throws(() => parseArea({ polygon: object }), { code: 'BAD_AREA', message })
    })
  }

  it('is refused when collections are nested too deep', () => {
    let deep = feature(BOX)
    for (let depth = 0; depth < 20000; depth++) deep = collection(deep)
    assert.equal(codeOf(() => parseArea({ polygon: deep })), 'BAD_AREA')
  })

  it('is refused when it is nested too deep to be shown', () => {
    const deep = JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))
    for (const object of [deep, { type: deep }, { type: 'Polygon', coordinates: deep },
      { type: 'Polygon', coordinates: [[deep, 1, 2, 3]] }, { ...BOX, crs: deep }]) {
      assert.equal(codeOf(() => parseArea({ polygon: object })), 'BAD_AREA')
    }
  })

  it('is refused with a short message when its text is very long', () => {
    assert.throws(() => parseArea({ polygon: polygon('x'.repeat(1e6)) }), error => error.message.length < 300)
  })

  it('is refused without a polygon or a box, or with a bad box', () => {
    assert.equal(codeOf(() => parseArea({})), 'BAD_AREA')
    assert.equal(codeOf(() => parseArea({ bbox: '1,2,3' })), 'BAD_BBOX')
    assert.equal(codeOf(() => parseArea({ bbox: '1,2,3', polygon: BOX })), 'BAD_BBOX')
  })

  it('may step over the antimeridian, as published coasts do', () => {
    const outline = [[178, -20], [179, -15], [-178, -17], [-179, -21], [178, -20]]
    const unwrapped = outline.map(([lon, lat]) => [lon < 0 ? lon + 360 : lon, lat])
    assert.deepEqual(columns(polygon(outline)), columns(polygon(unwrapped)))
    assert.deepEqual(columns(polygon([...outline].reverse())), columns(polygon(unwrapped)))
    assert.deepEqual(columns(polygon([[178, -20], [180, -15], [-180, -15], [-178, -17], [-179, -21], [178, -20]])),
      columns(polygon([[178, -20], [180, -15], [182, -17], [181, -21], [178, -20]])))
    assert.deepEqual(parseArea({ polygon: polygon(outline) }).bbox, [178, -21, -178, -15])
  })

  it('may enclose a pole', () => {
    const coast = [[-170, -70], [-60, -65], [60, -70], [170, -66], [-170, -70]]
    const withPole = [...coast.slice(0, 4), [190, -70], [190, -90], [10, -90], [-170, -90], [-170, -70]]
    assert.deepEqual(columns(polygon(coast)), columns(polygon(withPole)))
    assert.deepEqual(columns(polygon([...coast].reverse())), columns(polygon(withPole)))
    const area = parseArea({ polygon: polygon(coast) })
    for (let x = 0; x < 64; x++) assert.ok(area.has(6, x, 63))
    assert.ok(!area.has(6, 30, 40))
    const arctic = parseArea({ polygon: polygon(coast.map(([lon, lat]) => [lon, -lat])) })
    assert.ok(arctic.has(6, 5, 0) && !arctic.has(6, 5, 63))
  })

  it('may be the land of the world, without the seas', () => {
    const topology =
      JSON.parse(readFileSync(new URL('../../node_modules/world-atlas/land-110m.json', import.meta.url), 'utf8'))
    const land = parseArea({ polygon: feature110(topology, topology.objects.land) })
    const isLand = (lon, lat) => { const { z, x, y } = tileAt(lon, lat, 7); return land.has(z, x, y) }
    for (const [lon, lat] of [[10, 50], [-100, 40], [133, -25], [0, -80], [-170, -84],
      [100, -80], [175, 67], [-175, 66.5], [45, -70], [100, 60]]) assert.ok(isLand(lon, lat), `land at ${lon}, ${lat}`)
    for (const [lon, lat] of [[-30, 40], [-150, 0], [80, -30], [170, 50], [-170, 20], [0, 75], [-120, -60]]) {
      assert.ok(!isLand(lon, lat), `sea at ${lon}, ${lat}`)
    }
  })

  it('may have a ring of a hundred thousand points', () => {
    const coast = Array.from({ length: 100000 }, (_, index) => {
      const angle = 2 * Math.PI * index / 100000
      const radius = 20 + Math.sin(angle * 300)
      return [radius * Math.cos(angle), radius * Math.sin(angle)]
    })
    const area = parseArea({ polygon: polygon([...coast, coast[0]]) })
    assert.ok(area.count({ min: 0, max: 10 }) > 5000)
    assert.equal(area.has(10, 512, 512), true)
  })
})
