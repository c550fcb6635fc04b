// What differs between two times of a layer, two layers, or a layer and an archive: counted by zoom, told tile by tile, and
// exported. In bounded memory, whatever the number of tiles.
import { TilecouchError } from '../core/index.js'
import { changesOf } from './diff/changes.js'
import { ChangesTarget } from './diff/export.js'
import { compareManifests } from './diff/manifests.js'
import { pairsOf, withinLayer } from './diff/pairs.js'
import { openSides } from './diff/sides.js'
import { Tally } from './diff/tally.js'

/**
 * @typedef {object} DiffOptions
 * @property {import('../core/area.js').Area} [area]
 * @property {import('../core/grid.js').Zooms} [zooms]
 * @property {AbortSignal} [signal]
 * @property {(change: import('./diff/changes.js').Change) => void | Promise<void>} [onTile] of every tile that differs, in the order of ids; waited for
 * @property {(tally: Tally) => void} [onProgress] after every tile
 * @property {string} [target] where to export what changed: a folder, .mbtiles or .zip
 * @property {string} [format] of the target, where its name does not tell
 * @property {'xyz' | 'tms'} [scheme] how a folder or zip counts rows
 * @property {boolean} [force] replace a target that is there
 * @property {boolean} [permission] export although the terms of the layer's upstream forbid it
 *
 * @typedef {import('./diff/tally.js').Summary & {export?: import('./diff/export.js').ExportSummary}} DiffSummary
 */

/**
 * @param {import('./store/index.js').Store} store
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
    if (target !== undefined) exported = await ChangesTarget.open(store, sides[0], sides[1], { target, ...wanted, ...options })
    begun = true
    const told = tell(changes(), { tally, onTile, onProgress, signal })
    if (exported) await exported.take(told, signal)
    else await walk(told)
    const summary = tally.summary(sides[0], sides[1])
    return exported ? { ...summary, export: await exported.finish(changes) } : summary
  } catch (error) {
    throw begun ? Object.assign(error, { summary: summaryOf() }) : error
  } finally {
    await exported?.stop().catch(() => {}) // what went wrong before says more
    for (const side of sides) await side.close()
  }
}

/** Counts every tile, and gives those that differ. */
async function * tell (changes, { tally, onTile, onProgress, signal }) {
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

async function walk (changes) {
  const steps = changes[Symbol.asyncIterator]()
  while (!(await steps.next()).done);
}
