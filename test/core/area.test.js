// Areas as polygons and boxes: the tiles that they touch, compared with a test of every single tile.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { compareInner, compareRows, parseArea, tileBounds, tileRanges } from '../../core/index.js'

const TINY = 1e-9 // degrees
const square = (w, s, e, n) => [[w, s], [e, s], [e, n], [w, n], [w, s]]
const polygon = (...rings) => ({ type: 'Polygon', coordinates: rings })
const tilesOf = (area, z) => [
  ...area.columns(z)
].flatMap(({ x, y0, y1 }) => Array.from({ length: y1 - y0 + 1 }, (_, index) => `${x}/${y0 + index}`))
const everyTile = z => Array.from({ length: 4 ** z }, (_, index) => [index >> z, index & (2 ** z - 1)])

/** Whether a point is inside rings, by the even-odd rule. */
function isInside (rings, lon, lat) {
  let isOdd = false
  for (const ring of rings) {
    for (let index = 1; index < ring.length; index++) {
      const [[ax, ay], [bx, by]] = [ring[index - 1], ring[index]]
      if ((ay > lat) !== (by > lat) && lon < ax + (bx - ax) * (lat - ay) / (by - ay)) isOdd = !isOdd
    }
  }
  return isOdd
}

/** Whether a line goes through the inside of a box, by clipping it (Liang and Barsky). */
function crosses ([ax, ay], [bx, by], [w, s, e, n]) {
  let [from, to] = [0, 1]
  for (const [step, room] of [[ax - bx, ax - w], [bx - ax, e - ax], [ay - by, ay - s], [by - ay, n - ay]]) {
    if (step === 0 && room <= 0) return false
    if (step < 0) from = Math.max(from, room / step)
    if (step > 0) to = Math.min(to, room / step)
  }
  return from < to
}

/**
 * The tiles that polygons touch, found by testing each tile against each edge. The test uses longitude and latitude,
 * where tiles are boxes as well, so no projection is involved. `margin` degrees are taken off each side of a tile.
 */
function bruteForce (polygons, z, margin = TINY) {
  const tiles = []
  for (const [x, y] of everyTile(z)) {
    const [west, south, east, north] = tileBounds(z, x, y)
    const isTouched = polygons.some(rings => [-360, 0, 360].some(turn => {
      const box = [west + turn + margin, south + margin, east + turn - margin, north - margin]
      return isInside(rings, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2) ||
        rings.some(ring => ring.slice(1).some((to, index) => crosses(ring[index], to, box)))
    }))
    if (isTouched) tiles.push(`${x}/${y}`)
  }
  return tiles
}

/**
 * Asserts that an area has all tiles that it must touch, and none that it must not. Lines that graze a corner within
 * micrometres may do either.
 */
function agrees (area, polygons, z) {
  const tiles = tilesOf(area, z)
  assert.equal(new Set(tiles).size, tiles.length, 'no tile twice')
  const columns = [...area.columns(z)]
  for (const [index, { x, y0 }] of columns.slice(1).entries()) {
    assert.ok(x > columns[index].x || y0 > columns[index].y1 + 1, 'runs stand apart')
  }
  const possibleTiles = new Set(bruteForce(polygons, z, TINY / 1000))
  for (const tile of tiles) assert.ok(possibleTiles.has(tile), `${z}/${tile} is not touched`)
  const tileSet = new Set(tiles)
  for (const tile of bruteForce(polygons, z)) assert.ok(tileSet.has(tile), `${z}/${tile} is touched`)
  return tiles
}

// millionths of a degree, and sometimes an edge or corner of a tile
const longitude = (min, max) => fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: min * 1e6, max: max * 1e6 }).map(value => value / 1e6) },
  { weight: 1, arbitrary: fc.integer({ min: Math.ceil(min / 45), max: Math.floor(max / 45) }).map(value => value * 45) }
)
const latitude = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: -90e6, max: 90e6 }).map(value => value / 1e6) },
  { weight: 1, arbitrary: fc.constantFrom(0, 90, -90, ...[1, 2, 3, 5].map(y => tileBounds(3, 0, y)[1])) })
const close = points => [...points, points[0]]
const isProper = ring => {
  const [[lon, lat]] = ring
  return ring.some(([x, y]) => ring.some(([u, v]) => Math.abs((x - lon) * (v - lat) - (y - lat) * (u - lon)) > 1e-3)) &&
    ring.some(point => Math.abs(point[1]) < 85)
}
/** Whether horizontal edges overlap. They have no inside beside them, which a test of single edges does not notice. */
const overlaps = points => {
  const flat = points.slice(1).map((to, index) => [points[index], to]).filter(([from, to]) => from[1] === to[1])
    .map(([from, to]) => [from[1], Math.min(from[0], to[0]), Math.max(from[0], to[0])])
  return flat.some(([lat, west, east], index) => flat.slice(index + 1)
    .some(edge => edge[0] === lat && edge[1] < east && edge[2] > west))
}
/** Any figure, which may cross itself. */
const ringIn = (min, max) => fc.uniqueArray(fc.tuple(longitude(min, max), latitude),
  { minLength: 3, maxLength: 9, selector: String }).map(close).filter(points => isProper(points) && !overlaps(points))
const ring = ringIn(-90, 90)
/** A star around a point, which holes of half its size fit into. */
const star = fc.tuple(longitude(-80, 80), fc.integer({ min: -60, max: 60 }),
  fc.array(fc.double({ min: 1, max: 20, noNaN: true }), { minLength: 3, maxLength: 12 }))
  .map(([lon, lat, radii]) => scale => close(radii.map((radius, index) => {
    const angle = 2 * Math.PI * index / radii.length
    return [lon + scale * radius * Math.cos(angle), lat + scale * radius * Math.sin(angle)]
  })))

describe('areas that are polygons', () => {
  it('leave out the tiles inside their holes, in either direction of the rings', () => {
    fc.assert(fc.property(star, fc.nat(5), fc.boolean(), fc.boolean(), (figure, z, turnOutline, turnHole) => {
      const rings = [figure(1), figure(0.5)]
      if (turnOutline) rings[0].reverse()
      if (turnHole) rings[1].reverse()
      agrees(parseArea({ polygon: polygon(...rings) }), [rings], z)
    }), { numRuns: 300 })
    const area = parseArea({
      polygon: polygon(
        square(-170, -80, 170, 80)
          .flatMap((point, index, points) => index ? [
            [(point[0] + points[index - 1][0]) / 2, (point[1] + points[index - 1][1]) / 2], point
          ] : [point]), square(-80, -60, 80, 60)
      )
    })
    assert.equal(area.has(3, 4, 4), false, 'in the hole')
    assert.equal(area.has(3, 0, 4), true)
  })

  it('hold exactly the tiles they touch, also when they cross themselves or overlap', () => {
    fc.assert(fc.property(fc.array(ring, { minLength: 1, maxLength: 4 }), fc.nat(5), (outlines, z) => {
      const polygons = outlines.map(outline => [outline])
      agrees(parseArea({ polygon: { type: 'MultiPolygon', coordinates: polygons } }), polygons, z)
      agrees(parseArea({ polygon: polygon(outlines[0]) }), [polygons[0]], z)
    }), { numRuns: 300 })
  })

  it('hold the same tiles in every notation for crossing the antimeridian', () => {
    fc.assert(fc.property(ringIn(100, 260), fc.nat(4), fc.constantFrom(-360, 0), (outline, z, turn) => {
      const moved = outline.map(([lon, lat]) => [lon + turn, lat])
      agrees(parseArea({ polygon: polygon(moved) }), [[outline], [moved]], z)
    }), { numRuns: 200 })
    fc.assert(fc.property(ringIn(155, 205), fc.nat(5), (outline, z) => {
      // stepping over it, as published coasts do
      const stepping = outline.map(([lon, lat]) => [lon > 180 ? lon - 360 : lon, lat])
      fc.pre([0, 1].some(axis => new Set(outline.map(position => position[axis])).size > 2))
      agrees(parseArea({ polygon: polygon(stepping) }), [[outline]], z)
    }), { numRuns: 200 })
    const fiji = { type: 'MultiPolygon', coordinates: [[square(177, -20, 180, -16)], [square(-180, -20, -178, -16)]] }
    for (const z of [0, 1, 4, 7, 9]) {
      const cut = tilesOf(parseArea({ polygon: fiji }), z)
      assert.deepEqual(tilesOf(parseArea({ polygon: polygon(square(177, -20, 182, -16)) }), z), cut)
      assert.deepEqual(tilesOf(parseArea({ polygon: polygon(square(-183, -20, -178, -16)) }), z), cut)
      assert.deepEqual(tilesOf(parseArea({ bbox: [177, -20, -178, -16] }), z), cut)
    }
    assert.deepEqual(parseArea({ polygon: fiji }).bbox, [177, -20, -178, -16])
  })

  it('take a hole that is written on the other side of the antimeridian', () => {
    const rings = [square(170, -20, 190, 20), square(-178, -5, -172, 5)]
    const area = parseArea({ polygon: polygon(...rings) })
    assert.deepEqual(tilesOf(area, 8), tilesOf(parseArea({ polygon: polygon(rings[0], square(182, -5, 188, 5)) }), 8))
    assert.equal(area.has(8, 3, 128), false, 'in the hole')
  })

  it('hold the same tiles as the box with the same corners', () => {
    fc.assert(fc.property(longitude(-90, 90), latitude, longitude(-90, 90), latitude, fc.nat(12), (a, b, c, d, z) => {
      const box = [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)]
      fc.pre(box[2] - box[0] > 1e-6 && Math.min(box[3], 85) - Math.max(box[1], -85) > 1e-6)
      const area = parseArea({ polygon: polygon(square(...box)) })
      const boxArea = parseArea({ bbox: box })
      assert.equal(area.count({ min: z, max: z }), boxArea.count({ min: z, max: z }))
      if (z < 6) assert.deepEqual(tilesOf(area, z), tilesOf(boxArea, z))
      assert.deepEqual(area.bbox, box)
    }), { numRuns: 300 })
  })

  it('hold no tiles beyond an edge of tiles on which they end, at any zoom', () => {
    const address = fc.integer({ min: 1, max: 30 })
      .chain(z => fc.tuple(fc.constant(z), fc.nat(2 ** z - 1), fc.nat(2 ** z - 1)))
    fc.assert(fc.property(address, fc.constantFrom(-1e-11, 0, 1e-11), ([z, x, y], noise) => {
      fc.pre(y > 0 && y < 2 ** z - 1) // beyond the first and last rows there is no room
      const bounds = tileBounds(z, x, y)
      assert.deepEqual([...parseArea({ polygon: polygon(square(...bounds)) }).columns(z)], [{ z, x, y0: y, y1: y }])
      const nearly = square(bounds[0] - noise, bounds[1] - noise, bounds[2] + noise, bounds[3] + noise)
      assert.deepEqual([...parseArea({ polygon: polygon(nearly) }).columns(z)],
        [{ z, x, y0: y, y1: y }], 'edges that were written with fewer digits')
      const middle = [(bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2]
      const corners = square(...bounds).map(([lon, lat]) => [(lon + middle[0]) / 2, (lat + middle[1]) / 2])
      assert.deepEqual([...parseArea({ polygon: polygon(corners) }).columns(z)], [{ z, x, y0: y, y1: y }])
    }), { numRuns: 500 })
    assert.deepEqual(
      tilesOf(parseArea({ polygon: polygon([[0, 0], [90, 0], [0, tileBounds(2, 0, 1)[3]], [0, 0]]) }), 2), ['2/1']
    )
  })

  it('hold at least one tile when they are very thin', () => {
    for (const z of [3, 12, 22, 30]) {
      const line = parseArea({ polygon: polygon([[10, 20], [10.001, 20.0000000005], [10.001, 20], [10, 20]]) })
      assert.ok(line.count({ min: z, max: z }) > 0, `zoom ${z}`)
      const onEdge = parseArea({ polygon: polygon(square(10, -1e-10, 10.001, 1e-10)) })
      assert.equal(onEdge.count({ min: z, max: z }), parseArea({ bbox: [10, 0, 10.001, 0] }).count({ min: z, max: z }),
        `on an edge of tiles, zoom ${z}`)
    }
  })

  it('end at the first and last rows of tiles', () => {
    const world = parseArea({ polygon: polygon(square(-180, -90, 180, 90)) })
    assert.equal(world.count({ min: 0, max: 5 }), 1365)
    assert.deepEqual(world.bbox, [-180, -90, 180, 90])
    const arctic = parseArea({ polygon: polygon([[0, 80], [40, 89], [80, 89], [40, 80], [0, 80]]) })
    agrees(arctic, [[[[0, 80], [40, 89], [80, 89], [40, 80], [0, 80]]]], 5)
    assert.ok(tilesOf(arctic, 5).every(tile => +tile.split('/')[1] < 4))
  })

  it('have the smallest box around them, over the antimeridian or not', () => {
    const span = fc.tuple(fc.integer({ min: -180, max: 179 }), fc.integer({ min: 1, max: 170 }))
    fc.assert(fc.property(fc.array(span, { minLength: 1, maxLength: 6 }), spans => {
      const { bbox: [west, south, east, north] } = parseArea({ polygon: {
        type: 'MultiPolygon', coordinates: spans.map(([from, width]) => [square(from, -10, from + width, 20)])
      } })
      const covered = Array.from({ length: 360 },
        (_, degree) => spans.some(([from, width]) => (degree - 180 - from + 360) % 360 < width))
      const inBox =
        covered.map((_, degree) => east - west === 360 || (degree - 180 - west + 360) % 360 < (east - west + 360) % 360)
      for (const [degree, isCovered] of covered.entries()) {
        assert.ok(inBox[degree] || !isCovered, `${degree - 180} is in ${west}, ${east}`)
      }
      const circle = [...covered, ...covered].map(isCovered => isCovered ? '#' : ' ').join('')
      const gap = Math.min(360, Math.max(0, ...(circle.match(/ +/g) ?? []).map(text => text.length)))
      assert.equal(inBox.filter(Boolean).length, 360 - gap)
      assert.deepEqual([south, north], [-10, 20])
      assert.ok(west >= -180 && west < 180 && east > -180 && east <= 180)
    }), { numRuns: 500 })
  })

  it('hold no tiles along an edge that goes there and back', () => {
    const spike = [[0, 0], [10, 0], [10, 10], [60, 10], [10, 10], [0, 10], [0, 0]]
    assert.deepEqual(tilesOf(parseArea({ polygon: polygon(spike) }), 5),
      tilesOf(parseArea({ polygon: polygon(square(0, 0, 10, 10)) }), 5))
  })
})

describe('areas of any kind', () => {
  const anyArea = fc.oneof(
    ring.map(outline => parseArea({ polygon: polygon(outline) })),
    fc.tuple(longitude(-180, 180), latitude, longitude(-180, 180), latitude)
      .map(([w, a, e, b]) => parseArea({ bbox: [w, Math.min(a, b), e, Math.max(a, b)] })),
    fc.tuple(ring, longitude(-180, 180), latitude, longitude(-180, 180), latitude)
      .map(([outline, w, a, e, b]) =>
        parseArea({ polygon: polygon(outline), bbox: [w, Math.min(a, b), e, Math.max(a, b)] }))
  )

  it('walk their tiles in the order of ids', () => {
    fc.assert(fc.property(anyArea, fc.nat(7), (area, z) => {
      const walked = [...area.tiles(z)]
      const sorted = [
        ...area.columns(z)
      ].flatMap(({ x, y0, y1 }) => Array.from({ length: y1 - y0 + 1 }, (_, index) => ({ z, x, y: y0 + index })))
        .sort((a, b) => compareInner(a.x, b.x) || compareRows(a.y, b.y))
      assert.deepEqual(walked, sorted)
    }), { numRuns: 150 })
    const ids = [...parseArea({ bbox: [-180, 0, 180, 5] }).tiles(9)].map(({ z, x, y }) => `osm:${z}:${x}:${y}`)
    assert.deepEqual(ids, [...ids].sort())
  })

  it('count and recognize exactly the tiles of their columns', () => {
    fc.assert(fc.property(anyArea, fc.nat(4), (area, z) => {
      const tiles = new Set(tilesOf(area, z))
      assert.equal(area.count({ min: z, max: z }), tiles.size)
      for (const [x, y] of everyTile(z)) assert.equal(area.has(z, x, y), tiles.has(`${x}/${y}`), `${z}/${x}/${y}`)
    }), { numRuns: 150 })
    const area = parseArea({ bbox: [-180, -90, 180, 90] })
    for (const tile of [[-1, 0, 0], [31, 0, 0], [2, 4, 0], [2, 0, 4],
      [2, 0, -1], [2, 0.5, 0], [2, 0, 0.5], ['2', 0, 0], [2, NaN, 0], []]) {
      assert.equal(area.has(...tile), false, JSON.stringify(tile))
    }
  })

  it('can be cut to a box', () => {
    const anyLongitude = longitude(-180, 180)
    const anyCorners = fc.tuple(anyLongitude, latitude, anyLongitude, latitude)
    fc.assert(fc.property(anyArea, anyCorners, fc.nat(4), (area, [w, a, e, b], z) => {
      const box = [w, Math.min(a, b), e, Math.max(a, b)]
      const ranges = tileRanges(box, z)
      const inBox = everyTile(z)
        .filter(([x, y]) => ranges.some(range => x >= range.x0 && x <= range.x1 && y >= range.y0 && y <= range.y1))
          .map(tile => tile.join('/'))
      const areaTiles = new Set(tilesOf(area, z))
      assert.deepEqual(tilesOf(area.within(box), z).sort(), inBox.filter(tile => areaTiles.has(tile)).sort())
      assert.equal(area.within(box).count({ min: z, max: z }), tilesOf(area.within(box), z).length)
    }), { numRuns: 150 })
  })

  it('are counted and walked at deep zooms without a list of tiles in memory', () => {
    assert.equal(parseArea({ bbox: [-180, -90, 180, 90] }).count({ min: 26, max: 26 }), 2 ** 52)
    const [first] = parseArea({ bbox: [90, -90, 180, 90] }).tiles(30)
    assert.deepEqual(first, { z: 30, x: 1000000000, y: 0 }, 'the first of a thousand million columns')
    const triangle = parseArea({ polygon: polygon([[0, 0], [1, 0], [0, 1], [0, 0]]) })
    const before = process.memoryUsage().heapUsed
    const count = triangle.count({ min: 24, max: 24 })
    assert.ok(Math.abs(count - 0.5 * (2 ** 24 / 360) ** 2) < 1e-3 * count, `${count} tiles`)
    let walked = 0
    for (const tile of triangle.tiles(24)) if (tile && ++walked === 100000) break
    assert.ok(process.memoryUsage().heapUsed - before < 50e6)
  })

  it('have equal keys only when they are the same area', () => {
    const corner = size => ({ type: 'Polygon', coordinates: [[[0, 0], [size, 0], [size, 10], [0, 10], [0, 0]]] })
    const notched = { type: 'Polygon', coordinates: [[[0, 0], [10, 0], [5, 5], [10, 10], [0, 10], [0, 0]]] }
    const keys = [{ bbox: '0,0,10,10' }, { bbox: '0,0,10,11' }, { polygon: corner(10) },
      { polygon: notched }, { polygon: corner(10), bbox: '0,0,5,5' }].map(spec => parseArea(spec).key)
    assert.equal(new Set(keys).size, keys.length)
    assert.deepEqual(parseArea({ polygon: notched }).bbox, parseArea({ polygon: corner(10) }).bbox)
    assert.equal(parseArea({ polygon: notched }).key, parseArea({ polygon: structuredClone(notched) }).key)
    assert.equal(parseArea({ polygon: notched }).within([0, 0, 5, 5]).key,
      parseArea({ polygon: notched, bbox: '0,0,5,5' }).key)
  })
})
