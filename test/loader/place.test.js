// What people call a box on the map, without a network.
import assert from 'node:assert/strict'
import { placeOf } from '../../loader/store/place/index.js'

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
  for (const [what, [bbox, name]] of Object.entries(places)) {
    it(what, () => {
      const found = placeOf(bbox).name
      if (name instanceof RegExp) assert.match(found, name)
      else assert.equal(found, name)
    })
  }

  it('says whether the box is on land', () => {
    assert.deepEqual([placeOf([7.3, 46.9, 7.5, 47]).isLand, placeOf([7.3, -47, 7.5, -46.9]).isLand], [true, false])
  })

  it('is found for any box, however small or odd', () => {
    for (const bbox of [[0, 0, 0, 0], [180, 0, -180, 1], [-180, -90, -180, 90],
      [7, 47, 7.0000001, 47.0000001], [0, 89, 1, 90], [-180, -90, 180, -89.9]]) {
      assert.equal(typeof placeOf(/** @type {any} */ (bbox)).name, 'string', String(bbox))
    }
  })
})
