// Removes the past versions of a layer that are not visible at any moment that its retention policy keeps. After every
// step the map as of each kept moment is right, so that a run may be killed at any point and repeated. It writes no
// removal documents, because no kept moment depends on the removed versions, even if a manifest has them. It skips
// tiles that the last run has checked (last.js).
import { batchesOf } from '../../../core/lists.js'
import { checkRetention, headId, now as clock, editionId, isExactTime, parseDocumentId } from '../../../core/index.js'
import { newRun } from '../../../core/runs.js'
import { TilecouchError } from '../../errors.js'
import { LayerStatements } from '../../../core/store/statements.js'
import { versionIn } from '../../../core/store/plan.js'
import { settleTiles } from '../../../core/store/settle.js'
import { compactAfter } from '../compact.js'
import { Remover } from '../remove/remover.js'
import { repeat } from '../repeat.js'
import { tileAccess } from '../../store/settle.js'
import { LastPrune } from './last.js'
import { markPruned } from './mark.js'
import { pruneDefaults, PrunePlan } from './plan.js'

/** Errors of one layer that do not stop the others. */
const OF_ONE_LAYER = new Set(['BAD_RETENTION', 'LAYER_NOT_FOUND'])

/**
 * @typedef {object} PruneOptions
 * @property {import('../../../core/retention.js').Retention} [policy] by default that of the layer
 * @property {() => string} [now]
 * @property {boolean} [purge] leave no trace of removed documents
 * @property {boolean} [dryRun] only make the plan
 * @property {'auto' | 'always' | 'never'} [compact] compact the store afterwards; auto: if it frees enough
 * @property {AbortSignal} [signal]
 * @property {(plan: {layer: string} & import('./plan.js').PlanSummary) => void | Promise<void>} [onBegin] awaited
 *   before the first removal
 * @property {(done: {layer: string, looked: number, total?: number, versions: number}) => void} [onProgress] total:
 * undefined if only a part is checked; versions: removed ones
 * @property {Parameters<typeof compactAfter>[3]['onCompact']} [onCompact]
 * @property {Partial<typeof pruneDefaults & typeof import('../remove/remover.js').removeDefaults>} [limits]
 *
 * @typedef {import('./plan.js').PlanSummary & import('../remove/remover.js').Removed} Pruned
 * @typedef {Pruned & {layer: string, editions: number, compaction?: any}} PruneSummary editions: removed
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {string} layer
 * @param {PruneOptions} [options]
 * @returns {Promise<PruneSummary>}
 */
export async function prune (store, layer, { compact: when = 'auto', ...options } = {}) {
  const summary = await pruneLayer(store, layer, options)
  if (options.dryRun) return summary
  return { ...summary, ...await compactAfter(store, when, summary.versions, options) }
}

/** @returns {Promise<PruneSummary>} */
async function pruneLayer (store, layer, settings) {
  const { policy, now = clock, dryRun = false, onBegin, limits, ...options } = settings
  const doc = await store.layer(layer)
  const usedPolicy = policy ?? doc.retention
  if (!usedPolicy) throw new TilecouchError('BAD_RETENTION', { why: `none is given, and the layer ${layer} has none` })
  const { signal } = options
  const allLimits = { ...pruneDefaults, ...limits }
  const checkedPolicy = checkRetention(usedPolicy)
  const lastPrune = await new LastPrune(store.couch, layer, { page: allLimits.page, signal }).read()
  const idle = dryRun ? undefined : lastPrune.idle(checkedPolicy, now())
  if (idle) {
    await onBegin?.({ layer, ...idle })
    return { layer, ...idle, ...new Remover(store).tally, editions: 0 }
  }
  const plan = new PrunePlan(layer, checkedPolicy, { now, limits: allLimits })
  const editionTimes = dryRun ? [] : await manifestTimes(store.couch, layer, signal) // read before the moments
  const newEditions = dryRun ? undefined : await watchEditions(store.couch, layer, signal)
  await plan.read(store.couch, signal)
  const { counts, missing } = plan
  // probably a typing error: the intended edition would be removed
  if (missing.length && (policy || !counts.kept)) {
    throw new TilecouchError('BAD_RETENTION', { why: `${layer} has no edition ${missing.join(', ')}` })
  }
  await onBegin?.({ layer, ...plan.summary })
  const tiles = await lastPrune.tiles(plan.kept, plan.versions)
  const pruneOptions = { now, dryRun, tiles, newEditions, editionTimes, limits: allLimits, ...options }
  const tally = await removeVersions(store, layer, plan, pruneOptions)
  const { changed, refused, versions, editions } = tally
  if (!dryRun && !changed && !refused && !missing.length) {
    await lastPrune.write(plan.kept, versions || editions ? undefined : plan.idle)
  }
  return { layer, ...plan.summary, ...tally }
}

/** The times of all manifests, also of editions that earlier prunes have removed. */
async function manifestTimes (couch, layer, signal) {
  const times = new Set()
  const range = { startkey: `manifest:${layer}@`, endkey: `manifest:${layer}@~` }
  for await (const rows of couch.pages(range, { signal })) {
    for (const { id } of rows) times.add(parseDocumentId(id)?.time)
  }
  return [...times].filter(Boolean)
}

/** Removes versions, tile by tile, then editions. */
async function removeVersions (store, layer, plan, options) {
  const { now, purge, dryRun, tiles, newEditions, editionTimes, limits, signal, onProgress } = options
  // batches are made below: each is removed directly after a check for new editions
  const remover = new Remover(store, { purge, dryRun, signal, limits: { ...limits, batch: Infinity } })
  await remover.begin()
  const statements = remover.statements.ofLayer(layer)
  await statements.open()
  const run = newRun(statements.lastRun)
  let looked = 0
  let isMarked = dryRun
  const tilesToPrune = async function * () {
    const listed = tiles ? store.listNamed(layer, tiles, { signal }) : store.listTiles(layer, { signal })
    for await (const tile of listed) {
      looked += tile.versions.length
      const { length } = plan.versionsToPrune(tile.versions)
      if (length) yield { tile, size: length }
      onProgress?.({ layer, looked, total: tiles ? undefined : plan.versions, versions: remover.tally.versions })
    }
  }
  for await (const batch of batchesOf(tilesToPrune(), { most: limits.batch, bytes: limits.batch })) {
    for (const time of await newEditions?.() ?? []) plan.keep(time)
    if (!isMarked) await markPruned(store, layer, now(), run, plan, editionTimes)
    isMarked = true
    const removed = []
    for (const { tile } of batch) {
      const versions = plan.versionsToPrune(tile.versions)
      plan.count(versions)
      removed.push({ tile, versions })
      await remover.take(tile, versions)
    }
    await remover.flush()
    // an edition that began between the check and the deletion may have been compared with the deleted versions
    const newTimes = await newEditions?.() ?? []
    for (const time of newTimes) plan.keep(time)
    const neededVersions = ({ tile, versions }) => {
      const toPrune = plan.versionsToPrune(tile.versions)
      return versions.filter(version => !toPrune.includes(version))
    }
    if (newTimes.length) await restore(store, layer, removed.flatMap(neededVersions))
    await remover.purgeIfMany() // a purged version could not be restored
  }
  let editions = 0
  for await (const batch of batchesOf(plan.editions, { most: limits.batch, bytes: Infinity })) {
    editions += (await remover.end(batch)).size
  }
  return { ...await remover.finish(), editions }
}

/** Restores versions that were deleted but are needed, from the revisions before the deletion. */
async function restore ({ couch }, layer, versions) {
  if (!versions.length) return
  const access = tileAccess(couch)
  const byTile = new Map()
  for (const doc of await access.fetch(versions.map(({ id, rev }) => ({ id, rev })))) {
    const id = headId(doc._id)
    const version = { ...versionIn(doc), id: undefined, rev: undefined, inManifest: false, documentOf: () => doc }
    byTile.set(id, [...byTile.get(id) ?? [], version])
  }
  const statements = new LayerStatements(couch, layer)
  await settleTiles(access, [...byTile.keys()], {
    readFacts: ids => statements.readFacts(ids, { isFresh: true }), incomingOf: id => byTile.get(id) ?? []
  })
}

/**
 * Prunes every layer that has a policy.
 * @param {import('../../store/index.js').Store} store
 * @param {Omit<PruneOptions, 'policy'> & {
 *   live?: boolean, every?: number, onRound?: (round: PruneRound) => void | Promise<void>,
 *   onState?: (state: {state: 'following' | 'away', error?: string, reason?: string}) => void
 * }} [options] live: until the signal; every: seconds between two rounds
 * @returns {Promise<PruneRound>} if live, the last round
 *
 * @typedef {{layers: PruneSummary[], failed: {layer: string, error: string, reason: string}[], compaction?: any}}
 * PruneRound failed: layers that were not pruned
 */
export async function pruneAll (store, { live, every = pruneDefaults.every, onRound, onState, ...options } = {}) {
  let round = /** @type {PruneRound} */ ({ layers: [], failed: [] })
  const runRound = async () => {
    round = await pruneEach(store, options)
    await onRound?.(round)
  }
  if (live) await repeat(runRound, { pause: () => every * 1000, signal: options.signal, onState })
  else await runRound()
  return round
}

/** @returns {Promise<PruneRound>} */
async function pruneEach (store, /** @type {PruneOptions} */ { compact: when = 'auto', ...options }) {
  const round = /** @type {PruneRound} */ ({ layers: [], failed: [] })
  for (const { layer, retention } of await store.layers()) {
    if (!retention) continue
    try {
      round.layers.push(await pruneLayer(store, layer, options))
    } catch (error) {
      if (!OF_ONE_LAYER.has(error.code)) throw error
      round.failed.push({ layer, error: error.code, reason: error.message })
    }
  }
  const versions = round.layers.reduce((sum, summary) => sum + summary.versions, 0)
  return { ...round, ...(!options.dryRun && await compactAfter(store, when, versions, options)) }
}

/**
 * Watches for editions that begin while a layer is pruned. Call it before the plan is made. A load compares each tile
 * with the version before it, and does not store an unchanged tile: then the version before must not be removed.
 * @returns {Promise<() => Promise<string[]>>} the times of editions that were written since the last call
 */
async function watchEditions (couch, layer, signal) {
  let { update_seq: since } = await couch.request({ path: '', signal })
  const prefix = editionId(layer, '')
  return async () => {
    const { results, last_seq: last } = await couch.changes({ since }, { selector: { type: 'edition', layer }, signal })
    since = last
    const ids = results.filter(({ deleted }) => !deleted).map(({ id }) => id)
    return ids.filter(id => id.startsWith(prefix)).map(id => id.slice(prefix.length)).filter(isExactTime)
  }
}
