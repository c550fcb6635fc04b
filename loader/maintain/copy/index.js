// Copies a layer, or a part of it, to another name or from another store, with its past. Run it again to copy what has
// been added.
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
 * @property {import('../../store/index.js').Store} [source] unless given, the same store
 * @property {import('../../../core/area.js').Area} [area]
 * @property {import('../../../core/grid.js').Zooms} [zooms]
 * @property {string} [time] copy the layer as of this time; a partial time is the end of its period. The copy is not
 * updated: its tiles neither expire nor are fetched
 * @property {boolean} [history] with its past (true)
 * @property {boolean} [permission] although the terms of the upstream forbid it
 * @property {boolean} [dryRun] counts, and writes nothing
 * @property {AbortSignal} [signal]
 * @property {(tally: Tally) => void} [onProgress]
 * @property {Partial<typeof import('./tiles.js').copyDefaults>} [limits]
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {string} from layer
 * @param {string} to layer; if it exists, the versions are merged as by a load
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

const PASSES = 3 // over versions that others wrote while they were copied

/**
 * @param {import('../../store/index.js').Store} store
 * @param {string} from
 * @param {string} to
 * @param {CopyOptions & {source: import('../../store/index.js').Store, renaming?: boolean}} options
 */
export async function copyAll (store, from, to, options) {
  const { source, zooms, time, history = true, renaming = false, permission, dryRun = false, signal } = options
  const here = await source.couch.get(layerId(from))
  if (!here) throw new TilecouchError('LAYER_NOT_FOUND', { layer: from })
  checkSound(here)
  const area = options.area?.in(gridOf(here))
  const isNew = await isEmptyLayer(store.couch, to)
  const targetLayer = await store.couch.get(layerId(to))
  const how = { to, time, area, zooms, permission, renaming: renaming ? from : undefined }
  const make = stored => layerOf(here, stored, how)
  if (dryRun) make(targetLayer)
  else await writeLayer(store.couch, to, make)

  const tally = new Tally()
  // the editions are about the whole layer, not about a part
  const isWhole = history && !area && !zooms && !dryRun
  try {
    if (!dryRun) await copyLimits(source.couch, store.couch, { from, to, isWhole, isNew })
    const copied = isWhole ? await copyManifests(source, store, { from, to, time, isMove: renaming }) : new Set()
    const limits = { ...copyDefaults, ...options.limits }
    for (let pass = 0; pass < PASSES; pass++) {
      tally.tiles = tally.unchanged = tally.moved = 0
      const settings = { ...options, to, history, isNew: isNew && !pass, tally, dryRun, limits }
      const copier = new TileCopier(source.couch, store.couch, settings)
      await copier.copy(source.listTiles(from, { area, zooms, signal }))
      if (!tally.moved || dryRun) break
    }
    if (!dryRun && (isWhole || isNew)) await settleCopy(store.couch, to, { copied, isNew, tally, signal })
    if (isWhole) tally.editions = await copyEditions(source, store, { from, to, time, isOurs: renaming })
    if (isWhole || (isNew && !dryRun)) tally.styles = await copyStyles(source, store, { from, to, time })
  } catch (error) {
    if (!targetLayer && !dryRun) await dropEmptyLayer(store, to).catch(() => {}) // the first error is the one to report
    throw Object.assign(error, { summary: { from, to, ...tally } })
  }
  return { from, to, ...tally }
}

/** Before statements are copied: what the source does not keep, the copy does not miss. */
async function copyLimits (source, target, { from, to, isWhole, isNew }) {
  const [here, there] = await Promise.all([source.get(limitsId(from)), target.get(limitsId(to))])
  if (here && isWhole) await addParts(target, to, { ...here, own: here.own || (!isNew && !there) })
  else if (there) await addParts(target, to, { parts: [], own: true }) // the copy is written here
}

/** Copied statements may concern tiles that only the target has, and its statements copied tiles. */
async function settleCopy (couch, to, { copied, isNew, tally, signal }) {
  const statements = new LayerStatements(couch, to, signal)
  await statements.open()
  const all = [...statements.manifests, ...statements.removals]
  const isSettled = isNew && !statements.isBeingRemoved && all.every(({ run }) => copied.has(run))
  if (isSettled || !all.length) return // nothing but copied statements, or none
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
  tiles = 0 // looked at
  versions = 0 // written
  bytes = 0 // of them
  unchanged = 0 // versions that existed
  extended = 0 // heads that existed, and expire later now
  moved = 0 // versions that another program wrote while they were copied
  editions = 0 // written
  styles = 0 // written
  failed = 0
  /** @type {{id: string, code: string, reason: string}[]} the first */
  failures = []

  /** @param {string} id @param {import('../../../core/errors.js').TilecouchError} error */
  fail (id, { code, message }) {
    this.failed++
    if (this.failures.length < MOST_NAMED) this.failures.push({ id, code, reason: message })
  }
}
