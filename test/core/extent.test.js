// How far a layer reaches: bounds from which every tile of every zoom is found.
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import fc from 'fast-check'
import { Area } from '../../core/area.js'
import { gridOf } from '../../core/grids/index.js'
import { selector, tileBounds } from '../../core/index.js'
import { Extent, union, widen } from '../../core/store/extent.js'

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
    const given = /** @type {[number, number, number, number]} */ ([5.96, 45.82, 10.49, 47.81])
    assert.deepEqual(extentOf(...pyramid(8, 133, 90)).widen(given), given)
    assert.deepEqual(extentOf([0, 0, 0], [1, 1, 0]).widen(given), given, 'a load of the overviews alone')
  })

  it('over the antimeridian stay when they hold all tiles, and else span all longitudes', () => {
    const fiji = /** @type {[number, number, number, number]} */ ([177, -20, -178, -15])
    assert.deepEqual(extentOf([0, 0, 0], [4, 15, 8]).widen(fiji), fiji)
    assert.deepEqual(extentOf([4, 3, 8]).widen(fiji), [-180, -20, 180, -15])
    assert.deepEqual(union(fiji, [178, -16, 180, -14]), [-180, -20, 180, -14])
    assert.deepEqual(union(fiji, [176, -19, -179, -16]), [176, -20, -178, -15])
  })

  it('touch every tile, and stay when the same tiles are added again', () => {
    const tile = fc.integer({ min: 0, max: 12 })
      .chain(z => fc.tuple(fc.constant(z), fc.nat(2 ** z - 1), fc.nat(2 ** z - 1)))
    fc.assert(fc.property(fc.array(tile, { minLength: 1, maxLength: 12 }), fc.option(tile, {
      nil: undefined
    }), (tiles, before) => {
      const bounds = extentOf(...tiles).widen(before && /** @type {any} */ (tileBounds(...before)))
      const touches = selector({ bbox: bounds })
      for (const [z, x, y] of before ? [before, ...tiles] : tiles) {
        assert.ok(touches(z, x, y), `${z}/${x}/${y} of ${bounds}`)
      }
      assert.deepEqual(extentOf(...tiles).widen(bounds), bounds, 'again changes nothing')
    }))
  })

  it('in a grid of degrees are compared without walking columns, at a deep zoom', () => {
    const grid = gridOf({ grid: 'WorldCRS84Quad' })
    for (const [bounds, box, isInside] of /** @type {[import('../../core/grid.js').Bbox, number[], boolean][]} */ ([
      [[-180, -90, 180, 90], [0, 0, 2 ** 24 - 1, 2 ** 23 - 1], true], [[7, 46, 9, 48], [0, 0, 2 ** 24 - 1, 9], false],
      [[170, -20, -170, 10], [0, 2 ** 22, 9, 2 ** 22], true],
      [[170, -20, -170, 10], [0, 2 ** 22, 2 ** 24 - 1, 2 ** 22], false],
      [[170, -20, -170, 10], [0, 0, 9, 2 ** 22], false]
    ])) {
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
