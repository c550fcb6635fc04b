// Copies a layer, or a part of it, to another name or from another store, with its past. Run it again to copy later
// changes.
import { checkLayer, checkSound, endOf, gridOf, layerId, limitsId } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { LayerStatements } from '../../../core/store/statements.js'
import { dropEmptyLayer } from '../../load/undo.js'
import { addParts } from '../mirror/limits.js'
import { isEmptyLayer } from '../../store/layers.js'
import { everyTile, settleAll } from '../../store/settle.js'
import { copyEditions, copyManifests, copyStyles, layerOf, writeLayer } from './documents.js'
import { TileCopier, copyDefaults } from './tiles.js'

/**
 * @typedef {object} CopyOptions
 * @property {import('../../store/index.js').Store} [source] by default the same store
 * @property {import('../../../core/area.js').Area} [area]
 * @property {import('../../../core/grid.js').Zooms} [zooms]
 * @property {string} [time] copy the layer as of this time; a partial time is the end of its period. The copy is not
 * updated: its tiles neither expire nor are fetched
 * @property {boolean} [history] with its past (true)
 * @property {boolean} [permission] copies although the terms of the upstream forbid it
 * @property {boolean} [dryRun] only counts
 * @property {AbortSignal} [signal]
 * @property {(tally: Tally) => void} [onProgress]
 * @property {Partial<typeof import('./tiles.js').copyDefaults>} [limits]
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {string} from layer
 * @param {string} to layer; if it exists, the versions are merged as in a load
 * @param {CopyOptions} [options]
 */
export async function copyLayer (store, from, to, options = {}) {
  checkLayer(from)
  checkLayer(to)
  const { source = store, time } = options
  if (source === store && from === to) {
    throw new TilecouchError('BAD_OPTION', { option: 'TO', value: to, why: 'it is the layer that is copied' })
  }
  return copyAll(store, from, to, { ...options, source, time: time === undefined ? undefined : endOf(time) })
}

const PASSES = 3 // over the tiles at most, if other programs write meanwhile

/** @typedef {import('../../store/index.js').Store} Store */

/**
 * @param {Store} store
 * @param {string} from
 * @param {string} to
 * @param {CopyOptions & {source: Store, renaming?: boolean}} options
 */
export async function copyAll (store, from, to, options) {
  const { source, zooms, time, history = true, renaming = false, permission, dryRun = false } = options
  const sourceLayer = await source.couch.get(layerId(from))
  if (!sourceLayer) throw new TilecouchError('LAYER_NOT_FOUND', { layer: from })
  checkSound(sourceLayer)
  const area = options.area?.in(gridOf(sourceLayer))
  const isNew = await isEmptyLayer(store.couch, to)
  const targetLayer = await store.couch.get(layerId(to))
  const copyOptions = { to, time, area, zooms, permission, isNew, renaming: renaming ? from : undefined }
  const make = stored => layerOf(sourceLayer, stored, copyOptions)
  if (dryRun) make(targetLayer)
  else await writeLayer(store.couch, to, make)

  const tally = new Tally()
  // editions concern the whole layer and are not copied with a part
  const isWhole = history && !area && !zooms
  const copy = { ...options, from, to, area, history, renaming, dryRun, isNew, isWhole, tally }
  try {
    await (dryRun ? copyTiles(store, copy) : copyContents(store, copy))
  } catch (error) {
    if (!targetLayer && !dryRun) await dropEmptyLayer(store, to).catch(() => {}) // the first error is the one to report
    throw Object.assign(error, { summary: { from, to, ...tally } })
  }
  return { from, to, ...tally }
}

/**
 * @typedef {CopyOptions & {
 *   source: Store, from: string, to: string, history: boolean, renaming: boolean, dryRun: boolean, isNew: boolean,
 *   isWhole: boolean, tally: Tally
 * }} Copy
 */

/** Copies everything but the layer document. @param {Store} store @param {Copy} copy */
async function copyContents (store, copy) {
  const { source, from, to, time, renaming, isNew, isWhole, tally } = copy
  await copyLimits(source.couch, store.couch, copy)
  const copiedRuns = isWhole ? await copyManifests(source, store, { from, to, time, isMove: renaming }) : new Set()
  await copyTiles(store, copy)
  if (isWhole || isNew) await settleCopy(store.couch, copiedRuns, copy)
  if (isWhole) tally.editions = await copyEditions(source, store, { from, to, time, isOurs: renaming })
  if (isWhole || isNew) tally.styles = await copyStyles(source, store, { from, to, time })
}

/** Copies the tiles, again if other programs write meanwhile. @param {Store} store @param {Copy} copy */
async function copyTiles (store, copy) {
  const { source, from, area, zooms, isNew, tally, signal } = copy
  const limits = { ...copyDefaults, ...copy.limits }
  for (let pass = 0; pass < PASSES; pass++) {
    Object.assign(tally, { tiles: 0, unchanged: 0, moved: 0, failed: 0, failures: [] })
    const copier = new TileCopier(source.couch, store.couch, { ...copy, isNew: isNew && !pass, limits })
    await copier.copy(source.listTiles(from, { area, zooms, signal }))
    if (!tally.moved) break
  }
}

/** Copies the limits before the statements, so that the copy does not count versions as missing. */
async function copyLimits (source, target, { from, to, isWhole, isNew }) {
  const [limits, targetLimits] = await Promise.all([source.get(limitsId(from)), target.get(limitsId(to))])
  if (limits && isWhole) await addParts(target, to, { ...limits, own: limits.own || (!isNew && !targetLimits) })
  else if (targetLimits) await addParts(target, to, { parts: [], own: true }) // the layer is written in this store
}

/** Settles all tiles, because copied statements may concern tiles of the target, and its statements copied tiles. */
async function settleCopy (couch, copiedRuns, /** @type {Copy} */ { to, isNew, tally, signal }) {
  const statements = new LayerStatements(couch, to, signal)
  await statements.open()
  const records = [...statements.manifests, ...statements.removals]
  const isSettled = isNew && !statements.isBeingRemoved && records.every(({ run }) => copiedRuns.has(run))
  if (isSettled || !records.length) return // only copied statements, or none
  await settleAll(couch, to, everyTile(couch, statements, signal), {
    statements,
    signal,
    onSettled (tiles) {
      for (const [id, { error }] of tiles) if (error) tally.fail(id, error)
    }
  })
}

const MOST_NAMED = 100 // tiles

export class Tally {
  tiles = 0 // checked
  versions = 0 // written versions
  bytes = 0 // of the written versions
  unchanged = 0 // versions that the target had
  extended = 0 // heads that the target had, and that now expire later
  moved = 0 // versions that another program wrote while they were copied
  editions = 0 // written
  styles = 0 // written
  failed = 0
  /** @type {{id: string, code: string, reason: string}[]} the first failures */
  failures = []

  /** @param {string} id @param {import('../../../core/errors.js').TilecouchError} error */
  fail (id, { code, message }) {
    this.failed++
    if (this.failures.length < MOST_NAMED) this.failures.push({ id, code, reason: message })
  }
}
