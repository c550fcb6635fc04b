// Whether tiles lie where something else says they are: only what is certain is said.
import assert from 'node:assert/strict'
import { flipY, parseArea } from '../../core/index.js'
import { Extent } from '../../core/store/extent.js'
import { orientation, turned } from '../../loader/load/orientation.js'

const BERN = [7.3, 46.9, 7.5, 47]
const KENYA = [33.9, -4.7, 41.9, 5.5] // on both sides of the equator
const DIAGONAL = [-55, 46.5, -53, 48] // Newfoundland, where columns and rows have nearly the same numbers

/**
 * The boxes of all tiles of a box.
 * @param {any} bbox
 * @param {(z: number, x: number, y: number) => [number, number]} [place]
 */
function boxesOf (bbox, { min = 3, max = 11 } = {}, place = (z, x, y) => [x, y]) {
  const extent = new Extent()
  for (let z = min; z <= max; z++) {
    for (const { x, y } of parseArea({ bbox }).tiles(z)) extent.add(z, ...place(z, x, y))
  }
  return extent.zooms
}
const flipped = (z, x, y) => /** @type {[number, number]} */ ([x, flipY(z, y)])
const swapped = (z, x, y) => /** @type {[number, number]} */ ([y, x])
const told = (boxes, bounds, more) => orientation(boxes, { bounds, most: 0.25, ...more })

describe('the orientation of tiles', () => {
  it('is "as read" when they lie within the bounds', () => {
    assert.equal(told(boxesOf(BERN), BERN), 'as read')
    assert.equal(told(boxesOf(BERN), [6, 45, 10, 48]), 'as read')
  })

  it('is flipped or swapped when only that agrees with the bounds', () => {
    assert.equal(told(boxesOf(BERN, {}, flipped), BERN), 'ROWS_FLIPPED')
    assert.equal(told(boxesOf(BERN, {}, swapped), BERN), 'AXES_SWAPPED')
    assert.equal(told(boxesOf(BERN, { min: 9, max: 9 }, flipped), [6, 45, 10, 48]), 'ROWS_FLIPPED')
  })

  it('is found from a part of the tiles, such as the first tile of a load', () => {
    const [[z, [x, y]]] = boxesOf(BERN, { min: 10, max: 10 }, flipped)
    assert.equal(told(new Map([[z, [x, y, x, y]]]), BERN), 'ROWS_FLIPPED')
  })

  it('is found with rounded bounds', () => {
    for (const off of [0.001, 0.01, -0.01]) {
      const rounded = /** @type {any} */ ([BERN[0] + off, BERN[1] + off, BERN[2] - off, BERN[3] - off])
      assert.equal(told(boxesOf(BERN, { min: 6, max: 12 }, flipped), rounded), 'ROWS_FLIPPED', `${off}`)
    }
  })

  for (const [what, boxes, bounds, more] of /** @type {any[]} */ ([
    ['coarse tiles', boxesOf(BERN, { min: 0, max: 2 }, flipped), BERN],
    ['bounds that are elsewhere', boxesOf(BERN), [100, 10, 101, 11]],
    ['flipped tiles with bounds that are elsewhere', boxesOf(BERN, {}, flipped), [100, 10, 101, 11]],
    ['bounds as large as a hemisphere', boxesOf(BERN, {}, flipped), [-180, 0, 180, 85]],
    ['bounds that cover more of the world than allowed', boxesOf(BERN, {}, flipped), [-10, 35, 30, 60], { most: 0.01 }],
    ['flipped tiles that reach far beyond the bounds', turned(boxesOf([0, 40, 90, 47]), 'ROWS_FLIPPED'), BERN]
  ])) {
    it(`is unknown for ${what}`, () => assert.equal(told(boxes, bounds, more), undefined))
  }

  it('is "as read" for maps that look the same when they are turned', () => {
    assert.equal(told(boxesOf(KENYA), KENYA), 'as read')
    assert.equal(told(boxesOf(KENYA, {}, flipped), KENYA), 'as read')
    assert.equal(told(boxesOf(DIAGONAL, {}, swapped), DIAGONAL), 'as read')
  })

  it('is found for an area that is only a part of the tiles', () => {
    const more = boxesOf([6, 45, 10, 48], {}, flipped)
    assert.equal(told(more, BERN), undefined)
    assert.equal(told(more, BERN, { isPart: true }), 'ROWS_FLIPPED')
    assert.equal(told(boxesOf([20, 45, 24, 48], {}, flipped), BERN, { isPart: true }), undefined)
  })

  it('is found with bounds that cross the antimeridian', () => {
    const fiji = /** @type {any} */ ([177, -18, 178, -17])
    assert.equal(told(boxesOf(fiji, {}, flipped), [176, -19, -178, -16]), 'ROWS_FLIPPED')
    assert.equal(told(boxesOf(fiji), [176, -19, -178, -16]), 'as read')
  })
})
