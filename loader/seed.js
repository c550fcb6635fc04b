// Fills a layer from its upstream, ahead of whoever may look at it: the tiles of an area, or those of a list. It may be
// stopped or killed at any moment and run again: what is in the store and fresh is skipped.
import { pMapIterable } from 'p-map'
import { TilecouchError, checkLayer, checkUpstream, extensionOf, hostOf, now, parseZooms, startOf } from '../core/index.js'
import { openUpstream as open } from './upstream/index.js'
import { Fetcher } from './seed/fetcher.js'
import { findStale } from './seed/fresh.js'
import { Keeper } from './seed/keeper.js'
import { clip, countByZoom, estimate } from './seed/plan.js'
import { Tally } from './seed/tally.js'
import { chunks, groupsOf, groupsOfList } from './seed/walk.js'

export const seedDefaults = {
  lookup: 500, // tiles looked up in the store in one request
  lookups: 2 // of these at once, ahead of fetching
}

/** @typedef {{count: Map<number, number>, tiles: () => AsyncIterable<{z: number, x: number, y: number}>}} TileList tiles by zoom, and the tiles */

/**
 * @typedef {object} SeedOptions
 * @property {import('../core/area.js').Area} [area] with `zooms`; or `only`
 * @property {import('../core/grid.js').Zooms | string} [zooms]
 * @property {TileList} [only] these tiles: those that failed before
 * @property {string} [refreshBefore] what was stored or confirmed before this time is asked for again, fresh or not
 * @property {number} [rate] requests a second; as the upstream says unless given
 * @property {number} [concurrency] requests at once; as the upstream says unless given
 * @property {boolean} [dryRun] only looks into the store
 * @property {boolean} [permission] seeds although the upstream is not for it
 * @property {string} [userAgent]
 * @property {Record<string, Record<string, string>>} [secrets] headers by host
 * @property {readonly string[]} [networks] inner ones that may be asked
 * @property {Partial<typeof import('./seed/fetcher.js').fetchDefaults>} [patience]
 * @property {AbortSignal} [signal] stops after what is in flight
 * @property {(plan: import('./seed/plan.js').Plan) => void} [onPlan] before anything is asked
 * @property {(tally: Tally) => void} [onProgress]
 * @property {(failure: {id: string, code: string, reason: string}) => void} [onFailure]
 * @property {(error: TilecouchError) => void} [onTrouble] the upstream does not answer, and is waited for
 * @property {typeof open} [openUpstream]
 */

/**
 * @param {import('./store/index.js').Store} store
 * @param {string} layer
 * @param {SeedOptions} options
 */
export async function seed (store, layer, {
  area, zooms, only, refreshBefore, rate, concurrency, dryRun = false, permission = false, userAgent, secrets, networks, patience, signal,
  onPlan, onProgress, onFailure, onTrouble, openUpstream = open
}) {
  if (!only && !area) throw new TilecouchError('BAD_AREA', { why: 'there is neither an area nor a list of tiles' })
  const before = refreshBefore === undefined ? undefined : startOf(refreshBefore)
  const { doc, settings } = await upstreamOf(store, checkLayer(layer), { permission, rate, concurrency })
  const part = area && !only ? clip(doc, settings, { area, zooms: parseZooms(/** @type {any} */ (zooms)) }) : undefined
  const plan = await estimate(store, layer, part ? await countByZoom({ ...part, signal }) : /** @type {TileList} */ (only).count)
  onPlan?.(plan)
  if (!plan.tiles && part) throw new TilecouchError('BAD_AREA', { why: 'the upstream has no tiles in it' })

  const tally = new Tally(onFailure)
  const upstream = openUpstream({ ...doc, upstream: settings }, { userAgent, secrets, networks, limits: { failures: Infinity } })
  const fetcher = new Fetcher(upstream, { signal, onTrouble, ...patience })
  const keeper = new Keeper(store, layer, tally)
  const groups = part ? groupsOf(part.area, part.zooms, upstream) : groupsOfList(covered(only, upstream, tally), upstream, seedDefaults.lookup)
  const stale = findAllStale(store, doc, groups, { before, signal, dryRun, tally, onProgress })
  try {
    await run(stale, { fetcher, keeper, tally, concurrency: settings.concurrency, onProgress })
    await keeper.finish()
    if (!doc.format && !dryRun) await tellFormat(store, layer, tally.types)
    if (signal?.aborted) throw new TilecouchError('ABORTED')
  } catch (error) {
    throw Object.assign(error, { summary: summaryOf(tally, plan, layer) })
  } finally {
    fetcher.close()
    await upstream.close()
  }
  return summaryOf(tally, plan, layer)
}

/** @typedef {Awaited<ReturnType<typeof seed>>} SeedSummary */

const summaryOf = (tally, plan, layer) => ({ layer, planned: plan.tiles, ...tally })

async function upstreamOf (store, layer, { permission, rate, concurrency }) {
  const doc = await store.layer(layer)
  if (!doc.upstream) throw new TilecouchError('NO_UPSTREAM', { layer })
  const settings = checkUpstream({ ...doc.upstream, ...(rate && { rate }), ...(concurrency && { concurrency }) })
  if (!settings.seed && !permission) throw new TilecouchError('SEED_FORBIDDEN', { layer, host: hostOf(settings.url) })
  return { doc, settings }
}

async function * covered (only, upstream, tally) {
  for await (const tile of only.tiles()) {
    if (upstream.covers(tile.z, tile.x, tile.y)) yield tile
    else {
      tally.tiles++
      tally.outside++
    }
  }
}

/** What is to be asked for, looked up a few chunks ahead. */
async function * findAllStale (store, doc, groups, { before, signal, dryRun, tally, onProgress }) {
  const looked = pMapIterable(chunks(groups, seedDefaults.lookup, signal),
    chunk => findStale(store, doc, chunk, { now: now(), before }), { concurrency: seedDefaults.lookups })
  for await (const { jobs, fresh } of looked) {
    tally.tiles += fresh
    tally.fresh += fresh
    for (const job of jobs) {
      if (signal?.aborted) return
      if (!dryRun) yield job
      else {
        tally.tiles += job.tiles.length
        tally.stale += job.tiles.length
      }
    }
    onProgress?.(tally)
  }
}

async function run (jobs, { fetcher, keeper, tally, concurrency, onProgress }) {
  const answers = pMapIterable(jobs, async job => ({ job, ...await fetcher.fetch(job) }), { concurrency, preserveOrder: false })
  try {
    for await (const { job, answer, error } of answers) {
      if (!answer && !error) continue // stopped before it was asked
      tally.requests++
      tally.tiles += job.tiles.length
      if (error) for (const { id } of job.tiles) tally.fail({ id, code: error.code, reason: error.message })
      else await keeper.add(job, answer)
      onProgress?.(tally)
    }
  } catch (error) {
    // what was fetched before is kept all the same
    await keeper.finish().catch(() => {})
    throw error
  }
}

/** A layer that does not say what its tiles are is told by the first that came, as a load does. */
async function tellFormat (store, layer, types) {
  const [commonest] = Object.entries(types).sort((a, b) => b[1] - a[1])
  const format = commonest && extensionOf(commonest[0])
  if (format) await store.defineLayer(layer, stored => ({ ...stored, format: stored.format ?? format }))
}
