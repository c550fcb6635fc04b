// The seeded block of tiles that benchmarks serve, with two editions: in CouchDB, as a folder of files and as MBTiles.
// Also the orders in which clients ask for the tiles.
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import Database from 'libsql'
import { flipY, tileBounds } from '../core/index.js'
import { compact } from '../loader/maintain/compact.js'
import { deploy } from './history/data.js'
import { newStore } from './stoppable.js'
import { noiseTile, random } from './tiles.js'

export const LAYER = 'bench'
export const BYTES = 10_000 // of a tile, approximately
export const OLD = '2023-03-01T00:00:00Z'
export const NEW = '2024-03-01T00:00:00Z'
export const AS_OF = '2023' // the end of 2023, when OLD was the newest edition
const CORNER = { z: 14, x: 5000, y: 5000 }

/**
 * @typedef {{z: number, x: number, y: number, index: number}} Place
 * @typedef {(index: number, time: string) => Buffer} TileOf the bytes of a place at a time
 */

/** A block of tiles in the order of their ids. @returns {Place[]} */
export function placesOf (count) {
  const side = Math.ceil(Math.sqrt(count))
  return Array.from({ length: count },
    (_, index) => ({ z: CORNER.z, x: CORNER.x + Math.floor(index / side), y: CORNER.y + index % side, index }))
}

/** The bytes of a tile. All tiles have the same length, so the total length reveals a wrong answer. @type {TileOf} */
export const bytesOf = (index, time) => noiseTile(index * 2 + (time === NEW ? 1 : 0), BYTES)
export const LENGTH = bytesOf(0, NEW).length

/** The same places in a random order. @param {Place[]} places */
export function shuffled (places, seed) {
  const next = random(seed)
  const order = [...places]
  for (let index = order.length - 1; index > 0; index--) {
    const otherIndex = Math.floor(next() * (index + 1));
    [order[index], order[otherIndex]] = [order[otherIndex], order[index]]
  }
  return order
}

/** Random places by Zipf's law: the n-th most popular place comes 1/n as often as the first. @returns {() => Place} */
export function zipf (places, seed) {
  const next = random(seed)
  const sums = new Float64Array(places.length)
  let total = 0
  for (let rank = 0; rank < places.length; rank++) sums[rank] = total += 1 / (rank + 1)
  return () => {
    const threshold = next() * total
    let [low, high] = [0, sums.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle] > threshold) high = middle
      else low = middle + 1
    }
    return places[low]
  }
}

/**
 * Creates a published store with the editions. Its index is built, the database is compacted, and the server is idle.
 * @param {string} url @param {Place[]} places
 * @param {{times: string[], signal: AbortSignal, closing: (() => any)[], tileOf?: TileOf}} options
 */
export async function fillStore (url, places, { times, signal, closing, tileOf }) {
  const store = await newStore(url, closing)
  await store.defineLayer(LAYER, { name: 'Tiles of a benchmark', format: 'png', minzoom: CORNER.z, maxzoom: CORNER.z })
  for (const time of times) {
    const { failed } = await store.write(versions(places, time, tileOf), { signal })
    if (failed) throw new Error(`${failed} tiles were not written`)
  }
  await compact(store, { when: 'always', signal })
  await deploy(store, { signal })
  return store
}

export function * versions (places, time, tileOf = bytesOf) {
  for (const { z, x, y, index } of places) yield { layer: LAYER, z, x, y, time, bytes: tileOf(index, time) }
}

/** The newest edition as files: LAYER/z/x/y.png. */
export async function writeTree (dir, places, tileOf = bytesOf) {
  const folders = new Set(places.map(({ z, x }) => path.join(dir, LAYER, `${z}`, `${x}`)))
  for (const folder of folders) await mkdir(folder, { recursive: true })
  for (const { z, x, y, index } of places) {
    await writeFile(path.join(dir, LAYER, `${z}`, `${x}`, `${y}.png`), tileOf(index, NEW))
  }
}

/** The newest edition as MBTiles: a table with a unique index, with rows counted from the south. */
export function writeMbtiles (file, places, tileOf = bytesOf) {
  const db = new Database(file)
  try {
    db.exec(
      'CREATE TABLE metadata (name TEXT, value TEXT); CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, ' +
        'tile_row INTEGER, tile_data BLOB)'
    )
    const [first, last] = [places[0], places[places.length - 1]]
    const [west, , , north] = tileBounds(first.z, first.x, first.y)
    const [, south, east] = tileBounds(last.z, last.x, Math.max(...places.map(({ y }) => y)))
    const metadata = {
      name: LAYER, format: 'png', type: 'baselayer', version: '1', description: 'tiles of a benchmark',
      minzoom: first.z, maxzoom: first.z, bounds: [west, south, east, north].join(',')
    }
    const insertMetadata = db.prepare('INSERT INTO metadata VALUES (?, ?)')
    for (const entry of Object.entries(metadata)) insertMetadata.run(entry[0], String(entry[1]))
    db.exec('BEGIN')
    const insert = db.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)')
    for (const { z, x, y, index } of places) insert.run(z, x, flipY(z, y), tileOf(index, NEW))
    db.exec('COMMIT; CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)')
  } finally {
    db.close()
  }
}
