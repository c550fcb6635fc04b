// Compares two times of a layer by the manifests of its editions: versions are read only where tiles differ, and blocks
// that an edition repeats are not read at all.
//
// This needs manifests that know everything. They are applied from the first edition on, and make so many versions of
// each time and zoom. If the index has exactly as many, there are no others: the first single write of a place is one
// version too many at its time, and nothing else can compensate for it there. Otherwise all versions are compared.
import { pMapIterable } from 'p-map'
import { compareInner, compareRows, tileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { BLOCK_SIDE } from '../../core/store/blocks.js'
import { LayerStatements, takesOut } from '../../core/store/statements.js'

export const manifestDiffDefaults = {
  versions: 20, // in the index for each block that must be read: with fewer, comparing all versions is faster
  concurrency: 4 // places at once
}

const TILES = BLOCK_SIDE ** 2
const ALL = 0xffffffff

/**
 * @typedef {object} Compared
 * @property {string} layer
 * @property {Map<number, number>} same zoom -> tiles that exist at both times and are the same
 * @property {() => Generator<{z: number, x: number, ys: number[]}>} differing in the order of ids
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {import('./sides.js').Side} from
 * @param {import('./sides.js').Side} to
 * @param {import('./sides.js').Wanted} wanted without an area
 * @returns {Promise<Compared | undefined>} nothing if all versions must be compared
 */
export async function compareManifests (store, from, to, { area, zooms, signal }) {
  const { layer } = from
  if (layer === undefined || layer !== to.layer || area) return undefined
  try {
    return await compare(store, layer, [from.time ?? '~', to.time ?? '~'], zooms, signal)
  } catch (error) {
    if (!['INDEX_MISSING', 'NOT_FOUND'].includes(error.code)) throw error // a part of a manifest has not come yet
  }
}

async function compare (store, layer, times, zooms = { min: 0, max: Infinity }, signal) {
  const statements = new LayerStatements(store.couch, layer, signal)
  await statements.open()
  const last = times[0] > times[1] ? times[0] : times[1]
  const manifests = statements.manifests.filter(({ time }) => time <= last)
  if (!manifests.length || statements.isBeingRemoved) return undefined
  const isWanted = z => z >= zooms.min && z <= zooms.max
  const rows = (await store.timesByZoom(layer, last === '~' ? undefined : last)).filter(({ z }) => isWanted(z))
  const editions = []
  const [places, names] = [new Set(), new Set()]
  for (const manifest of manifests) {
    const blocks = await statements.blocksOf(manifest)
    for (const [place, own] of Object.entries(blocks)) {
      if (!isWanted(parseInt(place))) continue
      places.add(place)
      for (const name of own) names.add(`${place} ${name}`)
    }
    const { time, run, complete } = manifest
    const removals = statements.removals.filter(removal => takesOut(removal, time, run))
    const reach = complete ? JSON.stringify([manifest.area, manifest.zooms]) : ''
    editions.push({ manifest, blocks, removals, reach })
  }
  const total = rows.reduce((sum, { versions }) => sum + versions, 0)
  if (names.size * manifestDiffDefaults.versions > total) return undefined
  const written = new Map()
  const same = new Map()
  /** @type {Map<number, {x: number, y: number, tiles: Uint16Array}[]>} */
  const differing = new Map()
  const { concurrency } = manifestDiffDefaults
  const compared = pMapIterable(places, place => comparePlace(statements, place, editions, times), { concurrency })
  for await (const one of compared) {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    if (!one) return undefined // a block has not been replicated yet
    const { z, x, y } = one
    for (const [time, versions] of one.written) {
      const key = `${time} ${z}`
      written.set(key, (written.get(key) ?? 0) + versions)
    }
    same.set(z, (same.get(z) ?? 0) + one.same)
    const tiles = Uint16Array.from(one.differing)
    if (tiles.length) differing.set(z, [...differing.get(z) ?? [], { x, y, tiles }])
  }
  const isAll = rows.length === written.size && rows.every(({ time, z, versions }) => written.get(`${time} ${z}`) === versions)
  return isAll ? { layer, same, differing: () => inOrder(differing) } : undefined
}

/** Applies the editions to 64 x 64 tiles, one after the other, and compares the two times. */
async function comparePlace (statements, place, editions, times) {
  const [z, bx, by] = place.split(':').map(Number)
  const [left, top] = [bx * BLOCK_SIDE, by * BLOCK_SIDE]
  let state = new Uint32Array(2 * TILES).fill(ALL) // there is no tile
  const shown = [state, state]
  const written = new Map()
  let before
  for (let at = 0; at < editions.length;) {
    const { time } = editions[at].manifest
    // runs of one time, the greatest last: it counts
    const runs = []
    for (; editions[at]?.manifest.time === time; at++) {
      if (editions[at].blocks[place] || editions[at].manifest.complete) runs.push(editions[at])
    }
    if (!runs.length) continue
    const [{ blocks, reach, removals }] = runs
    const content = runs.length === 1 && !removals.length ? `${blocks[place] ?? ''} ${reach}` : undefined
    if (content === undefined || content !== before) {
      const next = state.slice()
      for (const run of runs) if (!await apply(statements, place, run, next, { z, left, top })) return undefined
      let versions = 0
      for (let tile = 0; tile < TILES; tile++) if (differs(state, next, tile)) versions++
      if (versions) written.set(time, versions)
      state = next
    }
    before = content
    for (const index of times.keys()) if (time <= times[index]) shown[index] = state
  }
  const differing = []
  let same = 0
  for (let tile = 0; tile < TILES; tile++) {
    if (differs(shown[0], shown[1], tile)) differing.push(tile)
    else if (exists(shown[0], tile)) same++
  }
  return { z, x: left, y: top, written, same, differing }
}

const differs = (one, other, tile) => one[2 * tile] !== other[2 * tile] || one[2 * tile + 1] !== other[2 * tile + 1]
const exists = (state, tile) => state[2 * tile] !== ALL || state[2 * tile + 1] !== ALL

async function apply (statements, place, { manifest, blocks, removals }, state, { z, left, top }) {
  const own = new Uint32Array(2 * TILES)
  for (const name of blocks[place] ?? []) {
    const block = await statements.block(place, name)
    if (!block) return false
    const digests = new Uint32Array(block.digests.buffer)
    for (let at = 0; at < own.length; at += 2) {
      if (!digests[at] && !digests[at + 1]) continue
      own[at] = digests[at]
      own[at + 1] = digests[at + 1]
    }
  }
  for (let tile = 0; tile < TILES; tile++) {
    const isNamed = own[2 * tile] || own[2 * tile + 1]
    if (!isNamed && !(manifest.complete && exists(state, tile))) continue
    const [x, y] = [left + tile % BLOCK_SIDE, top + Math.floor(tile / BLOCK_SIDE)]
    if (!isNamed && !manifest.selects(z, x, y)) continue
    if (removals.some(removal => removal.touches(tileId(statements.layer, z, x, y), z, x, y))) continue
    state[2 * tile] = isNamed ? own[2 * tile] : ALL
    state[2 * tile + 1] = isNamed ? own[2 * tile + 1] : ALL
  }
  return true
}

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
