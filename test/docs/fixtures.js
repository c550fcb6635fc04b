// The folders and files of tiles that the pages assume, under their names. All of them show one town in which houses
// are built every year.
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { flipY } from '../../core/index.js'
import { writeMbtiles } from '../sources/archive-writers.js'
import { drawPixels } from '../support/tiles.js'

const SIZE = 256 // pixels
const PALETTE = Uint8Array.from([236, 240, 226, 205, 210, 195, 190, 92, 70]) // land, field, house
const [LAND, FIELD, HOUSE] = [0, 1, 2]
const DEEPEST = { z: 14, x: 8528, y: 5760 } // the north-western tile of the town

/** 86 tiles of zoom 10 to 14, around Bern. */
function places () {
  const placeList = []
  for (let z = 10; z <= DEEPEST.z; z++) {
    const scale = 2 ** (DEEPEST.z - z)
    const side = Math.max(1, 8 / scale)
    const [left, top] = [Math.floor(DEEPEST.x / scale), Math.floor(DEEPEST.y / scale)]
    for (let x = left; x < left + side; x++) for (let y = top; y < top + side; y++) placeList.push({ z, x, y })
  }
  return placeList
}

const builtIn = ({ z, x, y }) => 2020 + (x * 7 + y * 13 + z) % 6

/** Draws a field that becomes a house, at another place in each tile. `day` moves it. */
function draw (place, year, day = 0) {
  const pixels = new Uint8Array(SIZE * SIZE).fill(LAND)
  const left = 16 + (place.x + day) % 8 * 24
  const top = 16 + place.y % 8 * 24
  for (let row = top; row < top + 40; row++) {
    pixels.fill(builtIn(place) <= year ? HOUSE : FIELD, row * SIZE + left, row * SIZE + left + 40)
  }
  return drawPixels(pixels, SIZE, PALETTE, { palette: true, dither: 0 })
}

/** @param {(place: {z: number, x: number, y: number}) => boolean} [isThere] */
async function writeFolder (folder, { year, day = 0, isThere = () => true, tms = false }) {
  for (const place of places().filter(isThere)) {
    const { z, x, y } = place
    const file = path.join(folder, `${z}`, `${x}`, `${tms ? flipY(z, y) : y}.png`)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, await draw(place, year, day))
  }
}

async function writeArchive (file, year) {
  const tiles = await Promise.all(places().map(async place => ({ ...place, bytes: await draw(place, year) })))
  writeMbtiles(file, tiles,
    { name: 'Bern', format: 'png', minzoom: '10', maxzoom: '14', bounds: '7.3828,46.9203,7.5586,47.0402' })
}

const isInTown = ({ z, x }) => z < 14 || x < DEEPEST.x + 7 // without the eastern edge of the town
const isCoarse = ({ z }) => z < 13

/**
 * The fixtures by name; `survey-` stands for the folders of four years.
 * @type {Record<string, (at: (name: string) => string) => Promise<void>>}
 */
const fixtures = {
  'tiles/': pathOf => writeFolder(pathOf('tiles'), { year: 2023 }),
  'newer.mbtiles': async pathOf => writeArchive(pathOf('newer.mbtiles'), 2024),
  'city.mbtiles': async pathOf => writeArchive(pathOf('city.mbtiles'), 2024),
  'tiles-2023/': pathOf => writeFolder(pathOf('tiles-2023'), { year: 2023 }),
  'tiles-2024/': pathOf => writeFolder(pathOf('tiles-2024'), { year: 2024, isThere: isInTown }),
  'survey-': async pathOf => {
    for (const date of ['2021-05-01', '2022-06-15', '2023-04-20', '2024-03-01']) {
      await writeFolder(pathOf(`survey-${date}`), { year: +date.slice(0, 4) })
    }
  },
  'radar/': async pathOf => {
    for (let day = 1; day < 10; day++) {
      await writeFolder(pathOf(`radar/radar-2024-03-0${day}`), { year: 2024, day, isThere: isCoarse })
    }
  },
  'cache_data/': pathOf => writeFolder(pathOf('cache_data/osm_cache_EPSG3857'), { year: 2024, tms: true })
}

/** Makes the fixtures that the commands of a page name. @param {string} dir @param {string} commands */
export async function writeFixtures (dir, commands) {
  for (const [name, write] of Object.entries(fixtures)) {
    if (new RegExp(`(?<![\\w/.-])${name.replace('.', '\\.')}`).test(commands)) await write(file => path.join(dir, file))
  }
}

/** Writes the folder that the foreign stores were loaded from. */
export const writeTown = folder => writeFolder(folder, { year: 2024 })
