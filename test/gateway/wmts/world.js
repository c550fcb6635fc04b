// Starts a gateway with a world of sixteen tiles in three years, and with layers in other grids. The colour of a tile
// depends on its place and year, so a test can tell from a pixel which tile was fetched.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { until } from '../../../bench/wait.js'
import { gridOf } from '../../../core/index.js'
import { Store, publish } from '../../../loader/index.js'
import { startGateway } from '../../../server/gateway/index.js'

export const EDGE = 20037508.3427892 // metres from the middle of Web Mercator to its edge, as documents write it
export const DEEPEST = 2 // zoom
export const YEARS = [2022, 2023, 2024]

/** Layers in other grids, at zooms that have few tiles. */
export const OTHERS = {
  europe: { grid: 'EuropeanETRS89_LAEAQuad', minzoom: 0, maxzoom: 2 },
  swiss: { grid: 'LV95', minzoom: 14, maxzoom: 16 }, // 3 x 2, 4 x 3 and 8 x 5 tiles: the zooms do not halve
  arctic: { grid: 'UPSArcticWGS84Quad', minzoom: 0, maxzoom: 2 },
  degrees: { grid: 'WorldCRS84Quad', minzoom: 1, maxzoom: 3 }
}

/** The blue of a tile by its year and row. */
const BLUE = { 2022: y => 5 + 3 * y, 2023: y => 255 - 50 * y, 2024: y => 20 + 50 * y }

export const color = (z, x, y, year = 2024) => [20 + 40 * (z % 14), 20 + 30 * x, BLUE[year](y)]

/** @param {number[]} rgb */
export async function colored ([r, g, b]) {
  return sharp({ create: { width: 256, height: 256, channels: 3, background: { r, g, b } } }).png().toBuffer()
}

/** Runs a tool of GDAL without its caches. @param {string} name */
export const runGdal = (name, ...args) => promisify(execFile)(name, args,
  { env: { ...process.env, GDAL_ENABLE_WMS_CACHE: 'NO', GDAL_PAM_ENABLED: 'NO' } })

/**
 * @param {string} database URL of a database that does not exist yet
 * @param {Record<string, {grid: any, minzoom: number, maxzoom: number}>} [otherLayers] layers in other grids
 */
export async function startWorld (database, otherLayers = {}) {
  const store = await Store.create(database)
  await publish(store)
  await store.defineLayer('world', {
    name: 'The world', attribution: '© Somebody', format: 'png', minzoom: 0, maxzoom: DEEPEST,
    bounds: [-180, -85.0511287798066, 180, 85.0511287798066]
  })
  await store.defineLayer('east', { format: 'png', minzoom: 1, maxzoom: DEEPEST, bounds: [0, -85, 180, 85] })
  for (const [layer, fields] of Object.entries(otherLayers)) {
    await store.defineLayer(layer, { format: 'png', ...fields })
  }
  for (const [layer, { minzoom, maxzoom, grid }] of Object.entries(
    { world: { minzoom: 0, maxzoom: DEEPEST, grid: undefined }, ...otherLayers }
  )) {
    for (const year of YEARS) {
      const time = `${year}-06-01T00:00:00Z`
      const versions = []
      for (let z = minzoom; z <= maxzoom; z++) {
        const { columns, rows } = gridOf({ grid }).matrix(z)
        for (let x = 0; x < columns; x++) for (let y = 0; y < rows; y++) {
          versions.push({ layer, z, x, y, time, bytes: await colored(color(z, x, y, year)) })
        }
      }
      await store.write(versions)
      await store.putEdition(layer, time, { title: String(year), complete: true })
    }
  }
  const gateway = await startGateway({ db: store.url, port: 0, logLevel: 'silent' })
  // the first request for a past tile may time out while the store builds the index
  const past = new URL('/world@2022/0/0/0.png', gateway.url)
  await until(async () => (await fetch(past)).status !== 503, { what: 'the index', timeout: 20000 })
  return {
    store,
    gateway,
    async close () {
      await gateway.close()
      await store.destroy()
    }
  }
}
