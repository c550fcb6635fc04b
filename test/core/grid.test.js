import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  MAX_LATITUDE, checkTile, countTiles, flipY, parseBbox, parseQuadkey,
  parseZooms, quadkey, selector, tileAt, tileBounds, tileRanges
} from '../../core/index.js'
import { refusesAll, tile } from '../support/samples.js'

// in millionths of a degree: nobody means an edge to the last bit of a double
const longitude = fc.integer({ min: -180e6, max: 180e6 }).map(value => value / 1e6)
const latitude = fc.integer({ min: -90e6, max: 90e6 }).map(value => value / 1e6)
/** Half of them cross the antimeridian. */
const bbox = fc.tuple(longitude, latitude, longitude, latitude)
  .map(([w, a, e, b]) => [w, Math.min(a, b), e, Math.max(a, b)])
/** Edges that lie exactly on edges of tiles, where rounding hurts. */
const edgeBbox = fc.tuple(fc.nat(16), fc.nat(16), fc.nat(16), fc.nat(16)).map(([a, b, c, d]) => {
  const [, , , north] = tileBounds(4, 0, Math.min(b, d))
  const [, , , south] = tileBounds(4, 0, Math.max(b, d))
  return [a * 22.5 - 180, south, c * 22.5 - 180, north]
})

/** Tiles whose inside meets the inside of a box that has an inside, one by one. */
function bruteForce ([west, south, east, north], z) {
  const found = []
  const meets = (w, e, [left, , right]) => left < e && right > w
  for (let x = 0; x < 2 ** z; x++) {
    for (let y = 0; y < 2 ** z; y++) {
      const bounds = tileBounds(z, x, y)
      const beside = west <= east ? meets(west, east, bounds) : meets(west, 180, bounds) || meets(-180, east, bounds)
      if (beside && bounds[1] < north && bounds[3] > south) found.push(`${x}/${y}`)
    }
  }
  return found.sort()
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
      const seen = new Set()
      for (let x = 0; x < 2 ** z; x++) {
        for (let y = 0; y < 2 ** z; y++) {
          const key = quadkey(z, x, y)
          seen.add(key)
          assert.deepEqual(parseQuadkey(key), { z, x, y })
          if (z) assert.equal(key, quadkey(z - 1, x >> 1, y >> 1) + (x % 2 + 2 * (y % 2)))
        }
      }
      assert.equal(seen.size, 4 ** z)
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
      fc.pre(box[1] < box[3] && box[0] !== box[2] && box[0] !== 180 &&
        box[2] !== -180 && box[3] > -MAX_LATITUDE && box[1] < MAX_LATITUDE)
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

  it('end at the poles with the last rows', () => {
    assert.deepEqual(tileRanges([-180, -90, 180, 90], 2), [{ x0: 0, x1: 3, y0: 0, y1: 3 }])
    assert.deepEqual(tileRanges([0, 86, 1, 90], 5), [{ x0: 16, x1: 16, y0: 0, y1: 0 }])
    assert.deepEqual(tileRanges([0, -90, 1, -86], 5), [{ x0: 16, x1: 16, y0: 31, y1: 31 }])
  })

  it('hold each tile once, and count their tiles', () => {
    fc.assert(fc.property(fc.oneof(bbox, edgeBbox), fc.nat(6), (box, z) => {
      const tiles = enumerate(box, z)
      assert.equal(new Set(tiles).size, tiles.length)
      assert.equal(countTiles(box, { min: z, max: z }), tiles.length)
      assert.ok(tiles.length > 0, 'a box is always somewhere')
    }), { numRuns: 300 })
    assert.equal(countTiles([-180, -90, 180, 90], { min: 0, max: 4 }), 1 + 4 + 16 + 64 + 256)
    assert.equal(countTiles([-180, -90, 180, 90], { min: 26, max: 26 }), 2 ** 52)
  })

  it('select the tiles they hold', () => {
    fc.assert(fc.property(fc.oneof(bbox, edgeBbox), fc.nat(3), (box, z) => {
      const selected = selector({ bbox: box, zooms: { min: 1, max: 3 } })
      const found = []
      for (let x = 0; x < 2 ** z; x++) for (let y = 0; y < 2 ** z; y++) if (selected(z, x, y)) found.push(`${x}/${y}`)
      assert.deepEqual(found.sort(), z === 0 ? [] : enumerate(box, z).sort())
    }))
    assert.equal(selector()(30, 0, 0), true, 'without a selection, everything')
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
