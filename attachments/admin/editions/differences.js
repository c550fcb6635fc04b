// What differs between an edition and the one before, as their manifests say: no tile is read. Blocks are called by
// their content, so those that have one name are the same; of the others the digests are read, within bounds.
import { comparePlace, editionOf } from '../../../core/store/place-diff.js'
import { breathe } from '../../dom.js'
import { blockAt, rowsOf, statementsOf } from './reading.js'

export const differenceDefaults = {
  blocks: 400, // that are read at most, of 32 kB at most; if more differ, some are read and the rest is estimated
  batch: 40 // blocks a request
}

/**
 * @typedef {object} Differences
 * @property {number} blocks of the later edition
 * @property {number} differing places of 64 x 64 tiles where something may differ
 * @property {boolean} isEstimate only some of them were read
 * @property {{added: number, changed: number, removed: number}} tiles
 * @property {import('./reading.js').Rectangle[]} rectangles of the deepest zoom with any
 *
 * @typedef {import('../../../core/store/place-diff.js').Edition} Edition
 */

/**
 * @param {import('../couch.js').Couch} couch
 * @param {[string, string]} times of the two editions
 * @returns {Promise<Differences | undefined>} nothing: one of them has no manifest
 */
export async function differencesOf (couch, layer, times, signal) {
  const [before] = times
  // editions that look at the same tiles need only each other; where one has left something out, all count
  return await compare(couch, layer, times, before, signal) ?? compare(couch, layer, times, '', signal)
}

/** @returns {Promise<Differences | undefined>} nothing: editions before `from` are needed */
async function compare (couch, layer, times, from, signal) {
  const [before, after] = times
  const statements = statementsOf(couch, layer, { from, to: after, signal })
  await statements.open()
  /** @type {Edition[]} */
  const editions = []
  for (const manifest of statements.manifests) {
    if (manifest.time > before && manifest.time < after) continue // an edition whose document is not here
    editions.push(editionOf(statements, manifest, await statements.blocksOf(manifest)))
  }
  const earlier = editions.filter(({ manifest }) => manifest.time <= before)
  const own = editions.filter(({ manifest }) => manifest.time === after)
  if (!own.length || !earlier.some(({ manifest }) => manifest.time === before)) return undefined
  const isWhole = !from || earlier.some(({ manifest, removals }) =>
    manifest.complete && !manifest.area && !manifest.zooms && !removals.length)
  const isComplete = own.some(({ manifest }) => manifest.complete)
  if (!isWhole && isComplete) return undefined

  const wanted = new Set((isComplete ? editions : own).flatMap(({ blocks }) => Object.keys(blocks)))
  const places = [...wanted].filter(place => !isSame(place, own, earlier))
  const namesAt = place => new Set(editions.flatMap(({ blocks }) => blocks[place] ?? []))
  const { some, isAll } = someOf(places, place => namesAt(place).size)
  const found = { tiles: { added: 0, changed: 0, removed: 0 }, rectangles: /** @type {any[]} */ ([]), isMissing: false }
  let batch = /** @type {string[]} */ ([])
  let size = 0
  const read = async () => {
    await statements.preload(batch.flatMap(place => [...namesAt(place)].map(name => ({ place, name }))))
    for (const place of batch) {
      const diff = await comparePlace(statements, place, editions, times)
      if (!diff) found.isMissing = true // a block has not been replicated yet
      else {
        for (const [kind, count] of Object.entries(diff.changes)) found.tiles[kind] += count
        found.rectangles.push(...rowsOf(diff.differing, diff))
      }
      await breathe()
    }
    batch = []
    size = 0
  }
  for (const place of some) {
    batch.push(place)
    size += namesAt(place).size
    if (size >= differenceDefaults.batch) await read()
  }
  await read()
  if (!isWhole && found.tiles.added) return undefined // or they were there before both

  const share = isAll ? 1 : places.length / some.length
  for (const kind of Object.keys(found.tiles)) found.tiles[kind] = Math.round(found.tiles[kind] * share)
  return {
    blocks: new Set(own.flatMap(({ blocks }) => Object.keys(blocks))).size,
    differing: places.length,
    isEstimate: !isAll || found.isMissing,
    tiles: found.tiles,
    rectangles: deepest(isAll ? found.rectangles : places.map(blockAt))
  }
}

/**
 * Whether the later edition repeats at a place what the last one before it said there.
 * @param {string} place @param {Edition[]} own @param {Edition[]} earlier oldest first
 */
function isSame (place, own, earlier) {
  const speaks = ({ manifest, blocks }) => Boolean(blocks[place]) || manifest.complete
  const now = own.filter(speaks)
  const last = earlier.findLast(speaks)
  const then = earlier.filter(edition => edition.manifest.time === last?.manifest.time && speaks(edition))
  if (now.length !== 1 || then.length !== 1 || now[0].removals.length || then[0].removals.length) return false
  return `${now[0].blocks[place] ?? ''}` === `${then[0].blocks[place] ?? ''}` &&
    (!now[0].manifest.complete || now[0].reach === then[0].reach)
}

/** As many places as may be read, evenly spread. @param {string[]} places @param {(place: string) => number} sizeOf */
function someOf (places, sizeOf) {
  const total = places.reduce((sum, place) => sum + sizeOf(place), 0)
  if (total <= differenceDefaults.blocks) return { some: places, isAll: true }
  const few = Math.max(1, Math.floor(places.length * differenceDefaults.blocks / total))
  return { some: Array.from({ length: few }, (_, at) => places[Math.floor(at * places.length / few)]), isAll: false }
}

/** @param {import('./reading.js').Rectangle[]} rectangles */
function deepest (rectangles) {
  const most = rectangles.reduce((max, { z }) => Math.max(max, z), 0)
  return rectangles.filter(({ z }) => z === most)
}
