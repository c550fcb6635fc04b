// Thins out the past of a layer: what no moment needs that a retention policy keeps, goes. At every step the map is right as
// of each kept moment, so that it may be killed anywhere and run again. It states no removal: what goes no kept moment shows,
// whether or not a manifest says it, so that nothing kept depends on it.
import { TilecouchError, checkRetention, headId, now as clock } from '../core/index.js'
import { batchesOf } from '../core/batches.js'
import { LayerStatements } from '../core/store/statements.js'
import { settleTiles, versionIn } from '../core/store/settle.js'
import { compact } from './compact.js'
import { Arrivals } from './prune/arrivals.js'
import { pruneDefaults } from './prune/defaults.js'
import { markPruned } from './prune/mark.js'
import { Reckoning } from './prune/reckoning.js'
import { Remover } from './remove/index.js'
import { repeat } from './repeat.js'
import { doorOf } from './store/settle.js'

/** What is wrong with one layer, and does not stop the others. */
const OF_ONE_LAYER = new Set(['BAD_RETENTION', 'LAYER_NOT_FOUND'])

/**
 * @typedef {object} PruneOptions
 * @property {import('../core/retention.js').Retention} [policy] unless given, that of the layer
 * @property {() => string} [now]
 * @property {boolean} [purge] nothing is left of what goes, not even that it was deleted
 * @property {boolean} [dryRun] reckons, and writes nothing
 * @property {'auto' | 'always' | 'never'} [compact] whether the store is compacted afterwards; auto: when it is worth it
 * @property {AbortSignal} [signal]
 * @property {(reckoned: {layer: string} & import('./prune/reckoning.js').Reckoned) => void} [onBegin] before anything goes
 * @property {(done: {layer: string, looked: number, total: number, versions: number}) => void} [onProgress] versions looked at, and those that go
 * @property {Partial<typeof pruneDefaults>} [limits]
 *
 * @typedef {import('./prune/reckoning.js').Reckoned & import('./remove/tally.js').Tally & {layer: string, editions: number, compaction?: any}} PruneSummary editions: how many went
 */

/**
 * @param {import('./store/index.js').Store} store
 * @param {string} layer
 * @param {PruneOptions} [options]
 * @returns {Promise<PruneSummary>}
 */
export async function prune (store, layer, { compact: when = 'auto', ...options } = {}) {
  const summary = await pruneLayer(store, layer, options)
  if (options.dryRun) return summary
  return { ...summary, ...await compactAfter(store, when, summary.versions, options.signal) }
}

/** @param {import('./store/index.js').Store} store @param {string} layer @param {PruneOptions} options @returns {Promise<PruneSummary>} */
async function pruneLayer (store, layer, { policy, now = clock, dryRun = false, onBegin, limits, ...options }) {
  const doc = await store.layer(layer)
  const rules = policy ?? doc.retention
  if (!rules) throw new TilecouchError('BAD_RETENTION', { why: `none is given, and the layer ${layer} has none` })
  const { signal } = options
  const all = { ...pruneDefaults, ...limits }
  const reckoning = new Reckoning(layer, checkRetention(rules), { now, limits: all })
  const arrivals = dryRun ? undefined : await new Arrivals(store.couch, layer, signal).open()
  await reckoning.read(store.couch, signal)
  const { counts, missing } = reckoning
  // a slip of the pen: what was meant would go with the rest
  if (missing.length && (policy || !counts.kept)) throw new TilecouchError('BAD_RETENTION', { why: `${layer} has no edition ${missing.join(', ')}` })
  onBegin?.({ layer, ...reckoning.summary })
  const tally = await take(store, layer, reckoning, { now, dryRun, arrivals, limits: all, ...options })
  return { layer, ...reckoning.summary, ...tally }
}

/** Versions first, tile by tile; then the editions. @param {any} run */
async function take (store, layer, reckoning, run) {
  const { now, purge, dryRun, arrivals, limits, signal, onProgress } = run
  // a batch goes as soon as it has been looked at for the last time
  const remover = new Remover(store, { purge, dryRun, signal, limits: { batch: Infinity } })
  await remover.begin()
  let looked = 0
  let isMarked = dryRun
  const doomedTiles = async function * () {
    for await (const tile of store.listTiles(layer, { signal })) {
      looked += tile.versions.length
      const { length } = reckoning.doomed(tile.versions)
      if (length) yield { tile, size: length }
      onProgress?.({ layer, looked, total: reckoning.versions, versions: remover.tally.versions })
    }
  }
  for await (const batch of batchesOf(doomedTiles(), { most: limits.batch, bytes: limits.batch })) {
    for (const time of await arrivals?.look() ?? []) reckoning.keep(time)
    if (!isMarked) await markPruned(store, layer, now)
    isMarked = true
    const gone = []
    for (const { tile } of batch) {
      const doomed = reckoning.doomed(tile.versions)
      reckoning.count(doomed)
      gone.push({ tile, doomed })
      await remover.take(tile, doomed)
    }
    await remover.flush()
    // an edition that began between the look and the deletion may have been compared with what is gone now
    const late = await arrivals?.look() ?? []
    for (const time of late) reckoning.keep(time)
    if (late.length) await putBack(store, layer, gone.flatMap(({ tile, doomed }) => doomed.filter(version => !reckoning.doomed(tile.versions).includes(version))))
  }
  let editions = 0
  for await (const batch of batchesOf(reckoning.editions, { most: limits.batch, bytes: Infinity })) editions += (await remover.end(batch)).size
  return { ...await remover.finish(), editions }
}

/** What was deleted a moment ago and is needed after all, from the revision that was deleted. @param {any} store @param {string} layer @param {import('./store/list.js').ListedTile['versions']} versions */
async function putBack ({ couch }, layer, versions) {
  if (!versions.length) return
  const door = doorOf(couch)
  const byTile = new Map()
  for (const doc of await door.fetch(versions.map(({ id, rev }) => ({ id, rev })))) {
    const id = headId(doc._id)
    byTile.set(id, [...byTile.get(id) ?? [], { ...versionIn(doc), id: undefined, rev: undefined, words: false, documentOf: () => doc }])
  }
  const said = new LayerStatements(couch, layer)
  await settleTiles(door, [...byTile.keys()], { knownOf: ids => said.knownOf(ids, { isFresh: true }), mineOf: id => byTile.get(id) ?? [] })
}

/**
 * Every layer that has a policy.
 * @param {import('./store/index.js').Store} store
 * @param {Omit<PruneOptions, 'policy'> & {
 *   live?: boolean, every?: number, onRound?: (round: PruneRound) => void,
 *   onState?: (state: {state: 'following' | 'away', error?: any}) => void
 * }} [options] live: again and again until the signal; every: seconds between two rounds
 * @returns {Promise<PruneRound>} of the last round, when it is live
 *
 * @typedef {{layers: PruneSummary[], failed: {layer: string, error: string, reason: string}[], compaction?: any}} PruneRound failed: layers that could not be pruned
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
