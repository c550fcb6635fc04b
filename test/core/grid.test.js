// The tiles of Web Mercator, the areas that hold them, and the bounds of a layer from which every tile is found.
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import fc from 'fast-check'
import {
  MAX_LATITUDE, checkTile, flipY, parseBbox, parseQuadkey, parseZooms, quadkey, tileAt, tileBounds, tileRanges
} from '../../core/index.js'
import { refusesAll, tile } from '../support/samples.js'
import { Area } from '../../core/area.js'
import { gridOf } from '../../core/grids/index.js'
import { Extent, union, widen } from '../../core/store/extent.js'

// in millionths of a degree: finer differences between edges have no meaning
const longitude = fc.integer({ min: -180e6, max: 180e6 }).map(value => value / 1e6)
const latitude = fc.integer({ min: -90e6, max: 90e6 }).map(value => value / 1e6)
/** Half of them cross the antimeridian. */
const bbox = fc.tuple(longitude, latitude, longitude, latitude)
  .map(([w, a, e, b]) => [w, Math.min(a, b), e, Math.max(a, b)])
/** Boxes whose edges lie exactly on edges of tiles, where rounding matters. */
const edgeBbox = fc.tuple(fc.nat(16), fc.nat(16), fc.nat(16), fc.nat(16)).map(([a, b, c, d]) => {
  const [, , , north] = tileBounds(4, 0, Math.min(b, d))
  const [, , , south] = tileBounds(4, 0, Math.max(b, d))
  return [a * 22.5 - 180, south, c * 22.5 - 180, north]
})

/** The tiles whose inside meets the inside of a box, found by testing each tile. */
function bruteForce ([west, south, east, north], z) {
  const tiles = []
  const meets = (w, e, [left, , right]) => left < e && right > w
  for (let x = 0; x < 2 ** z; x++) {
    for (let y = 0; y < 2 ** z; y++) {
      const bounds = tileBounds(z, x, y)
      const isBeside = west <= east ? meets(west, east, bounds) : meets(west, 180, bounds) || meets(-180, east, bounds)
      if (isBeside && bounds[1] < north && bounds[3] > south) tiles.push(`${x}/${y}`)
    }
  }
  return tiles.sort()
}

const upTo = (first, last) => Array.from({ length: last - first + 1 }, (_, index) => first + index)
const enumerate = (box, z) => tileRanges(box, z)
  .flatMap(({ x0, x1, y0, y1 }) => upTo(x0, x1).flatMap(x => upTo(y0, y1).map(y => `${x}/${y}`)))

describe('the grid', () => {
  it('puts known places into known tiles', () => {
    assert.deepEqual(tileAt(13.405, 52.52, 10), { z: 10, x: 550, y: 335 }, 'Berlin')
    assert.deepEqual(tileAt(-0.1276, 51.5072, 12), { z: 12, x: 2046, y: 1362 }, 'London')
    assert.deepEqual(tileAt(151.2093, -33.8688, 8), { z: 8, x: 235, y: 153 }, 'Sydney')
    assert.deepEqual(tileAt(0, 0, 1), { z: 1, x: 1, y: 1 }, 'a corner belongs to the tile south-east of it')
    assert.deepEqual(tileAt(180, -90, 3), { z: 3, x: 7, y: 7 }, 'the edges of the world belong to it')
    assert.deepEqual(tileAt(-180, 90, 3), { z: 3, x: 0, y: 0 })
  })

  it('finds the tile again from its middle', () => {
    fc.assert(fc.property(tile, ([z, x, y]) => {
      const [west, south, east, north] = tileBounds(z, x, y)
      assert.ok(west < east && south < north)
      assert.deepEqual(tileAt((west + east) / 2, (south + north) / 2, z), { z, x, y })
    }))
  })

  it('has the whole world in tile 0/0/0', () => {
    const [west, south, east, north] = tileBounds(0, 0, 0)
    assert.deepEqual([west, east], [-180, 180])
    assert.ok(Math.abs(north - MAX_LATITUDE) < 1e-9 && Math.abs(south + MAX_LATITUDE) < 1e-9)
  })

  it('refuses tiles outside the pyramid', () => {
    assert.deepEqual(checkTile(30, 2 ** 30 - 1, 0), { z: 30, x: 2 ** 30 - 1, y: 0 })
    refusesAll(address => checkTile(...address), [
      [-1, 0, 0], [31, 0, 0], [0, 1, 0], [0, 0, 1], [3, 8, 0], [3, 0, -1],
      [1.5, 0, 0], [3, 0.5, 0], ['3', 0, 0], [3, '0', 0], [NaN, 0, 0], [3, 0, undefined], [Infinity, 0, 0]
    ], 'BAD_TILE')
  })

  it('flips rows for TMS and back', () => {
    assert.equal(flipY(10, 335), 688)
    assert.equal(flipY(0, 0), 0)
    fc.assert(fc.property(tile, ([z, , y]) => { assert.equal(flipY(z, flipY(z, y)), y) }))
  })
})

describe('quadkeys', () => {
  it('have one digit for each zoom', () => {
    assert.equal(quadkey(3, 3, 5), '213')
    assert.equal(quadkey(0, 0, 0), '')
    assert.equal(quadkey(1, 1, 1), '3')
    assert.equal(quadkey(30, 2 ** 30 - 1, 0), '1'.repeat(30))
  })

  it('name every tile of the low zooms once, in the order of the quarters', () => {
    for (let z = 0; z <= 5; z++) {
      const keys = new Set()
      for (let x = 0; x < 2 ** z; x++) {
        for (let y = 0; y < 2 ** z; y++) {
          const key = quadkey(z, x, y)
          keys.add(key)
          assert.deepEqual(parseQuadkey(key), { z, x, y })
          if (z) assert.equal(key, quadkey(z - 1, x >> 1, y >> 1) + (x % 2 + 2 * (y % 2)))
        }
      }
      assert.equal(keys.size, 4 ** z)
    }
  })

  it('are parsed into the tile they were made from, or refused', () => {
    fc.assert(fc.property(tile, ([z, x, y]) => { assert.deepEqual(parseQuadkey(quadkey(z, x, y)), { z, x, y }) }))
    refusesAll(parseQuadkey, ['4', '0 ', 'a', '0'.repeat(31), null, 3], 'BAD_QUADKEY')
  })
})

describe('areas', () => {
  it('hold exactly the tiles they touch, at every low zoom', () => {
    fc.assert(fc.property(bbox, fc.nat(4), (box, z) => {
      fc.pre(box[1] < box[3] && (box[0] - box[2]) % 360 !== 0 && box[3] > -MAX_LATITUDE && box[1] < MAX_LATITUDE)
      assert.deepEqual(enumerate(box, z).sort(), bruteForce(box, z))
    }), { numRuns: 300 })
  })

  it('hold no tiles beyond an edge of tiles on which they end', () => {
    fc.assert(fc.property(tile, ([z, x, y]) => {
      assert.deepEqual(tileRanges(tileBounds(z, x, y), z), [{ x0: x, x1: x, y0: y, y1: y }])
    }), { numRuns: 1000 })
    assert.deepEqual(tileRanges([0, 0, 90, 66.51326044311186], 2), [{ x0: 2, x1: 2, y0: 1, y1: 1 }])
  })

  it('that are a point or a line lie in one row or column', () => {
    assert.deepEqual(tileRanges([0, 0, 0, 0], 1), [{ x0: 1, x1: 1, y0: 1, y1: 1 }])
    assert.deepEqual(tileRanges([180, -90, 180, -90], 2), [{ x0: 3, x1: 3, y0: 3, y1: 3 }])
    assert.deepEqual(tileRanges([-10, 10, 10, 10], 2), [{ x0: 1, x1: 2, y0: 1, y1: 1 }])
  })

  it('reach over the antimeridian when west is greater than east', () => {
    assert.deepEqual(tileRanges([170, -10, -170, 10], 3),
      [{ x0: 0, x1: 0, y0: 3, y1: 4 }, { x0: 7, x1: 7, y0: 3, y1: 4 }])
    assert.deepEqual(tileRanges([170, -10, -170, 10], 0), [{ x0: 0, x1: 0, y0: 0, y1: 0 }])
    assert.deepEqual(tileRanges([10, 0, 5, 10], 1), [{ x0: 0, x1: 1, y0: 0, y1: 0 }], 'nearly all the way round')
  })

  it('that end on the antimeridian hold no tiles beyond it', () => {
    for (const grid of [gridOf(), gridOf({ grid: 'WorldCRS84Quad' })]) {
      for (const z of [1, 2, 5]) {
        assert.deepEqual(grid.ranges([165, -50, -180, -30], z), grid.ranges([165, -50, 180, -30], z))
        assert.deepEqual(grid.ranges([180, -50, -170, -30], z), grid.ranges([-180, -50, -170, -30], z))
        assert.deepEqual(grid.ranges([180, -50, -180, -30], z), grid.ranges([180, -50, 180, -30], z), 'only a line')
      }
    }
  })

  it('end at the poles with the last rows', () => {
    assert.deepEqual(tileRanges([-180, -90, 180, 90], 2), [{ x0: 0, x1: 3, y0: 0, y1: 3 }])
    assert.deepEqual(tileRanges([0, 86, 1, 90], 5), [{ x0: 16, x1: 16, y0: 0, y1: 0 }])
    assert.deepEqual(tileRanges([0, -90, 1, -86], 5), [{ x0: 16, x1: 16, y0: 31, y1: 31 }])
  })

  it('hold each tile once', () => {
    fc.assert(fc.property(fc.oneof(bbox, edgeBbox), fc.nat(6), (box, z) => {
      const tiles = enumerate(box, z)
      assert.equal(new Set(tiles).size, tiles.length)
      assert.ok(tiles.length > 0, 'a box is always somewhere')
    }), { numRuns: 300 })
    assert.deepEqual(tileRanges([-180, -90, 180, 90], 26), [{ x0: 0, x1: 2 ** 26 - 1, y0: 0, y1: 2 ** 26 - 1 }])
  })
})

describe('an area or zooms as a user types them', () => {
  it('are parsed as a box of west, south, east, north', () => {
    assert.deepEqual(parseBbox('5.9,45.8,10.5,47.8'), [5.9, 45.8, 10.5, 47.8])
    assert.deepEqual(parseBbox(' 170, -10 ,-170,10'), [170, -10, -170, 10])
    assert.deepEqual(parseBbox([1, 2, 3, 4]), [1, 2, 3, 4])
    refusesAll(parseBbox,
      ['', ',,,', '1,2,3', '1,2,3,4,5', '1,2,3,x', '1,2,,4', '-181,0,0,1', '0,0,181,1', '0,-91,0,0', '0,0,0,91',
        '0,2,0,1', '0,0,0,NaN', 'Infinity,0,0,0', [1, 2, 3], ['1', '2', '3', '4'], null, undefined, 5], 'BAD_BBOX')
  })

  it('are parsed as one zoom or a range of zooms', () => {
    assert.deepEqual(parseZooms('7'), { min: 7, max: 7 })
    assert.deepEqual(parseZooms('0-14'), { min: 0, max: 14 })
    assert.deepEqual(parseZooms(30), { min: 30, max: 30 })
    assert.deepEqual(parseZooms({ min: 1, max: 2 }), { min: 1, max: 2 })
    refusesAll(parseZooms,
      ['', '-1', '31', '3-2', '1-31', '1-', 'a', '1,2', '1.5', ' 1', '100', null, undefined, {}, -1, 1.5], 'BAD_ZOOM')
  })
})

const WORLD = [-180, -85, 180, 85]
const rounded = bounds => bounds.map(Math.round)

function extentOf (...tiles) {
  const extent = new Extent()
  for (const [z, x, y] of tiles) extent.add(z, x, y)
  return extent
}

const pyramid = (z, x, y) => Array.from({ length: z + 1 }, (_, up) => [z - up, x >> up, y >> up])
const world = z => Array.from({ length: 4 ** z }, (_, i) => [z, i >> z, i & (2 ** z - 1)])

describe('the bounds of a layer', () => {
  it('cover the world when only one place has deeper tiles', () => {
    assert.deepEqual(rounded(extentOf(...world(0), ...world(1), ...world(2), ...world(5), [6, 33, 22]).bounds), WORLD)
  })

  it('are those of the finest zoom when all coarser tiles are its ancestors', () => {
    assert.deepEqual(extentOf(...pyramid(14, 8532, 5765)).bounds, tileBounds(14, 8532, 5765))
    const far = extentOf(...pyramid(10, 10, 10), ...pyramid(10, 1000, 900))
    assert.deepEqual(far.bounds, [tileBounds(10, 10, 10)[0], tileBounds(10, 1000, 900)[1],
      tileBounds(10, 1000, 900)[2], tileBounds(10, 10, 10)[3]])
  })

  it('move only on the side where tiles lie outside', () => {
    const [west, south, , north] = tileBounds(6, 33, 22)
    assert.deepEqual(extentOf([6, 33, 22], [5, 16, 11], [5, 20, 11]).bounds,
      [west, south, tileBounds(5, 20, 11)[2], north])
  })

  it('stay as they were given when all tiles touch them', () => {
    const bounds = [5.96, 45.82, 10.49, 47.81]
    assert.deepEqual(extentOf(...pyramid(8, 133, 90)).widen(bounds), bounds)
    assert.deepEqual(extentOf([0, 0, 0], [1, 1, 0]).widen(bounds), bounds, 'a load of the overviews alone')
  })

  it('over the antimeridian stay when they hold all tiles, and else span all longitudes', () => {
    const fiji = [177, -20, -178, -15]
    assert.deepEqual(extentOf([0, 0, 0], [4, 15, 8]).widen(fiji), fiji)
    assert.deepEqual(extentOf([4, 3, 8]).widen(fiji), [-180, -20, 180, -15])
    assert.deepEqual(union(fiji, [178, -16, 180, -14]), [-180, -20, 180, -14])
    assert.deepEqual(union(fiji, [176, -19, -179, -16]), [176, -20, -178, -15])
  })

  it('touch every tile, and stay when the same tiles are added again', () => {
    const shallow = fc.integer({ min: 0, max: 12 })
      .chain(z => fc.tuple(fc.constant(z), fc.nat(2 ** z - 1), fc.nat(2 ** z - 1)))
    fc.assert(fc.property(fc.array(shallow, { minLength: 1, maxLength: 12 }), fc.option(shallow, {
      nil: undefined
    }), (tiles, oldTile) => {
      const bounds = extentOf(...tiles).widen(oldTile && tileBounds(...oldTile))
      const touches = (z, x, y) => tileRanges(bounds, z).some(({ x0, x1, y0, y1 }) =>
        x >= x0 && x <= x1 && y >= y0 && y <= y1)
      for (const [z, x, y] of oldTile ? [oldTile, ...tiles] : tiles) {
        assert.ok(touches(z, x, y), `${z}/${x}/${y} of ${bounds}`)
      }
      assert.deepEqual(extentOf(...tiles).widen(bounds), bounds, 'again changes nothing')
    }))
  })

  it('in a grid of degrees are compared without walking columns, at a deep zoom', () => {
    const grid = gridOf({ grid: 'WorldCRS84Quad' })
    for (const [bounds, box, isInside] of [
      [[-180, -90, 180, 90], [0, 0, 2 ** 24 - 1, 2 ** 23 - 1], true], [[7, 46, 9, 48], [0, 0, 2 ** 24 - 1, 9], false],
      [[170, -20, -170, 10], [0, 2 ** 22, 9, 2 ** 22], true],
      [[170, -20, -170, 10], [0, 2 ** 22, 2 ** 24 - 1, 2 ** 22], false],
      [[170, -20, -170, 10], [0, 0, 9, 2 ** 22], false]
    ]) {
      const extent = new Extent(grid)
      extent.add(24, box[0], box[1])
      extent.add(24, box[2], box[3])
      const columns = mock.method(Area.prototype, 'columns')
      assert.equal(String(extent.widen(bounds)) === String(bounds), isInside, `${bounds} ${box}`)
      assert.equal(columns.mock.callCount(), 0)
      columns.mock.restore()
    }
  })

  it('and zooms are not set for a layer with an upstream that has none', () => {
    const extent = extentOf([3, 1, 1])
    assert.deepEqual(widen({ upstream: {}, format: 'png' }, extent, { types: {} }), { upstream: {}, format: 'png' })
    assert.deepEqual(widen({ upstream: {}, format: 'png', maxzoom: 2 }, extent, { types: {} }),
      { upstream: {}, format: 'png', maxzoom: 3 })
  })
})
