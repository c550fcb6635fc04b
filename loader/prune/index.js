// Removes the past versions of a layer that no moment kept by its retention policy shows. After every step the map as of each
// kept moment is right, so that a run may be killed anywhere and repeated. It writes no removal documents: no kept moment
// depends on the versions that it removes, whether or not a manifest names them.
import { batchesOf } from '../../core/batches.js'
import { checkRetention, headId, now as clock, editionId, isExactTime } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { LayerStatements } from '../../core/store/statements.js'
import { settleTiles, versionIn } from '../../core/store/settle.js'
import { compact } from '../compact.js'
import { Remover } from '../remove/index.js'
import { repeat } from '../repeat.js'
import { tileAccess } from '../store/settle.js'
import { markPruned } from './mark.js'
import { pruneDefaults, PrunePlan } from './plan.js'

/** Faults of one layer that do not stop the others. */
const OF_ONE_LAYER = new Set(['BAD_RETENTION', 'LAYER_NOT_FOUND'])

/**
 * @typedef {object} PruneOptions
 * @property {import('../../core/retention.js').Retention} [policy] unless given, that of the layer
 * @property {() => string} [now]
 * @property {boolean} [purge] leave no trace of what is removed
 * @property {boolean} [dryRun] plan, and write nothing
 * @property {'auto' | 'always' | 'never'} [compact] compact the store afterwards; auto: if it frees enough
 * @property {AbortSignal} [signal]
 * @property {(plan: {layer: string} & import('./plan.js').PlanSummary) => void} [onBegin] before anything is removed
 * @property {(done: {layer: string, looked: number, total: number, versions: number}) => void} [onProgress] versions: those that are removed
 * @property {Partial<typeof pruneDefaults>} [limits]
 *
 * @typedef {import('./plan.js').PlanSummary & import('../remove/remover.js').Removed & {layer: string, editions: number, compaction?: any}} PruneSummary editions: removed
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {PruneOptions} [options]
 * @returns {Promise<PruneSummary>}
 */
export async function prune (store, layer, { compact: when = 'auto', ...options } = {}) {
  const summary = await pruneLayer(store, layer, options)
  if (options.dryRun) return summary
  return { ...summary, ...await compactAfter(store, when, summary.versions, options.signal) }
}

/** @param {import('../store/index.js').Store} store @param {string} layer @param {PruneOptions} options @returns {Promise<PruneSummary>} */
async function pruneLayer (store, layer, { policy, now = clock, dryRun = false, onBegin, limits, ...options }) {
  const doc = await store.layer(layer)
  const rules = policy ?? doc.retention
  if (!rules) throw new TilecouchError('BAD_RETENTION', { why: `none is given, and the layer ${layer} has none` })
  const { signal } = options
  const all = { ...pruneDefaults, ...limits }
  const plan = new PrunePlan(layer, checkRetention(rules), { now, limits: all })
  const newEditions = dryRun ? undefined : await new NewEditions(store.couch, layer, signal).open()
  await plan.read(store.couch, signal)
  const { counts, missing } = plan
  // probably a typing error: the edition that was meant would be removed with the rest
  if (missing.length && (policy || !counts.kept)) throw new TilecouchError('BAD_RETENTION', { why: `${layer} has no edition ${missing.join(', ')}` })
  onBegin?.({ layer, ...plan.summary })
  const tally = await apply(store, layer, plan, { now, dryRun, newEditions, limits: all, ...options })
  return { layer, ...plan.summary, ...tally }
}

/** Removes versions, tile by tile, then editions. @param {any} run */
async function apply (store, layer, plan, run) {
  const { now, purge, dryRun, newEditions, limits, signal, onProgress } = run
  // the batches are made below: each is removed right after the last look for new editions
  const remover = new Remover(store, { purge, dryRun, signal, limits: { batch: Infinity } })
  await remover.begin()
  let looked = 0
  let isMarked = dryRun
  const doomedTiles = async function * () {
    for await (const tile of store.listTiles(layer, { signal })) {
      looked += tile.versions.length
      const { length } = plan.doomed(tile.versions)
      if (length) yield { tile, size: length }
      onProgress?.({ layer, looked, total: plan.versions, versions: remover.tally.versions })
    }
  }
  for await (const batch of batchesOf(doomedTiles(), { most: limits.batch, bytes: limits.batch })) {
    for (const time of await newEditions?.look() ?? []) plan.keep(time)
    if (!isMarked) await markPruned(store, layer, now)
    isMarked = true
    const gone = []
    for (const { tile } of batch) {
      const doomed = plan.doomed(tile.versions)
      plan.count(doomed)
      gone.push({ tile, doomed })
      await remover.take(tile, doomed)
    }
    await remover.flush()
    // an edition that began between the look and the deletion may have been compared with the versions that are deleted now
    const late = await newEditions?.look() ?? []
    for (const time of late) plan.keep(time)
    if (late.length) await putBack(store, layer, gone.flatMap(({ tile, doomed }) => doomed.filter(version => !plan.doomed(tile.versions).includes(version))))
  }
  let editions = 0
  for await (const batch of batchesOf(plan.editions, { most: limits.batch, bytes: Infinity })) editions += (await remover.end(batch)).size
  return { ...await remover.finish(), editions }
}

/**
 * Restores versions that were just deleted and are needed after all, from the deleted revisions.
 * @param {any} store @param {string} layer @param {import('../store/list.js').ListedTile['versions']} versions
 */
async function putBack ({ couch }, layer, versions) {
  if (!versions.length) return
  const access = tileAccess(couch)
  const byTile = new Map()
  for (const doc of await access.fetch(versions.map(({ id, rev }) => ({ id, rev })))) {
    const id = headId(doc._id)
    byTile.set(id, [...byTile.get(id) ?? [], { ...versionIn(doc), id: undefined, rev: undefined, inManifest: false, documentOf: () => doc }])
  }
  const said = new LayerStatements(couch, layer)
  await settleTiles(access, [...byTile.keys()], { knownOf: ids => said.knownOf(ids, { isFresh: true }), incomingOf: id => byTile.get(id) ?? [] })
}

/**
 * Prunes every layer that has a policy.
 * @param {import('../store/index.js').Store} store
 * @param {Omit<PruneOptions, 'policy'> & {
 *   live?: boolean, every?: number, onRound?: (round: PruneRound) => void,
 *   onState?: (state: {state: 'following' | 'away', error?: any}) => void
 * }} [options] live: until the signal; every: seconds between two rounds
 * @returns {Promise<PruneRound>} of the last round, when it is live
 *
 * @typedef {{layers: PruneSummary[], failed: {layer: string, error: string, reason: string}[], compaction?: any}} PruneRound failed: layers that were not pruned
 */
export async function pruneAll (store, { live = false, every = pruneDefaults.every, onRound, onState, ...options } = {}) {
  let round = /** @type {PruneRound} */ ({ layers: [], failed: [] })
  const look = async () => {
    round = await pruneEach(store, options)
    onRound?.(round)
  }
  if (live) await repeat(look, { pause: () => every * 1000, signal: options.signal, onState })
  else await look()
  return round
}

/** @returns {Promise<PruneRound>} */
async function pruneEach (store, { compact: when = 'auto', ...options }) {
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
  return { ...round, ...(!options.dryRun && await compactAfter(store, when, versions, options.signal)) }
}

/** @returns {Promise<{compaction?: any}>} */
async function compactAfter (store, when, versions, signal) {
  if (when === 'never' || (when === 'auto' && !versions)) return {}
  return { compaction: await compact(store, { when: when === 'auto' ? 'worth' : when, signal }) }
}

/**
 * Editions that are begun while a layer is pruned. Their loads compare each tile with the version before it, and store nothing
 * where nothing has changed: that version must not be removed a moment later.
 */
export class NewEditions {
  #layer
  /** @type {string | number | undefined} */
  #since

  /** @param {import('../store/couch.js').Couch} couch @param {string} layer @param {AbortSignal} [signal] */
  constructor (couch, layer, signal) {
    this.couch = couch
    this.#layer = layer
    this.signal = signal
  }

  /** To be awaited before the plan is made. */
  async open () {
    const { update_seq: since } = await this.couch.request({ path: '', signal: this.signal })
    this.#since = since
    return this
  }

  /** The times of those that were written since the last look. @returns {Promise<string[]>} */
  async look () {
    const { results, last_seq: last } = await this.couch.changes(
      { since: this.#since },
      { selector: { type: 'edition', layer: this.#layer }, signal: this.signal }
    )
    this.#since = last
    const prefix = editionId(this.#layer, '')
    return results.filter(({ deleted, id }) => !deleted && id.startsWith(prefix)).map(({ id }) => id.slice(prefix.length)).filter(isExactTime)
  }
}
