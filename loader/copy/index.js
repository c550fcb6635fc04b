// Copies a layer, or a part of it, to another name or from another store, with its past. Run it again to bring what has come
// meanwhile.
import { checkLayer, endOf, checkSound, layerId, layerRange } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { LayerStatements } from '../../core/store/statements.js'
import { everyTile, settleAll } from '../store/settle.js'
import { copyEditions, copyManifests, layerOf, writeLayer } from './documents.js'
import { Copier, copyDefaults } from './tiles.js'

/**
 * @typedef {object} CopyOptions
 * @property {import('../store/index.js').Store} [source] where it is copied from; the same store unless given
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {string} [time] as of which; a partial time is the end of its period. The copy is not updated: its tiles neither expire nor are fetched
 * @property {boolean} [history] with its past (true)
 * @property {boolean} [permission] although the terms of the tiles' upstream forbid to take them elsewhere
 * @property {boolean} [dryRun] counts, and writes nothing
 * @property {AbortSignal} [signal]
 * @property {(tally: Tally) => void} [onProgress]
 * @property {Partial<typeof import('./tiles.js').copyDefaults>} [limits]
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} from layer
 * @param {string} to layer; into one that exists the versions are merged, as a load does
 * @param {CopyOptions} [options]
 */
export async function copyLayer (store, from, to, options = {}) {
  checkLayer(from)
  checkLayer(to)
  const { source = store, time } = options
  if (source === store && from === to) throw new TilecouchError('BAD_OPTION', { option: 'TO', value: to, why: 'it is the layer that is copied' })
  return copyAll(store, from, to, { ...options, source, time: time === undefined ? undefined : endOf(time) })
}

const PASSES = 3 // over versions that others wrote while they were copied

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} from
 * @param {string} to
 * @param {CopyOptions & {source: import('../store/index.js').Store, renaming?: boolean}} options
 */
export async function copyAll (store, from, to, { source, area, zooms, time, history = true, renaming = false, permission, dryRun = false, signal, onProgress, limits }) {
  const here = await source.couch.get(layerId(from))
  if (!here) throw new TilecouchError('LAYER_NOT_FOUND', { layer: from })
  checkSound(here)
  const isNew = await isEmptyLayer(store.couch, to)
  const make = there => layerOf(here, there, { to, time, area, zooms, permission, renaming: renaming ? from : undefined })
  if (dryRun) make(await store.couch.get(layerId(to)))
  else await writeLayer(store.couch, to, make)

  const tally = new Tally()
  // the editions are about the whole layer, not about a part
  const isWhole = history && !area && !zooms && !dryRun
  try {
    const copied = isWhole ? await copyManifests(source, store, { from, to, time }) : new Set()
    for (let pass = 0; pass < PASSES; pass++) {
      tally.tiles = tally.unchanged = tally.moved = 0
      const copier = new Copier(source.couch, store.couch, {
        to, time, history, isNew: isNew && !pass, tally, dryRun, signal, onProgress, limits: { ...copyDefaults, ...limits }
      })
      await copier.copy(source.listTiles(from, { area, zooms, signal }))
      if (!tally.moved || dryRun) break
    }
    if (!dryRun && (isWhole || isNew)) await settleWhole(store.couch, to, { copied, isNew, tally, signal })
    if (isWhole) tally.editions = await copyEditions(source, store, { from, to, time, isOurs: renaming })
  } catch (error) {
    throw Object.assign(error, { summary: { from, to, ...tally } })
  }
  return { from, to, ...tally }
}

/** Copied statements may be about tiles that only the target has, and statements there about copied tiles. */
async function settleWhole (couch, to, { copied, isNew, tally, signal }) {
  const said = new LayerStatements(couch, to, signal)
  await said.open()
  const all = [...said.manifests, ...said.removals]
  if (isNew ? all.every(({ run }) => copied.has(run)) : !all.length) return // what was copied follows from what was copied
  await settleAll(couch, to, everyTile(couch, said, signal), {
    statements: said,
    signal,
    onSettled (tiles) {
      for (const [id, { error }] of tiles) if (error) tally.fail(id, error)
    }
  })
}

/** Whether a layer has no tiles. @param {import('../store/couch.js').Couch} couch @param {string} layer */
export async function isEmptyLayer (couch, layer) {
  const rows = await couch.page({ ...layerRange(layer), limit: 1 })
  return rows.length === 0
}

const MOST_NAMED = 100 // tiles

export class Tally {
  tiles = 0 // looked at
  versions = 0 // written
  bytes = 0 // of them
  unchanged = 0 // versions that were there
  extended = 0 // heads that were there, and expire later now
  moved = 0 // versions that another program wrote while they were copied
  editions = 0 // written
  failed = 0
  /** @type {{id: string, code: string, reason: string}[]} the first */
  failures = []

  /** @param {string} id @param {import('../../core/errors.js').TilecouchError} error */
  fail (id, { code, message }) {
    this.failed++
    if (this.failures.length < MOST_NAMED) this.failures.push({ id, code, reason: message })
  }
}
