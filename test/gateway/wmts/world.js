// A gateway on a world of sixteen tiles in three years. A tile is of one colour, which tells where and when it is, so that a
// picture says what was fetched.
import sharp from 'sharp'
import { Store, publish } from '../../../loader/index.js'
import { startGateway } from '../../../server/gateway/index.js'

export const DEEPEST = 2 // zoom
export const YEARS = [2022, 2023, 2024]

const BLUE = { 2022: y => 5 + 3 * y, 2023: y => 255 - 50 * y, 2024: y => 20 + 50 * y }

export const color = (z, x, y, year = 2024) => [20 + 40 * z, 20 + 50 * x, BLUE[year](y)]

/** @param {number[]} rgb */
export async function colored ([r, g, b]) {
  return sharp({ create: { width: 256, height: 256, channels: 3, background: { r, g, b } } }).png().toBuffer()
}

/** @param {string} database URL of one that is not there yet */
export async function startWorld (database) {
  const store = await Store.create(database)
  await publish(store)
  await store.defineLayer('world', { name: 'The world', attribution: '© Somebody', format: 'png', minzoom: 0, maxzoom: DEEPEST, bounds: [-180, -85.0511287798066, 180, 85.0511287798066] })
  await store.defineLayer('east', { format: 'png', minzoom: 1, maxzoom: DEEPEST, bounds: [0, -85, 180, 85] })
  for (const year of YEARS) {
    const time = `${year}-06-01T00:00:00Z`
    const versions = []
    for (let z = 0; z <= DEEPEST; z++) {
      for (let x = 0; x < 2 ** z; x++) for (let y = 0; y < 2 ** z; y++) versions.push({ layer: 'world', z, x, y, time, bytes: await colored(color(z, x, y, year)) })
    }
    await store.write(versions)
    await store.putEdition('world', time, { title: String(year), complete: true })
  }
  const gateway = await startGateway({ db: store.url, port: 0, logLevel: 'silent' })
  return {
    store,
    gateway,
    async close () {
      await gateway.close()
      await store.destroy()
    }
  }
}
