// Compares two times of a layer, or two layers: counts the differences by zoom, and lists them tile by tile. Memory
// does not grow with the number of tiles.
import { endOf, formatReference, gridOf, isSameGrid, parseReference } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { LATEST } from '../../store/list.js'
import { changesOf, pairsOf, withinLayer } from './changes.js'
import { compareManifests } from './manifests.js'

/**
 * One side of a comparison: a layer as of a time.
 * @typedef {object} Side
 * @property {string} name as the user writes it
 * @property {string} layer
 * @property {string} [time] exact: the last second that counts; by default the layer as it is now
 * @property {Record<string, any>} doc fields of its layer
 * @property {() => AsyncIterable<import('../../store/list.js').Listed>} entries existing tiles, in the order of ids
 *
 * @typedef {object} DiffOnly
 * @property {(change: import('./changes.js').Change) => void | Promise<void>} [onTile] called for every tile
 * that differs, in the order of ids; awaited
 * @property {(tally: Tally) => void} [onProgress] called after every tile
 *
 * @typedef {import('../../store/list.js').ListOptions & DiffOnly} DiffOptions
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {string} from `osm@2023`, or `osm` as it is now
 * @param {string} to
 * @param {DiffOptions} [options]
 * @returns {Promise<Summary>}
 */
export async function diff (store, from, to, { onTile, onProgress, area, zooms, signal } = {}) {
  const selection = { area, zooms, signal }
  const tally = new Tally()
  const [before, after] = await openSides(store, [from, to], selection)
  const byManifests = await compareManifests(store, before, after, selection)
  if (byManifests) {
    for (const [z, tiles] of byManifests.same) tally.addSame(z, tiles)
    onProgress?.(tally)
  }
  const pairs = byManifests
    ? withinLayer(store.listNamed(byManifests.layer, byManifests.differing(), { signal }), before, after)
    : pairsOf(store, before, after, selection)
  try {
    for await (const change of changesOf(store, pairs, selection)) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      tally.add(change)
      if (change.change !== 'same' && change.change !== 'missing') await onTile?.(change)
      onProgress?.(tally)
    }
    return tally.summary(before, after)
  } catch (error) {
    throw Object.assign(error, { summary: tally.summary(before, after) })
  }
}

/**
 * @param {import('../../store/index.js').Store} store
 * @param {[string, string]} texts such as `osm@2023`
 * @param {import('../../store/list.js').ListOptions} selection
 * @returns {Promise<[Side, Side]>}
 */
async function openSides (store, [from, to], selection) {
  const firstSide = await openSide(store, parseReference(from), selection)
  const secondSide = await openSide(store, parseReference(to), selection)
  if (isSameGrid(firstSide.doc, secondSide.doc)) return [firstSide, secondSide]
  const [grid, otherGrid] = [firstSide, secondSide].map(({ doc }) => gridOf(doc).id)
  throw new TilecouchError('OTHER_GRID', { what: firstSide.name, grid, other: secondSide.name, otherGrid })
}

/**
 * @param {import('../../store/index.js').Store} store @param {{layer: string, time?: string}} reference
 * @param {import('../../store/list.js').ListOptions} selection @returns {Promise<Side>}
 */
async function openSide (store, { layer, time }, selection) {
  const exactTime = time === undefined ? undefined : endOf(time)
  const doc = await store.layer(layer)
  const area = selection.area?.in(gridOf(doc))
  return {
    name: formatReference(layer, time),
    layer,
    ...(exactTime && { time: exactTime }),
    doc,
    entries: () => store.list(layer, { time: exactTime ?? LATEST, ...selection, area })
  }
}

/**
 * @typedef {object} Counts
 * @property {{added: number, removed: number, changed: number, same: number}} tiles
 * @property {{added: number, removed: number, changed: number}} bytes of the later side of changed tiles
 *
 * @typedef {Counts & {
 *   from: {name: string, layer: string, time?: string},
 *   to: {name: string, layer: string, time?: string},
 *   missing: number,
 *   zooms: (Counts & {z: number})[]
 * }} Summary missing: tiles of which a version was deleted while they were compared
 */

/** @returns {Counts} */
const noCounts = () => ({
  tiles: { added: 0, removed: 0, changed: 0, same: 0 }, bytes: { added: 0, removed: 0, changed: 0 }
})

export class Tally {
  tiles = 0 // compared
  different = 0
  missing = 0
  /** @type {Map<number, Counts>} */
  #zooms = new Map()

  /** @param {import('./changes.js').Change} change */
  add ({ z, change, from, to }) {
    this.tiles++
    if (change === 'missing') {
      this.missing++
      return
    }
    const counts = this.#countsOf(z)
    counts.tiles[change]++
    if (change === 'same') return
    this.different++
    counts.bytes[change] += /** @type {import('../../store/list.js').Listed} */ (to ?? from).size
  }

  /** Adds equal tiles that were not compared one by one. @param {number} z @param {number} tiles */
  addSame (z, tiles) {
    this.tiles += tiles
    if (tiles) this.#countsOf(z).tiles.same += tiles
  }

  /** @param {number} z @returns {Counts} */
  #countsOf (z) {
    if (!this.#zooms.has(z)) this.#zooms.set(z, noCounts())
    return /** @type {Counts} */ (this.#zooms.get(z))
  }

  /**
   * @param {Side} from @param {Side} to
   * @returns {Summary}
   */
  summary (from, to) {
    const zooms = [...this.#zooms].sort(([a], [b]) => a - b).map(([z, counts]) => ({ z, ...counts }))
    return { from: nameOf(from), to: nameOf(to), ...zooms.reduce(addCounts, noCounts()), missing: this.missing, zooms }
  }
}

/** @param {Side} side */
const nameOf = ({ name, layer, time }) => ({ name, layer, ...(time && { time }) })

/** @param {Counts} sum @param {Counts} part @returns {Counts} */
const addCounts = (sum, part) => ({ tiles: addFields(sum.tiles, part.tiles), bytes: addFields(sum.bytes, part.bytes) })

/** @template {Record<string, number>} T @param {T} a @param {T} b @returns {T} */
const addFields = (a, b) =>
  /** @type {any} */ (Object.fromEntries(Object.entries(a).map(([kind, value]) => [kind, value + b[kind]])))
