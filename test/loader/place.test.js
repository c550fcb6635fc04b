// Recognises flipped rows and swapped axes from the bounds of the tiles, if they are certain. Names places of boxes.
import assert from 'node:assert/strict'
import { flipY, parseArea } from '../../core/index.js'
import { Extent } from '../../core/store/extent.js'
import { orientation, turned } from '../../loader/load/orientation.js'
import { placeOf } from '../../loader/store/place/index.js'

const BERN = [7.3, 46.9, 7.5, 47]
const KENYA = [33.9, -4.7, 41.9, 5.5] // on both sides of the equator
const DIAGONAL = [-55, 46.5, -53, 48] // Newfoundland, where columns and rows have nearly the same numbers

/**
 * Returns the range of columns and rows of the tiles of a bounding box, by zoom.
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
const flipped = (z, x, y) => [x, flipY(z, y)]
const swapped = (z, x, y) => [y, x]
const orientationOf = (boxes, bounds, extras) => orientation(boxes, { bounds, most: 0.25, ...extras })

describe('the orientation of tiles', () => {
  const around = [6, 45, 10, 48]
  const rounded = offset => [BERN[0] + offset, BERN[1] + offset, BERN[2] - offset, BERN[3] - offset]
  const large = boxesOf(around, {}, flipped)
  const fiji = [177, -18, 178, -17]
  /** Ranges, bounds, and the expected orientation. @type {Record<string, [any, any, string | undefined, any?][]>} */
  const casesByTitle = {
    'is "as read" when they lie within the bounds': [
      [boxesOf(BERN), BERN, 'as read'], [boxesOf(BERN), around, 'as read']
    ],
    'is flipped or swapped when only that agrees with the bounds': [
      [boxesOf(BERN, {}, flipped), BERN, 'ROWS_FLIPPED'], [boxesOf(BERN, {}, swapped), BERN, 'AXES_SWAPPED'],
      [boxesOf(BERN, { min: 9, max: 9 }, flipped), around, 'ROWS_FLIPPED']
    ],
    'is found with rounded bounds': [0.001, 0.01, -0.01].map(
      offset => [boxesOf(BERN, { min: 6, max: 12 }, flipped), rounded(offset), 'ROWS_FLIPPED']
    ),
    'is unknown for coarse tiles': [[boxesOf(BERN, { min: 0, max: 2 }, flipped), BERN, undefined]],
    'is unknown with bounds that are elsewhere': [
      [boxesOf(BERN), [100, 10, 101, 11], undefined], [boxesOf(BERN, {}, flipped), [100, 10, 101, 11], undefined]
    ],
    'is unknown with bounds as large as a hemisphere, or larger than allowed': [
      [boxesOf(BERN, {}, flipped), [-180, 0, 180, 85], undefined],
      [boxesOf(BERN, {}, flipped), [-10, 35, 30, 60], undefined, { most: 0.01 }]
    ],
    'is unknown for flipped tiles that reach far beyond the bounds': [
      [turned(boxesOf([0, 40, 90, 47]), 'ROWS_FLIPPED'), BERN, undefined]
    ],
    'is "as read" for maps that look the same when they are turned': [
      [boxesOf(KENYA), KENYA, 'as read'], [boxesOf(KENYA, {}, flipped), KENYA, 'as read'],
      [boxesOf(DIAGONAL, {}, swapped), DIAGONAL, 'as read']
    ],
    'is found for an area that is only a part of the tiles': [
      [large, BERN, undefined], [large, BERN, 'ROWS_FLIPPED', { isPart: true }],
      [boxesOf([20, 45, 24, 48], {}, flipped), BERN, undefined, { isPart: true }]
    ],
    'is found with bounds that cross the antimeridian': [
      [boxesOf(fiji, {}, flipped), [176, -19, -178, -16], 'ROWS_FLIPPED'],
      [boxesOf(fiji), [176, -19, -178, -16], 'as read']
    ]
  }
  for (const [title, cases] of Object.entries(casesByTitle)) {
    it(title, () => {
      for (const [boxes, bounds, expected, extras] of cases) {
        assert.equal(orientationOf(boxes, bounds, extras), expected, `${bounds}`)
      }
    })
  }

  it('is found from a part of the tiles, such as the first tile of a load', () => {
    const [[z, [x, y]]] = boxesOf(BERN, { min: 10, max: 10 }, flipped)
    assert.equal(orientationOf(new Map([[z, [x, y, x, y]]]), BERN), 'ROWS_FLIPPED')
  })
})

// Names the place of a box on the map, without network requests.

describe('the place of a box', () => {
  const places = {
    'is a country and the city nearby': [[7.3, 46.9, 7.5, 47], 'Switzerland, near Bern'],
    'is a country and the distance to a distant city': [[8.4, 53, 8.6, 53.2], 'Germany, 110 km south-west of Hamburg'],
    'is up to three countries, the largest part first': [[-58, -30, -50, -20], 'Brazil, Paraguay and Argentina'],
    'names only three of many countries': [[5.9, 45.8, 10.5, 47.8], 'Switzerland, France, Italy and 2 more countries'],
    'is a small country': [[14.2, 35.8, 14.6, 36.1], 'Malta'],
    'is a country that crosses the antimeridian': [[176, -19, -178, -16], 'Fiji'],
    'is a sea where there is no land': [[3, 56, 4, 57], 'the North Sea'],
    'is an ocean': [[5.9, -47.8, 10.5, -45.8], 'the South Atlantic Ocean'],
    'is a continent that is one country for Natural Earth': [[-180, -85, 180, -70], 'Antarctica'],
    'is the whole world': [[-180, -85, 180, 85], 'the whole world'],
    'has the full name of a country': [[15.5, 43.5, 19, 44.9], /Bosnia and Herzegovina/]
  }
  for (const [title, [bbox, name]] of Object.entries(places)) {
    it(title, () => {
      const place = placeOf(bbox).name
      if (name instanceof RegExp) assert.match(place, name)
      else assert.equal(place, name)
    })
  }

  it('says whether the box is on land', () => {
    assert.deepEqual([placeOf([7.3, 46.9, 7.5, 47]).isLand, placeOf([7.3, -47, 7.5, -46.9]).isLand], [true, false])
  })

  it('is found for any box, however small or odd', () => {
    for (const bbox of [[0, 0, 0, 0], [180, 0, -180, 1], [-180, -90, -180, 90],
      [7, 47, 7.0000001, 47.0000001], [0, 89, 1, 90], [-180, -90, 180, -89.9]]) {
      assert.equal(typeof placeOf(bbox).name, 'string', String(bbox))
    }
  })
})
