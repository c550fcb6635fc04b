// Compares two times at one place of 64 x 64 tiles. It applies the manifests of the editions one after the other, and
// reads blocks but no tiles. `tilecouch diff` uses it.
import { tileId } from '../ids.js'
import { BLOCK_SIDE } from './blocks.js'
import { takesOut } from './statements.js'

const TILES = BLOCK_SIDE ** 2
const ALL = 0xffffffff

/**
 * @typedef {object} Edition
 * @property {import('./statements.js').LayerStatements['manifests'][0]} manifest
 * @property {Record<string, string[]>} blocks place -> names of its blocks
 * @property {import('./statements.js').LayerStatements['removals']} removals that withdraw statements of it
 * @property {string} reach area and zooms of a complete edition
 */

/** @param {import('./statements.js').LayerStatements} statements @returns {Edition} */
export function editionOf (statements, manifest, blocks) {
  const { time, run, complete } = manifest
  const removals = statements.removals.filter(removal => takesOut(removal, time, run))
  const reach = complete ? JSON.stringify([manifest.area, manifest.zooms]) : ''
  return { manifest, blocks, removals, reach }
}

/**
 * @typedef {object} PlaceDiff
 * @property {number} z
 * @property {number} x first column
 * @property {number} y first row
 * @property {Map<string, number>} written time -> number of versions that the editions made here
 * @property {number} same tiles that exist at both times and are the same
 * @property {number[]} differing 64 * row + column
 * @property {{added: number, changed: number, removed: number}} changes number of differing tiles by kind
 */

/**
 * Applies editions to the 64 x 64 tiles of a place, and compares two times.
 * @param {import('./statements.js').LayerStatements} statements
 * @param {string} place
 * @param {Edition[]} editions oldest first
 * @param {string[]} times two
 * @returns {Promise<PlaceDiff | undefined>} undefined: a block is not replicated yet
 */
export async function comparePlace (statements, place, editions, times) {
  const [z, bx, by] = place.split(':').map(Number)
  const [left, top] = [bx * BLOCK_SIDE, by * BLOCK_SIDE]
  let state = new Uint32Array(2 * TILES).fill(ALL) // no tiles
  const shown = [state, state]
  const written = new Map()
  let lastContent
  // runs of one time: the greatest, which counts, comes last
  const editionsHere = editions.filter(({ blocks, manifest }) => blocks[place] || manifest.complete)
  const runsByTime = new Map(editionsHere.map(({ manifest }) => [manifest.time, /** @type {Edition[]} */ ([])]))
  for (const edition of editionsHere) runsByTime.get(edition.manifest.time)?.push(edition)
  for (const [time, runs] of runsByTime) {
    const [{ blocks, reach, removals }] = runs
    const content = runs.length === 1 && !removals.length ? `${blocks[place] ?? ''} ${reach}` : undefined
    if (content === undefined || content !== lastContent) {
      const nextState = state.slice()
      for (const run of runs) if (!await apply(statements, place, run, nextState, { z, left, top })) return undefined
      const { differing } = compareStates(state, nextState)
      if (differing.length) written.set(time, differing.length)
      state = nextState
    }
    lastContent = content
    for (const timeIndex of times.keys()) if (time <= times[timeIndex]) shown[timeIndex] = state
  }
  return { z, x: left, y: top, written, ...compareStates(shown[0], shown[1]) }
}

function compareStates (before, after) {
  const differing = []
  const changes = { added: 0, changed: 0, removed: 0 }
  let same = 0
  for (let tile = 0; tile < TILES; tile++) {
    if (before[2 * tile] !== after[2 * tile] || before[2 * tile + 1] !== after[2 * tile + 1]) {
      differing.push(tile)
      const change = exists(after, tile) ? 'changed' : 'removed'
      changes[exists(before, tile) ? change : 'added']++
    } else if (exists(before, tile)) same++
  }
  return { same, differing, changes }
}

const exists = (state, tile) => state[2 * tile] !== ALL || state[2 * tile + 1] !== ALL

/** Changes a state to that after an edition. Returns false if a block is not replicated yet. */
async function apply (statements, place, { manifest, blocks, removals }, state, { z, left, top }) {
  const digests = await readDigests(statements, place, blocks[place])
  if (!digests) return false
  for (let tile = 0; tile < TILES; tile++) {
    const isNamed = digests[2 * tile] || digests[2 * tile + 1]
    if (!isNamed && !(manifest.complete && exists(state, tile))) continue
    const [x, y] = [left + tile % BLOCK_SIDE, top + Math.floor(tile / BLOCK_SIDE)]
    if (!isNamed && !manifest.selects(z, x, y)) continue
    if (removals.some(removal => removal.touches(tileId(statements.layer, z, x, y), z, x, y))) continue
    state[2 * tile] = isNamed ? digests[2 * tile] : ALL
    state[2 * tile + 1] = isNamed ? digests[2 * tile + 1] : ALL
  }
  return true
}

async function readDigests (statements, place, names = []) {
  const digests = new Uint32Array(2 * TILES)
  for (const name of names) {
    const block = await statements.block(place, name)
    if (!block) return undefined
    const blockDigests = new Uint32Array(block.digests.buffer)
    for (let offset = 0; offset < digests.length; offset += 2) {
      if (!blockDigests[offset] && !blockDigests[offset + 1]) continue
      digests[offset] = blockDigests[offset]
      digests[offset + 1] = blockDigests[offset + 1]
    }
  }
  return digests
}
