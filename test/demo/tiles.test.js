// The images of the demo: the map, and the daylight on it.
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { addSeconds, compareIds, tileAt, tileBounds, tileId } from '../../core/index.js'
import { colours, worldPixels } from '../../server/demo/basemap.js'
import { DAY, Light, NIGHT } from '../../server/demo/daylight.js'
import { daylightSource, landSource, pyramid } from '../../server/demo/tiles.js'
import { townIn } from '../../server/demo/town.js'

const hour = number => addSeconds(DAY, number * 3600)
const SMALL = { min: 0, max: 2 }
const ALL = { min: 0, max: 4 }

async function collect (source, isWanted = () => true) {
  const tiles = new Map()
  for await (const { z, x, y, read } of source.tiles()) if (isWanted(z, x, y)) tiles.set(`${z}/${x}/${y}`, read)
  return tiles
}

describe('the tiles of the demo', () => {
  it('show a town whose features have complete names when it is large', () => {
    const features = Object.values(townIn(2030)).flat()
    const names = new Set(features.map(({ properties }) => properties.name).filter(Boolean))
    assert.ok(names.size > 30, `${names.size} names`)
    assert.deepEqual([...names].filter(name => /undefined/.test(name)), [])
  })

  it('come in the order of their ids', () => {
    for (const zooms of [SMALL, ALL, { min: 3, max: 11 }]) {
      let previousId = ''
      let count = 0
      for (const { z, x, y } of pyramid({ ...zooms, max: Math.min(zooms.max, 6) })) {
        const id = tileId('land', z, x, y)
        assert.ok(compareIds(previousId, id) < 0, `${id} after ${previousId}`)
        previousId = id
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
    const world = await worldPixels(2)
    const colourAt = (lon, lat) => {
      const size = 1024
      const { x, y } = tileAt(lon, lat, 10) // a tile of zoom 10 is a pixel of zoom 2
      return '#' + world.subarray((y * size + x) * 3, (y * size + x) * 3 + 3).toString('hex')
    }
    for (const [kind, places] of Object.entries({
      sea: [[-152, 5], [-32, 35], [80, -35], [-102, -15], [0.5, 72]],
      land: [[100, 62], [-100, 40], [22, -2], [134, -25], [178.5, 67.5], [-177, 66.7]],
      ice: [[-40, 75], [0, -80], [120, -75], [-179.5, -85]]
    })) assert.deepEqual(places.filter(([lon, lat]) => colourAt(lon, lat) !== colours[kind]), [], kind)
  })
})

describe('daylight', () => {
  it('is full by day and darkest at night, by the altitude of the sun', () => {
    const RAD = Math.PI / 180
    const noon = 45 // degrees east, at 9 UTC
    for (const { z, x, y } of pyramid(SMALL)) {
      const levels = new Light(hour(9), z).levels(x, y)
      const [west, , , north] = tileBounds(z, x, y)
      const [lon, lat] = [west + 180 / 256 / 2 ** z, north]
      const sine = Math.sin(lat * RAD) * Math.sin(23.44 * RAD) +
        Math.cos(lat * RAD) * Math.cos(23.44 * RAD) * Math.cos((lon - noon) * RAD)
      const altitude = Math.asin(sine) / RAD
      if (altitude >= 0) assert.equal(levels[0], 0, `${z}/${x}/${y}`)
      if (altitude <= -13) assert.equal(levels[0], NIGHT, `${z}/${x}/${y}`)
    }
  })

  it('knows which tiles have the same light at every pixel', () => {
    for (const number of [0, 7, 20]) {
      for (const z of [1, 2, 3]) {
        const light = new Light(hour(number), z)
        for (const { x, y } of pyramid({ min: z, max: z })) {
          const levels = light.levels(x, y)
          const evenLevel = levels.every(level => level === levels[0]) ? levels[0] : undefined
          assert.equal(light.uniform(x, y), evenLevel, `${z}/${x}/${y} at ${number}`)
        }
      }
    }
  })

  it('changes less than half of the tiles from hour to hour', async () => {
    for (let number = 1; number < 24; number++) {
      const changed = await collect(daylightSource(hour(number), hour(number - 1), ALL))
      assert.ok(changed.size > 341 * 0.2 && changed.size < 341 * 0.45,
        `${changed.size} of 341 tiles change at ${number}:00`)
    }
  })

  it('lists exactly the tiles that look different an hour later', async () => {
    const before = await collect(daylightSource(hour(3), undefined, SMALL))
    const after = await collect(daylightSource(hour(4), undefined, SMALL))
    const changed = await collect(daylightSource(hour(4), hour(3), SMALL))
    for (const [tile, read] of after) {
      const isSame = Buffer.from(await read()).equals(Buffer.from(await /** @type {any} */ (before.get(tile))()))
      assert.equal(changed.has(tile), !isSame, tile)
    }
  })

  it('has the bytes of the plain map by day, and equal bytes in all hours of a night', async () => {
    const light = new Light(hour(12), 3)
    const later = new Light(hour(13), 3)
    const land = await collect(landSource({ min: 3, max: 3 }))
    const [noonTiles, laterTiles] =
      await Promise.all([12, 13].map(number => collect(daylightSource(hour(number), undefined, { min: 3, max: 3 }))))
    let days = 0
    let nights = 0
    for (const { z, x, y } of pyramid({ min: 3, max: 3 })) {
      const tile = `${z}/${x}/${y}`
      const bytes = async tiles => Buffer.from(await tiles.get(tile)())
      if (light.uniform(x, y) === 0 && ++days) {
        assert.ok((await bytes(noonTiles)).equals(await bytes(land)), `${tile} by day`)
      }
      if (light.uniform(x, y) === NIGHT && later.uniform(x, y) === NIGHT && ++nights) {
        assert.ok((await bytes(noonTiles)).equals(await bytes(laterTiles)), `${tile} by night`)
      }
    }
    assert.ok(days > 8 && nights > 8, `${days} tiles by day, ${nights} by night`)
  })
})
