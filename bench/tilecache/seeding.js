// Measures how long the seeding takes: as files, as documents one by one and in bulk, and as the files of an export.
import { mkdir, open, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { compareIds, tileId } from '../../core/index.js'
import { tileDocument } from '../../core/store/documents.js'
import { exportTree, load } from '../../loader/index.js'
import { compact } from '../../loader/maintain/compact.js'
import { Couch } from '../../loader/store/couch.js'
import { prepareTile } from '../../loader/store/tile.js'
import { deploy } from '../history/data.js'
import { turns } from '../measure.js'
import { plain, writePuts } from '../raw.js'
import { dropping, newStore } from '../stoppable.js'
import { spread } from './lap.js'
import { LAYER } from './map.js'
import * as names from './names.js'

export const TIME = '2024-03-01T00:00:00Z'

/** @typedef {import('./map.js').Tile} Tile */

export const fileOf = (folder, { z, x, y }) => path.join(folder, LAYER, `${z}`, `${x}`, `${y}.png`)

/** @param {string} folder @param {Tile[]} tiles @param {{synced?: boolean, signal?: AbortSignal}} [options] */
export async function writeFiles (folder, tiles, { synced = false, signal } = {}) {
  const existingFolders = new Set()
  for (const tile of tiles) {
    signal?.throwIfAborted()
    const file = fileOf(folder, tile)
    const parent = path.dirname(file)
    if (!existingFolders.has(parent)) await mkdir(parent, { recursive: true })
    existingFolders.add(parent)
    if (synced) await writeSynced(file, tile.bytes)
    else await writeFile(file, tile.bytes)
  }
}

async function writeSynced (file, bytes) {
  const handle = await open(file, 'w')
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * A source of the tiles, in the order of ids as in all sources.
 * @param {Tile[]} tiles
 * @returns {import('../../loader/load/sources/index.js').Source}
 */
const sourceOf = tiles => ({
  name: 'tiles of a benchmark',
  fields: {},
  async * tiles () { for (const { z, x, y, bytes } of tiles.toSorted((a, b) => compareIds(idOf(a), idOf(b)))) {
    yield { z, x, y, read: async () => bytes }
  } },
  close () {}
})
const idOf = ({ z, x, y }) => tileId(LAYER, z, x, y)

/** @param {import('../../loader/store/index.js').Store} store @param {Tile[]} tiles */
async function loadTiles (store, tiles, signal) {
  const { created, failed } = await load(store, sourceOf(tiles), { layer: LAYER, time: TIME, signal })
  if (created !== tiles.length || failed) {
    throw new Error(`${created} of ${tiles.length} tiles loaded, ${failed} failed`)
  }
}

/** Fills the store of all readers, and its tree of files. @param {Tile[]} tiles */
export async function fill (url, tiles, tree, { signal, closing }) {
  const store = await newStore(url, closing)
  await loadTiles(store, tiles, signal)
  await compact(store, { when: 'always', signal })
  await deploy(store, { signal })
  await exportAll(store, tiles, tree, signal)
  return store
}

async function exportAll (store, tiles, folder, signal) {
  const summary = await exportTree(store, LAYER, folder, { editions: false, signal })
  if (summary.tiles !== tiles.length || summary.failed) {
    throw new Error(`${summary.tiles} of ${tiles.length} tiles exported, ${summary.failed} failed`)
  }
}

/** `store` contains the tiles already, for the export. */
export async function measureSeeding ({ server, dir, store, tiles, rounds, signal, closing, log }) {
  const url = `${server}/bench_tilecache_seed`
  const folder = path.join(dir, 'seeded')
  const prepared =
    await Promise.all(tiles.map(({ z, x, y, bytes }) => prepareTile({ layer: LAYER, z, x, y, time: TIME, bytes })))
  function * documents () {
    for (const tile of prepared) yield plain(tileDocument(tile, { current: true, stored: TIME }))
  }
  const newEmptyStore = () => newStore(url)
  closing.push(() => dropping(new Couch(url))())
  /** @type {{name: string, before?: () => Promise<any>, run: (seeded: any) => Promise<any>}[]} */
  const ways = [
    { name: names.SEED_FILES, run: () => writeFiles(folder, tiles, { signal }) },
    { name: names.SEED_SYNCED, run: () => writeFiles(folder, tiles, { synced: true, signal }) },
    { name: names.SEED_PUT, before: newEmptyStore, run: seeded => writePuts(seeded.couch, documents(), { signal }) },
    { name: names.SEED_LOAD, before: newEmptyStore, run: seeded => loadTiles(seeded, tiles, signal) },
    { name: names.SEED_TREE, run: () => exportAll(store, tiles, folder, signal) }
  ]
  const seconds = Object.fromEntries(ways.map(({ name }) => [name, /** @type {number[]} */ ([])]))
  for (const { round, contender: { name, before, run } } of turns(ways, rounds)) {
    const seeded = await before?.()
    const start = performance.now()
    await run(/** @type {import('../../loader/store/index.js').Store} */ (seeded))
    seconds[name].push((performance.now() - start) / 1000)
    await rm(folder, { recursive: true, force: true })
    log(`  round ${round + 1}  ${name.padEnd(54)} ${seconds[name][round].toFixed(2).padStart(7)} s`)
  }
  return Object.fromEntries(Object.entries(seconds).map(([name, secondsList]) => [name, spread(secondsList)]))
}
