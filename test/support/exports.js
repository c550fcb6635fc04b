// Helpers for tests of exports: a store whose tiles are known at every time, and readers of exported files that use
// other code than the project.
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import Database from 'libsql'
import { PMTiles } from 'pmtiles'
import { flipY } from '../../core/index.js'
import { Store } from '../../loader/store/index.js'
import { useStore } from './store.js'
import { png } from './tiles.js'
import { publishFunctions } from './published.js'

/** Editions of the layer `osm`, and moments before, between and after them. */
export const EDITIONS = ['2021-05-01T00:00:00Z', '2022-06-01T12:30:00Z', '2023-07-01T00:00:00Z']
export const MOMENTS = ['2021-05-01T00:00:00Z', '2022-01-01', '2022', '2023-07-01T00:00:00Z', undefined]

const ZOOMS = [0, 1, 2, 3, 5]

/** The new content of a tile in an edition: a number for an image, null for none, undefined for no change. */
function change (edition, z, x, y) {
  if (edition === 0) return x % 4 === 3 ? undefined : z * 10000 + (y % 3 ? x * 100 + y : 7) // some images are equal
  if (edition === 1) {
    if ((x + y) % 5 === 0) return null
    if ((x * y) % 3 === 1) return 50000 + z * 1000 + x
    return x % 4 === 3 ? 60000 + y : undefined
  }
  if ((x + y) % 5 === 0 && y % 2) return 70000 + x
  return x === 2 ? z * 10000 + x * 100 + y : undefined
}

function * places () {
  for (const z of ZOOMS) {
    const side = Math.min(2 ** z, 12)
    for (let x = 0; x < side; x++) for (let y = 0; y < side; y++) yield { z, x, y }
  }
}

/** The versions of a place, as the rules of the timeline make them. @returns {{time: string, seed: number | null}[]} */
function versionsOf ({ z, x, y }) {
  const versions = []
  for (const [edition, time] of EDITIONS.entries()) {
    const seed = change(edition, z, x, y)
    if (seed !== undefined && seed !== (versions.at(-1)?.seed ?? null)) versions.push({ time, seed })
  }
  return versions
}

/**
 * The tiles of the layer as of a time: z/x/y -> time and bytes.
 * @param {string} [until] a time, which may be partial
 */
export function shownAt (until = '9999') {
  return new Map([...places()].flatMap(place => {
    const version = versionsOf(place).findLast(({ time }) => time <= until || time.startsWith(until))
    return version && version.seed !== null
      ? [[`${place.z}/${place.x}/${place.y}`, { time: version.time, bytes: png(version.seed) }]] : []
  }))
}

/** @param {string} [until] @returns {Map<string, Buffer>} */
export const expected = until => new Map([...shownAt(until)].map(([name, { bytes }]) => [name, bytes]))

/** One store with the layer `osm` for a whole suite. */
export const useLayer = backend => useStore(backend, { once: true, fill: store => fillLayer(store) })

/** Creates a store, calls `use`, and destroys the store. @param {(store: Store) => Promise<any>} use */
export async function withStore (backend, use) {
  const store = await Store.create(await backend.database())
  try {
    return await use(store)
  } finally {
    await store.destroy()
  }
}

/** Defines `osm` with tiles of one time. @param {Map<string, Buffer>} tiles z/x/y -> bytes */
export async function writeTiles (store, tiles, time) {
  await store.defineLayer('osm', { format: 'png' })
  await store.write([...tiles].map(([name, bytes]) => {
    const [z, x, y] = name.split('/').map(Number)
    return { layer: 'osm', z, x, y, time, bytes }
  }))
  await publishFunctions(store)
}

export async function fillLayer (store, layer = 'osm') {
  await store.defineLayer(layer,
    { name: 'Streets', attribution: '© nobody', format: 'png', tileSize: 512, encoding: 'terrarium' })
  for (const [edition, time] of EDITIONS.entries()) {
    const versions = [...places()].map(({ z, x, y }) => ({ layer, z, x, y, time, seed: change(edition, z, x, y) }))
      .filter(({ seed }) => seed !== undefined)
      .map(({ seed, ...version }) => ({ ...version, ...(seed === null ? { gone: true } : { bytes: png(seed) }) }))
    await store.write(versions)
    await store.putEdition(layer, time, { finished: time })
  }
  await publishFunctions(store)
}

/** Every file below a folder, as paths with slashes. @returns {string[]} */
export const filesBelow = folder => readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile())
    .map(entry => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/')).sort()

/**
 * Reads the tiles of a target: z/x/y -> bytes.
 * @param {string} target
 * @param {{tms?: boolean, asked?: Iterable<string>}} [options] asked: tiles to read from PMTiles; default all of `osm`
 * @returns {Promise<Map<string, Buffer>>}
 */
export async function contentsOf (target, { tms = false, asked: names } = {}) {
  if (target.endsWith('.mbtiles')) return inMbtiles(target)
  if (target.endsWith('.pmtiles')) {
    return inPmtiles(target, names ?? Array.from(places(), ({ z, x, y }) => `${z}/${x}/${y}`))
  }
  const files = new Map(filesBelow(target).map(name => [name, readFileSync(path.join(target, name))]))
  return new Map([...files].flatMap(([name, bytes]) => {
    const match = /^(\d+)\/(\d+)\/(\d+)\.\w+$/.exec(name)
    return match ? [[`${match[1]}/${match[2]}/${tms ? flipY(+match[1], +match[3]) : match[3]}`, bytes]] : []
  }))
}

export function query (file, sql) {
  const db = new Database(file)
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}

const inMbtiles = file => new Map(query(file, 'SELECT * FROM tiles').map(row => (
  [`${row.zoom_level}/${row.tile_column}/${flipY(row.zoom_level, row.tile_row)}`,
    row.tile_data && Buffer.from(row.tile_data)])))

/** Reads tiles with the official reader. */
async function inPmtiles (file, names) {
  const bytes = readFileSync(file)
  const archive = new PMTiles({
    getKey: () => file,
    getBytes: async (offset, length) => (
      { data: bytes.buffer.slice(bytes.byteOffset + offset, bytes.byteOffset + offset + length) }
    )
  })
  const tiles = new Map()
  for (const name of names) {
    const [z, x, y] = name.split('/').map(Number)
    const tile = await archive.getZxy(z, x, y)
    if (tile) tiles.set(name, Buffer.from(tile.data))
  }
  return tiles
}

/** Asserts that two maps have the same tiles with the same bytes. */
export function assertSameTiles (tiles, wantedTiles, message = '') {
  const names = map => [...map.keys()].sort()
  if (JSON.stringify(names(tiles)) !== JSON.stringify(names(wantedTiles))) {
    const [extra, missing] =
      [names(tiles).filter(name => !wantedTiles.has(name)), names(wantedTiles).filter(name => !tiles.has(name))]
    throw new Error(
      `${message} has ${tiles.size} tiles instead of ${wantedTiles.size}; too many: ${extra.slice(0, 5)}; lacking: ` +
        `${missing.slice(0, 5)}`
    )
  }
  for (const [name, bytes] of wantedTiles) if (!bytes.equals(tiles.get(name))) {
    throw new Error(`${message} ${name} has other bytes`)
  }
}
