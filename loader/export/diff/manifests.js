// Compares two times of a layer by the manifests of its editions. It reads only versions of tiles that differ, and
// skips blocks that an edition repeats.
//
// The manifests must have all statements. They are applied from the first edition on, which gives a number of versions
// for each time and zoom. If the index has the same numbers, there are no other versions: the first single write of a
// place is one more version at its time, and nothing can compensate for it. Otherwise all versions are compared.
import { pMapIterable } from 'p-map'
import { cached } from '../../../core/cache.js'
import { compareInner, compareRows } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { ignoring } from '../../../core/promises.js'
import { BLOCK_SIDE } from '../../../core/store/blocks.js'
import { comparePlace, editionOf } from '../../../core/store/place-diff.js'
import { LayerStatements } from '../../../core/store/statements.js'

export const manifestDiffDefaults = {
  versions: 20, // versions in the index per block that must be read; with fewer, comparing all versions is faster
  concurrency: 4 // places at the same time
}

/**
 * @typedef {object} Compared
 * @property {string} layer
 * @property {Map<number, number>} same zoom -> number of tiles that exist at both times and are the same
 * @property {() => Generator<{z: number, x: number, ys: number[]}>} differing in the order of ids
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {import('./index.js').Side} from
 * @param {import('./index.js').Side} to
 * @param {import('../../store/list.js').ListOptions} options without an area
 * @returns {Promise<Compared | undefined>} undefined if all versions must be compared
 */
export async function compareManifests (store, from, to, { area, zooms, signal }) {
  const { layer } = from
  if (layer !== to.layer || area) return undefined
  // NOT_FOUND: a part of a manifest is not replicated yet
  return compareByBlocks(store, layer, [from.time ?? '~', to.time ?? '~'], zooms, signal)
    .catch(ignoring('INDEX_MISSING', 'NOT_FOUND'))
}

async function compareByBlocks (store, layer, times, zooms = { min: 0, max: Infinity }, signal) {
  const statements = new LayerStatements(store.couch, layer, signal)
  await statements.open()
  const lastTime = times[0] > times[1] ? times[0] : times[1]
  const manifests = statements.manifests.filter(({ time }) => time <= lastTime)
  if (!manifests.length || statements.isBeingRemoved) return undefined
  const hasZoom = z => z >= zooms.min && z <= zooms.max
  const rows = (await store.timesByZoom(layer, lastTime === '~' ? undefined : lastTime)).filter(({ z }) => hasZoom(z))
  const { editions, places, blockCount } = await readEditions(statements, manifests, hasZoom)
  const total = rows.reduce((sum, { versions }) => sum + versions, 0)
  if (blockCount * manifestDiffDefaults.versions > total) return undefined
  const versionsByTime = new Map()
  const same = new Map()
  /** @type {Map<number, {x: number, y: number, tiles: Uint16Array}[]>} */
  const differing = new Map()
  const { concurrency } = manifestDiffDefaults
  const compared = pMapIterable(places, place => comparePlace(statements, place, editions, times), { concurrency })
  for await (const diff of compared) {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    if (!diff) return undefined // a block has not been replicated yet
    const { z, x, y } = diff
    for (const [time, versions] of diff.written) addTo(versionsByTime, `${time} ${z}`, versions)
    addTo(same, z, diff.same)
    const tiles = Uint16Array.from(diff.differing)
    if (tiles.length) cached(differing, z, () => /** @type {any[]} */ ([])).push({ x, y, tiles })
  }
  const isSame = ({ time, z, versions }) => versionsByTime.get(`${time} ${z}`) === versions
  const isAll = rows.length === versionsByTime.size && rows.every(isSame)
  return isAll ? { layer, same, differing: () => inOrder(differing) } : undefined
}

/** Reads the blocks of the manifests. blockCount: of different blocks, which must be read */
async function readEditions (statements, manifests, hasZoom) {
  const editions = []
  const [places, names] = [new Set(), new Set()]
  for (const manifest of manifests) {
    const blocks = await statements.blocksOf(manifest)
    for (const [place, blockNames] of Object.entries(blocks)) {
      if (!hasZoom(parseInt(place))) continue
      places.add(place)
      for (const name of blockNames) names.add(`${place} ${name}`)
    }
    editions.push(editionOf(statements, manifest, blocks))
  }
  return { editions, places, blockCount: names.size }
}

const addTo = (counts, key, count) => counts.set(key, (counts.get(key) ?? 0) + count)

function * inOrder (differing) {
  for (const z of [...differing.keys()].sort(compareInner)) {
    const columns = new Map()
    for (const { x, y, tiles } of differing.get(z)) {
      for (const tile of tiles) {
        const column = x + tile % BLOCK_SIDE
        if (!columns.has(column)) columns.set(column, [])
        columns.get(column).push(y + Math.floor(tile / BLOCK_SIDE))
      }
    }
    for (const x of [...columns.keys()].sort(compareInner)) yield { z, x, ys: columns.get(x).sort(compareRows) }
  }
}
