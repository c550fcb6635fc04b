// The demo: its tiles, the PNGs they are written as, and where the sun stands.
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { addSeconds, compareIds, inspectTile, tileAt, tileBounds, tileId } from '../../core/index.js'
import { basemap } from '../../server/demo/basemap.js'
import { DAY } from '../../server/demo/index.js'
import { DUSK, Light, sunAltitude, sunAt, SUNSET } from '../../server/demo/light.js'
import { dayColours, NIGHT, palette, quantise, shade } from '../../server/demo/palette.js'
import { encodeIndexed } from '../../server/demo/png.js'
import { daylightSource, landSource, pyramid } from '../../server/demo/tiles.js'

const hour = number => addSeconds(DAY, number * 3600)
const SMALL = { min: 0, max: 2 }
const ALL = { min: 0, max: 4 }

async function collect (source, wanted = () => true) {
  const tiles = new Map()
  for await (const { z, x, y, read } of source.tiles()) if (wanted(z, x, y)) tiles.set(`${z}/${x}/${y}`, read)
  return tiles
}

describe('the tiles of the demo', () => {
  it('come in the order of their ids', () => {
    for (const zooms of [SMALL, ALL, { min: 3, max: 11 }]) {
      let last = ''
      let count = 0
      for (const { z, x, y } of pyramid({ ...zooms, max: Math.min(zooms.max, 6) })) {
        const id = tileId('land', z, x, y)
        assert.ok(compareIds(last, id) < 0, `${id} after ${last}`)
        last = id
        count++
      }
      assert.ok(count > 20)
    }
  })

  it('are PNGs of 256 pixels', async () => {
    for (const source of [landSource(SMALL), daylightSource(hour(5), undefined, SMALL)]) {
      for (const read of (await collect(source)).values()) {
        const { format, width, height } = await sharp(Buffer.from(await read())).metadata()
        assert.deepEqual([format, width, height], ['png', 256, 256])
        await sharp(Buffer.from(await read())).raw().toBuffer()
      }
    }
  })

  it('show land where there is land, sea where there is sea, and no cut at the antimeridian', async () => {
    const world = await basemap(2)
    const colourAt = (lon, lat) => {
      const size = 1024
      const { x, y } = tileAt(lon, lat, 10) // a tile of zoom 10 is a pixel of zoom 2
      return world[y * size + x]
    }
    const colourOf = ([r, g, b]) => quantise(Uint8Array.of(r, g, b))[0]
    const [sea, land, ice] = [0, 7, 11].map(index => colourOf(dayColours[index]))
    for (const [lon, lat] of [[-152, 5], [-32, 35], [80, -35], [-102, -15], [0.5, 72]]) assert.equal(colourAt(lon, lat), sea, `${lon} ${lat}`)
    for (const [lon, lat] of [[100, 62], [-100, 40], [22, -2], [134, -25], [178.5, 67.5], [-177, 66.7]]) assert.equal(colourAt(lon, lat), land, `${lon} ${lat}`)
    for (const [lon, lat] of [[-40, 75], [0, -80], [120, -75], [-179.5, -85]]) assert.equal(colourAt(lon, lat), ice, `${lon} ${lat}`)
  })
})

describe('daylight', () => {
  it('has a palette that a PNG can hold, with a colour of its own for every base colour by day and by night', () => {
    assert.ok(palette.length <= 256 * 3 && palette.length % 3 === 0, `${palette.length / 3} colours`)
    const colourOf = (base, level) => [...palette.subarray(shade(base, level) * 3, shade(base, level) * 3 + 3)]
    for (const [base, day] of dayColours.entries()) {
      assert.deepEqual(colourOf(base, 0), day.map(Math.round))
      assert.notDeepEqual(colourOf(base, 1), colourOf(base, 0), 'sunset is seen')
    }
    assert.equal(new Set(dayColours.map((_, base) => colourOf(base, NIGHT).join())).size, dayColours.length)
  })

  it('has the light that the height of the sun asks for', () => {
    const sun = sunAt(hour(9))
    for (const { z, x, y } of pyramid(SMALL)) {
      const levels = new Light(hour(9), z).levels(x, y)
      const [west, , , north] = tileBounds(z, x, y)
      const [lon, lat] = [west + 180 / 256 / 2 ** z, north]
      const altitude = sunAltitude(sun, lon, lat)
      const expected = altitude >= SUNSET + 1 ? 0 : altitude <= DUSK - 1 ? NIGHT : undefined
      if (expected !== undefined) assert.equal(levels[0], expected, `${z}/${x}/${y}`)
    }
  })

  it('knows without looking at every pixel which tiles are of one light', () => {
    for (const number of [0, 7, 20]) {
      for (const z of [1, 2, 3]) {
        const light = new Light(hour(number), z)
        for (const { x, y } of pyramid({ min: z, max: z })) {
          const levels = light.levels(x, y)
          const even = levels.every(level => level === levels[0]) ? levels[0] : undefined
          assert.equal(light.uniform(x, y), even, `${z}/${x}/${y} at ${number}`)
        }
      }
    }
  })

  it('leaves more than half of the world alone from hour to hour', async () => {
    for (let number = 1; number < 24; number++) {
      const changed = await collect(daylightSource(hour(number), hour(number - 1), ALL))
      assert.ok(changed.size > 341 * 0.2 && changed.size < 341 * 0.45, `${changed.size} of 341 tiles change at ${number}:00`)
    }
  })

  it('gives again every tile that looks different an hour later', async () => {
    const before = await collect(daylightSource(hour(3), undefined, SMALL))
    const after = await collect(daylightSource(hour(4), undefined, SMALL))
    const changed = await collect(daylightSource(hour(4), hour(3), SMALL))
    for (const [tile, read] of after) {
      const same = Buffer.from(await read()).equals(Buffer.from(await /** @type {any} */ (before.get(tile))()))
      assert.equal(changed.has(tile), !same, tile)
    }
  })

  it('by day has the very bytes of the plain map, and one image of every night', async () => {
    const light = new Light(hour(12), 3)
    const later = new Light(hour(13), 3)
    const land = await collect(landSource({ min: 3, max: 3 }))
    const [noon, one] = await Promise.all([12, 13].map(number => collect(daylightSource(hour(number), undefined, { min: 3, max: 3 }))))
    let days = 0
    let nights = 0
    for (const { z, x, y } of pyramid({ min: 3, max: 3 })) {
      const tile = `${z}/${x}/${y}`
      const bytes = async tiles => Buffer.from(await tiles.get(tile)())
      if (light.uniform(x, y) === 0 && ++days) assert.ok((await bytes(noon)).equals(await bytes(land)), `${tile} by day`)
      if (light.uniform(x, y) === NIGHT && later.uniform(x, y) === NIGHT && ++nights) assert.ok((await bytes(noon)).equals(await bytes(one)), `${tile} by night`)
    }
    assert.ok(days > 8 && nights > 8, `${days} tiles by day, ${nights} by night`)
  })
})

const colours256 = Uint8Array.from({ length: 256 * 3 }, (_, at) => (at * 37 + (at >> 3)) % 256)

async function assertRoundTrip (pixels, width) {
  const png = await encodeIndexed(pixels, width, colours256)
  assert.equal(inspectTile(png).type, 'image/png')
  const { data, info } = await sharp(png).removeAlpha().toColourspace('srgb').raw().toBuffer({ resolveWithObject: true })
  assert.deepEqual([info.width, info.height, info.channels], [width, pixels.length / width, 3])
  const expected = Buffer.from(Array.from(pixels).flatMap(index => [...colours256.subarray(index * 3, index * 3 + 3)]))
  assert.ok(data.equals(expected), 'another decoder sees the same pixels')
  return png
}

describe('indexed PNGs', () => {
  for (const colours of [1, 2, 3, 4, 5, 16, 17, 255, 256]) {
    it(`of ${colours} colours come back as they were`, async () => {
      await assertRoundTrip(Uint8Array.from({ length: 64 * 48 }, (_, at) => 255 - at * 7 % colours), 64)
    })
  }

  it('have the smallest depth that holds their colours', async () => {
    const depthOf = async colours => (await encodeIndexed(Uint8Array.from({ length: 4096 }, (_, at) => at % colours), 64, colours256))[24]
    assert.deepEqual(await Promise.all([1, 2, 3, 4, 5, 16, 17].map(depthOf)), [1, 1, 2, 2, 4, 4, 8])
  })

  it('of widths that leave bits over are right too', async () => {
    for (const width of [1, 3, 7, 13]) await assertRoundTrip(Uint8Array.from({ length: width * 5 }, (_, at) => at % 3), width)
  })

  it('are about a hundred bytes when they are of one colour', async () => {
    const png = await encodeIndexed(new Uint8Array(65536).fill(7), 256, colours256)
    assert.ok(png.length < 150, `${png.length} bytes`)
  })
})

const near = (actual, expected, tolerance, what) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual}, expected ${expected} within ${tolerance}`)

describe('the sun of the demo', () => {
  // declinations: solstices and equinoxes of 2024 to the minute, as the almanacs have them
  for (const [time, declination] of /** @type {[string, number][]} */ ([
    ['2024-03-20T03:06:00Z', 0],
    ['2024-06-20T20:51:00Z', 23.44],
    ['2024-09-22T12:44:00Z', 0],
    ['2024-12-21T09:21:00Z', -23.44]
  ])) {
    it(`stands ${declination} degrees north of the equator at ${time}`, () => {
      near(sunAt(time).declination, declination, 0.02, 'declination')
    })
  }

  // extremes and a zero of the equation of time, in minutes
  for (const [time, minutes] of /** @type {[string, number][]} */ ([
    ['2024-02-11T12:00:00Z', -14.2],
    ['2024-04-15T12:00:00Z', 0],
    ['2024-05-14T12:00:00Z', 3.7],
    ['2024-07-26T12:00:00Z', -6.5],
    ['2024-11-03T12:00:00Z', 16.4]
  ])) {
    it(`is ${minutes} minutes ahead of the clock on ${time.slice(0, 10)}`, () => {
      near(sunAt(time).equationOfTime, minutes, 0.2, 'equation of time')
    })
  }

  it('is over Greenwich about noon, and moves 15 degrees west an hour', () => {
    near(sunAt('2024-04-15T12:00:00Z').longitude, 0, 0.1, 'longitude')
    near(sunAt('2024-04-15T18:00:00Z').longitude, -90, 0.1, 'longitude')
    near(sunAt('2024-04-15T00:00:00Z').longitude % 360, -180, 0.3, 'longitude')
  })

  it('sets in Zurich on 20 June 2024 at 19:26 UTC', () => {
    near(sunAltitude(sunAt('2024-06-20T19:26:00Z'), 8.54, 47.37), -0.833, 0.3, 'altitude')
  })

  it('is in the zenith where it is said to be', () => {
    const sun = sunAt('2024-08-01T07:30:00Z')
    near(sunAltitude(sun, sun.longitude, sun.declination), 90, 0.001, 'altitude')
  })
})
