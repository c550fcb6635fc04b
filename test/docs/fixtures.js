// What the pages take for granted: folders and files of tiles under the names that they use. All of them show one town
// in which something is built every year.
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
  const all = []
  for (let z = 10; z <= DEEPEST.z; z++) {
    const scale = 2 ** (DEEPEST.z - z)
    const side = Math.max(1, 8 / scale)
    const [left, top] = [Math.floor(DEEPEST.x / scale), Math.floor(DEEPEST.y / scale)]
    for (let x = left; x < left + side; x++) for (let y = top; y < top + side; y++) all.push({ z, x, y })
  }
  return all
}

const builtIn = ({ z, x, y }) => 2020 + (x * 7 + y * 13 + z) % 6

/** A field that becomes a house, at another place in each tile; day: moves it. */
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

const isInTown = ({ z, x }) => z < 14 || x < DEEPEST.x + 7 // without its eastern edge
const isCoarse = ({ z }) => z < 13

/**
 * By name; `survey-` stands for the folders of four years.
 * @type {Record<string, (at: (name: string) => string) => Promise<void>>}
 */
const fixtures = {
  'tiles/': at => writeFolder(at('tiles'), { year: 2023 }),
  'newer.mbtiles': async at => writeArchive(at('newer.mbtiles'), 2024),
  'city.mbtiles': async at => writeArchive(at('city.mbtiles'), 2024),
  'tiles-2023/': at => writeFolder(at('tiles-2023'), { year: 2023 }),
  'tiles-2024/': at => writeFolder(at('tiles-2024'), { year: 2024, isThere: isInTown }),
  'survey-': async at => {
    for (const date of ['2021-05-01', '2022-06-15', '2023-04-20', '2024-03-01']) {
      await writeFolder(at(`survey-${date}`), { year: +date.slice(0, 4) })
    }
  },
  'radar/': async at => {
    for (let day = 1; day < 10; day++) {
      await writeFolder(at(`radar/radar-2024-03-0${day}`), { year: 2024, day, isThere: isCoarse })
    }
  },
  'cache_data/': at => writeFolder(at('cache_data/osm_cache_EPSG3857'), { year: 2024, tms: true })
}

/** Makes what the commands of a page name. @param {string} dir @param {string} commands */
export async function writeFixtures (dir, commands) {
  for (const [name, write] of Object.entries(fixtures)) {
    if (new RegExp(`(?<![\\w/.-])${name.replace('.', '\\.')}`).test(commands)) await write(file => path.join(dir, file))
  }
}

/** The folder that the stores of other people were loaded from. */
export const writeTown = folder => writeFolder(folder, { year: 2024 })
