// Compares two times of a layer by the manifests of its editions: versions are read only where tiles differ, and blocks that an
// edition repeats are not read at all.
//
// It is told so only where manifests know everything. They are played from the first edition on, and make so many versions
// of each time and zoom. If the index has exactly as many, there are no others: the first single write of a place is one
// version too many at its time, and nothing else makes up for it there. Else every version is walked over, as ever.
import { pMapIterable } from 'p-map'
import { compareInner, compareRows, tileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { BLOCK_SIDE } from '../../core/store/blocks.js'
import { LayerStatements, takesOut } from '../../core/store/statements.js'

export const manifestDiffDefaults = {
  versions: 20, // in the index for each block that has to be read: with fewer, to walk over them is quicker
  concurrency: 4 // places played at once
}

const TILES = BLOCK_SIDE ** 2
const ALL = 0xffffffff

/**
 * @typedef {object} Known
 * @property {string} layer
 * @property {Map<number, number>} same zoom -> tiles that exist at both times and are the same
 * @property {() => Generator<{z: number, x: number, ys: number[]}>} differing in the order of ids
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {import('./sides.js').Side} from
 * @param {import('./sides.js').Side} to
 * @param {import('./sides.js').Wanted} wanted an area is better walked over
 * @returns {Promise<Known | undefined>}
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
  const said = new LayerStatements(store.couch, layer, signal)
  await said.open()
  const last = times[0] > times[1] ? times[0] : times[1]
  const manifests = said.manifests.filter(({ time }) => time <= last)
  if (!manifests.length || said.isBeingRemoved) return undefined
  const isWanted = z => z >= zooms.min && z <= zooms.max
  const rows = (await store.timesByZoom(layer, last === '~' ? undefined : last)).filter(({ z }) => isWanted(z))
  const speakers = []
  const [places, names] = [new Set(), new Set()]
  for (const manifest of manifests) {
    const blocks = await said.blocksOf(manifest)
    for (const [place, own] of Object.entries(blocks)) {
      if (!isWanted(parseInt(place))) continue
      places.add(place)
      for (const name of own) names.add(`${place} ${name}`)
    }
    const { time, run, complete } = manifest
    const removals = said.removals.filter(removal => takesOut(removal, time, run))
    speakers.push({ manifest, blocks, removals, reach: complete ? JSON.stringify([manifest.area, manifest.zooms]) : '' })
  }
  if (names.size * manifestDiffDefaults.versions > rows.reduce((sum, { versions }) => sum + versions, 0)) return undefined
  const written = new Map()
  const same = new Map()
  /** @type {Map<number, {x: number, y: number, tiles: Uint16Array}[]>} */
  const differing = new Map()
  for await (const played of pMapIterable(places, place => play(said, place, speakers, times), { concurrency: manifestDiffDefaults.concurrency })) {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    if (!played) return undefined // a block has not come yet
    const { z, x, y } = played
    for (const [time, versions] of played.written) written.set(`${time} ${z}`, (written.get(`${time} ${z}`) ?? 0) + versions)
    same.set(z, (same.get(z) ?? 0) + played.same)
    if (played.differing.length) differing.set(z, [...differing.get(z) ?? [], { x, y, tiles: Uint16Array.from(played.differing) }])
  }
  const isAll = rows.length === written.size && rows.every(({ time, z, versions }) => written.get(`${time} ${z}`) === versions)
  return isAll ? { layer, same, differing: () => inOrder(differing) } : undefined
}

/** What editions made of 64 x 64 tiles, one after the other. */
async function play (said, place, speakers, times) {
  const [z, bx, by] = place.split(':').map(Number)
  const [left, top] = [bx * BLOCK_SIDE, by * BLOCK_SIDE]
  let state = new Uint32Array(2 * TILES).fill(ALL) // there is no tile
  const shown = [state, state]
  const written = new Map()
  let before
  for (let at = 0; at < speakers.length;) {
    const { time } = speakers[at].manifest
    // runs of one time, the greatest last: it counts
    const together = []
    for (; speakers[at]?.manifest.time === time; at++) if (speakers[at].blocks[place] || speakers[at].manifest.complete) together.push(speakers[at])
    if (!together.length) continue
    const repeats = together.length === 1 && !together[0].removals.length ? `${together[0].blocks[place] ?? ''} ${together[0].reach}` : undefined
    if (repeats === undefined || repeats !== before) {
      const next = state.slice()
      for (const speaker of together) if (!await apply(said, place, speaker, next, { z, left, top })) return undefined
      let versions = 0
      for (let tile = 0; tile < TILES; tile++) if (differs(state, next, tile)) versions++
      if (versions) written.set(time, versions)
      state = next
    }
    before = repeats
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

async function apply (said, place, { manifest, blocks, removals }, state, { z, left, top }) {
  const own = new Uint32Array(2 * TILES)
  for (const name of blocks[place] ?? []) {
    const block = await said.block(place, name)
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
    if (removals.some(removal => removal.touches(tileId(said.layer, z, x, y), z, x, y))) continue
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
