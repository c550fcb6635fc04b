// Compares two times of a layer, two layers, or a layer and an archive: counts the differences by zoom, lists them tile
// by tile, and exports them. Memory does not grow with the number of tiles.
import { TilecouchError } from '../errors.js'
import { changesOf, pairsOf, withinLayer } from './changes.js'
import { ChangesTarget } from './export.js'
import { compareManifests } from './manifests.js'
import { openSides } from './sides.js'

/**
 * @typedef {object} DiffOptions
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {AbortSignal} [signal]
 * @property {(change: import('./changes.js').Change) => void | Promise<void>} [onTile] of every tile that differs, in
 * the order of ids; awaited
 * @property {(tally: Tally) => void} [onProgress] after every tile
 * @property {string} [target] where to export what changed: a folder or .mbtiles
 * @property {string} [format] of the target; unless given, by its name
 * @property {'xyz' | 'tms'} [scheme] how a folder counts rows
 * @property {boolean} [force] replace a target that exists
 * @property {boolean} [permission] export although the terms of the layer's upstream forbid it
 *
 * @typedef {Summary & {export?: import('./export.js').ExportSummary}} DiffSummary
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} from `osm@2023`, `osm` as it is now, or a file or folder
 * @param {string} to
 * @param {DiffOptions} [options]
 * @returns {Promise<DiffSummary>}
 */
export async function diff (store, from, to, { onTile, onProgress, area, zooms, signal, target, ...options } = {}) {
  const wanted = { area, zooms, signal }
  const tally = new Tally()
  const sides = await openSides(store, [from, to], wanted)
  let begun = false
  /** @type {ChangesTarget | undefined} */
  let exported
  const summaryOf = () => ({ ...tally.summary(sides[0], sides[1]), ...(exported && { export: exported.summary }) })
  let pairs = () => pairsOf(store, sides[0], sides[1], wanted)
  const changes = () => changesOf(store, pairs(), wanted)
  try {
    const known = target === undefined ? await compareManifests(store, sides[0], sides[1], wanted) : undefined
    if (known) {
      for (const [z, tiles] of known.same) tally.addSame(z, tiles)
      pairs = () => withinLayer(store.listNamed(known.layer, known.differing(), { signal }), sides[0], sides[1])
      onProgress?.(tally)
    }
    if (target !== undefined) {
      exported = await ChangesTarget.open(store, sides[0], sides[1], { target, ...wanted, ...options })
    }
    begun = true
    const different = differing(changes(), { tally, onTile, onProgress, signal })
    if (exported) await exported.take(different, signal)
    else while (!(await different.next()).done);
    const summary = tally.summary(sides[0], sides[1])
    return exported ? { ...summary, export: await exported.finish(changes) } : summary
  } catch (error) {
    throw begun ? Object.assign(error, { summary: summaryOf() }) : error
  } finally {
    await exported?.stop().catch(() => {}) // an earlier error says more
    for (const side of sides) await side.close()
  }
}

/** Counts every tile, and yields those that differ. */
async function * differing (changes, { tally, onTile, onProgress, signal }) {
  for await (const change of changes) {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    tally.add(change)
    if (change.change !== 'same' && change.change !== 'missing') {
      await onTile?.(change)
      yield change
    }
    onProgress?.(tally)
  }
}

/**
 * @typedef {object} Counts
 * @property {{added: number, removed: number, changed: number, same: number}} tiles
 * @property {{added: number, removed: number, changed: number}} bytes of changed tiles, those of the later side
 *
 * @typedef {Counts & {
 *   from: {name: string, layer?: string, time?: string},
 *   to: {name: string, layer?: string, time?: string},
 *   missing: number,
 *   zooms: (Counts & {z: number})[]
 * }} Summary missing: tiles of which a version was deleted while they were compared
 */

/** @returns {Counts} */
const empty = () => ({
  tiles: { added: 0, removed: 0, changed: 0, same: 0 }, bytes: { added: 0, removed: 0, changed: 0 }
})

export class Tally {
  tiles = 0 // looked at
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
    const counts = this.#at(z)
    counts.tiles[change]++
    if (change === 'same') return
    this.different++
    counts.bytes[change] += /** @type {import('./sides.js').Entry} */ (to ?? from).size
  }

  /** Tiles that need not be looked at one by one. @param {number} z @param {number} tiles */
  addSame (z, tiles) {
    this.tiles += tiles
    if (tiles) this.#at(z).tiles.same += tiles
  }

  /** @param {number} z @returns {Counts} */
  #at (z) {
    if (!this.#zooms.has(z)) this.#zooms.set(z, empty())
    return /** @type {Counts} */ (this.#zooms.get(z))
  }

  /**
   * @param {import('./sides.js').Side} from @param {import('./sides.js').Side} to
   * @returns {Summary}
   */
  summary (from, to) {
    const zooms = [...this.#zooms].sort(([a], [b]) => a - b).map(([z, counts]) => ({ z, ...counts }))
    return { from: nameOf(from), to: nameOf(to), ...zooms.reduce(total, empty()), missing: this.missing, zooms }
  }
}

/** @param {import('./sides.js').Side} side */
const nameOf = ({ name, layer, time }) => ({ name, ...(layer && { layer }), ...(time && { time }) })

/** @param {Counts} sum @param {Counts} part @returns {Counts} */
const total = (sum, part) => ({ tiles: plus(sum.tiles, part.tiles), bytes: plus(sum.bytes, part.bytes) })

/** @template {Record<string, number>} T @param {T} a @param {T} b @returns {T} */
const plus = (a, b) =>
  /** @type {any} */ (Object.fromEntries(Object.entries(a).map(([kind, value]) => [kind, value + b[kind]])))
