// What the search for a place reads by itself.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { parsePlace, placesIn } from '../../attachments/find/coordinates.js'

const near = (text, lat, lon, z = undefined, language = 'en') => {
  const place = parsePlace(text, language)
  assert.ok(place && Math.abs(place.lat - lat) < 1e-6 && Math.abs(place.lon - lon) < 1e-6 && place.z === z,
    `${text}: ${JSON.stringify(place)}`)
}

describe('coordinates', () => {
  it('are read with signs, commas, semicolons and spaces', () => {
    for (const text of ['47.5, 8.3', '47.5 8.3', '47.5,8.3', '47.5;8.3', '47,5; 8,3',
      '47,5 8,3', ' +47.5  +8.3 ', '47.5° 8.3°', 'lat: 47.5 lon: 8.3', '(47.5, 8.3)']) near(text, 47.5, 8.3)
    near('-33.8,151.2', -33.8, 151.2)
    near('-33,8; -70,5', -33.8, -70.5)
    near('47,8', 47, 8)
  })

  it('are read in degrees, minutes and seconds, with letters on either side, in either order', () => {
    for (
      const text of ['47°30\'00"N 8°18\'00"E', '47° 30\' N, 8° 18\' E',
        '47 30 N 8 18 E', 'N47 30 00 E8 18 00', 'N 47.5 E 8.3', '8.3E 47.5N',
        '47°30′00″N 8°18′00″E', '47d30m N, 8d18m E', '47 30 8 18', "47°30'00''N 8°18'00''E"]
    ) near(text, 47.5, 8.3)
    near('33°51\'54"S 151°12\'34"W', -33.865, -151.2094444)
    near("47°30.5'N 8°18.25'E", 47.5083333, 8.3041667)
  })

  it('mean east by an O in German, and west in French and Spanish', () => {
    near('47,5 N 8,3 O', 47.5, 8.3, undefined, 'de')
    near('47,5 N 8,3 O', 47.5, -8.3, undefined, 'fr')
    near('47,5 N 8,3 O', 47.5, -8.3, undefined, 'es')
  })

  it('are read from tile numbers, geo: addresses and addresses of other maps', () => {
    near('3/4/3', 20.489949, 22.5, 3)
    near('12/47.5/8.3', 47.5, 8.3, 12)
    near('geo:47.5,8.3', 47.5, 8.3)
    near('geo:47.5,8.3;u=35?z=12', 47.5, 8.3, 12)
    near('geo:0,0?q=47.5,8.3', 47.5, 8.3)
    near('https://www.openstreetmap.org/#map=12/47.5/8.3', 47.5, 8.3, 12)
    near('https://maps.example/@47.5,8.3,12z', 47.5, 8.3, 12)
  })

  it('are not read from other texts or outside of the world', () => {
    for (
      const text of ['', 'Bern', '47.5', '91, 0', '0, 181', '47.5S 8.3N', '10 Main Street',
        '2024-03-01', '1 2 3', '1,2,3', '47 61 N 8 18 E', '47 30 -5 N 8 E', 'N E', '°', '3/4/5/6', 'geo:x,y']
    ) assert.equal(parsePlace(text), null, text)
  })

  it('of any place are read back from each written form', () => {
    const degrees = most => fc.double({ min: -most, max: most, noNaN: true })
      .map(value => Math.round(value * 1e5) / 1e5 || 0)
    fc.assert(fc.property(degrees(90), degrees(180), (lat, lon) => {
      const [north, east] = [lat.toFixed(5), lon.toFixed(5)]
      near(`${north}, ${east}`, lat, lon)
      near(`${north} ${east}`, lat, lon)
      near(`${north.replace('.', ',')}; ${east.replace('.', ',')}`, lat, lon)
      near(`${Math.abs(lat).toFixed(5)}${lat < 0 ? 'S' : 'N'} ${Math.abs(lon).toFixed(5)}${lon < 0 ? 'W' : 'E'}`,
        lat, lon)
    }))
  })
})

describe('the answer of a gazetteer', () => {
  it('is read as a list of places, without its invalid entries', () => {
    const bern = { lat: '46.948', lon: '7.447', display_name: 'Bern', boundingbox: ['46.9', '47.0', '7.2', '7.5'] }
    assert.deepEqual(placesIn([bern]), [{ title: 'Bern', lat: 46.948, lon: 7.447, box: [7.2, 46.9, 7.5, 47] }])
    assert.deepEqual(
      placesIn([{ ...bern, boundingbox: undefined }, null, 3, { ...bern, lat: 'x' },
        { ...bern, display_name: {} }, { ...bern, boundingbox: ['x'] }]).map(({ box }) => box), [undefined, undefined]
    )
    for (const answer of [null, {}, 'x', [[]]]) assert.deepEqual(placesIn(answer), [])
  })
})
