// Fetches the tiles of an area, or of a list, from the upstream of a layer in advance. A seed may be stopped or killed
// at any moment and run again: tiles that are fresh are skipped.
import { pMapIterable } from 'p-map'
import {
  checkLayer, checkUpstream, extensionOf, gridOf, hostOf, now, parseZooms, startOf, expiryOf, tileId
} from '../../../core/index.js'
import { byCount } from '../../../core/values.js'
import { TilecouchError } from '../../errors.js'
import { openUpstream as open } from '../upstream/index.js'
import { storedVersionOf } from '../../store/reader.js'
import { recordFailure } from '../../store/writer.js'
import { Fetcher } from './fetcher.js'
import { clip, countByZoom, estimate, batchesOfGroups, groupsOf, groupsOfList } from './plan.js'
import { SeedSaver } from './saver.js'

const seedDefaults = {
  lookup: 500, // tiles looked up in the store in one request
  lookups: 2 // of these at once, ahead of fetching
}

/**
 * @typedef {object} TileList
 * @property {Map<number, number>} count tiles by zoom
 * @property {() => AsyncIterable<{z: number, x: number, y: number}>} tiles
 */

/**
 * @typedef {object} SeedOptions
 * @property {import('../../../core/area.js').Area} [area] with `zooms`; or `only`
 * @property {import('../../../core/grid.js').Zooms | string} [zooms]
 * @property {TileList} [only] these tiles, such as those that failed before
 * @property {string} [refreshBefore] tiles that were stored or confirmed before this time are fetched again
 * @property {number} [rate] requests a second; as the upstream says unless given
 * @property {number} [concurrency] requests at once; as the upstream says unless given
 * @property {boolean} [dryRun] only look into the store
 * @property {boolean} [permission] seed although the terms of the upstream forbid it
 * @property {string} [userAgent]
 * @property {Record<string, Record<string, string>>} [secrets] headers by host
 * @property {readonly string[]} [networks] inner networks that it may connect to
 * @property {Partial<typeof import('./fetcher.js').fetchDefaults>} [fetching]
 * @property {AbortSignal} [signal] stops after the requests in flight
 * @property {(plan: import('./plan.js').Plan) => void} [onPlan] called before the first request
 * @property {(tally: Tally) => void} [onProgress]
 * @property {(failure: {id: string, code: string, reason: string}) => void} [onFailure]
 * @property {(error: TilecouchError) => void} [onTrouble] called when the seed waits for an upstream without answers
 * @property {typeof open} [openUpstream]
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {string} layer
 * @param {SeedOptions} options
 */
export async function seed (store, layer, options) {
  const { area: areaOption, only, refreshBefore, dryRun = false, permission = false, openUpstream = open } = options
  const { userAgent, secrets, networks, signal, onProgress } = options
  if (!only && !areaOption) throw new TilecouchError('BAD_AREA', {
    why: 'there is neither an area nor a list of tiles'
  })
  const before = refreshBefore === undefined ? undefined : startOf(refreshBefore)
  const { doc, settings } = await upstreamOf(store, checkLayer(layer), permission, options)
  const area = areaOption?.in(gridOf(doc))
  const zooms = () => parseZooms(/** @type {any} */ (options.zooms))
  const part = area && !only ? clip(doc, settings, { area, zooms: zooms() }) : undefined
  const counts = part ? await countByZoom({ ...part, signal }) : /** @type {TileList} */ (only).count
  const plan = await estimate(store, layer, counts)
  options.onPlan?.(plan)
  if (!plan.tiles && part) throw new TilecouchError('BAD_AREA', { why: 'the upstream has no tiles in it' })

  const tally = new Tally(options.onFailure)
  const limits = { failures: Infinity }
  const upstream = openUpstream({ ...doc, upstream: settings }, { userAgent, secrets, networks, limits })
  const fetcher = new Fetcher(upstream, { signal, onTrouble: options.onTrouble, ...options.fetching })
  const saver = new SeedSaver(store, layer, tally)
  const groups = part
    ? groupsOf(part.area, part.zooms, upstream)
    : groupsOfList(covered(only, upstream, tally), upstream, seedDefaults.lookup)
  const stale = findAllStale(store, doc, groups, { before, signal, dryRun, tally, onProgress })
  try {
    await run(stale, { fetcher, saver, tally, concurrency: settings.concurrency, onProgress })
    await saver.finish()
    if (!doc.format && !dryRun) await setFormat(store, layer, tally.types)
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

async function upstreamOf (store, layer, permission, options) {
  const { rate, concurrency } = options
  const doc = await store.layer(layer)
  if (!doc.upstream) throw new TilecouchError('NO_UPSTREAM', { layer })
  const limits = { ...(rate && { rate }), ...(concurrency && { concurrency }) }
  const settings = checkUpstream({ ...doc.upstream, ...limits }, gridOf(doc))
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

/** Finds the tiles to fetch, and looks them up a few chunks ahead. */
async function * findAllStale (store, doc, groups, { before, signal, dryRun, tally, onProgress }) {
  const lookups = pMapIterable(batchesOfGroups(groups, seedDefaults.lookup, signal),
    chunk => findStale(store, doc, chunk, { at: now(), before }), { concurrency: seedDefaults.lookups })
  for await (const { jobs, fresh } of lookups) {
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

async function run (jobs, { fetcher, saver, tally, concurrency, onProgress }) {
  const fetchJob = async job => ({ job, ...await fetcher.fetch(job) })
  const answers = pMapIterable(jobs, fetchJob, { concurrency, preserveOrder: false })
  try {
    for await (const { job, answer, error } of answers) {
      if (!answer && !error) continue // stopped before the request
      tally.requests++
      tally.tiles += job.tiles.length
      if (error) for (const { id } of job.tiles) tally.fail({ id, code: error.code, reason: error.message })
      else await saver.add(job, answer)
      onProgress?.(tally)
    }
  } catch (error) {
    // tiles that were already fetched are still stored
    await saver.finish().catch(() => {})
    throw error
  }
}

/** A layer without a format gets the one of the fetched tiles, as with a load. */
async function setFormat (store, layer, types) {
  const format = extensionOf(byCount(types)[0])
  if (format) await store.defineLayer(layer, stored => ({ ...stored, format: stored.format ?? format }))
}

/**
 * The counts of a seed. Every tile is in exactly one of: fresh, new, changed, unchanged, missing, failed,
 * outside; in a dry run, in fresh, stale or outside.
 */
export class Tally {
  tiles = 0 // all tiles so far
  fresh = 0 // in the store, and not fetched
  stale = 0 // in a dry run: to be fetched
  fetched = 0 // from the upstream, or confirmed by it
  new = 0
  changed = 0
  unchanged = 0
  missing = 0 // the upstream has none
  outside = 0 // of a list: the upstream does not have such tiles
  failed = 0
  requests = 0 // to the upstream that were answered, or failed
  bytes = 0 // of the tiles written
  /** @type {Record<string, number>} tiles got, by content type */
  types = {}
  /** @type {{id: string, code: string, reason: string}[]} the first ones */
  failures = []
  #onFailure

  /** @param {(failure: {id: string, code: string, reason: string}) => void} [onFailure] */
  constructor (onFailure) {
    this.#onFailure = onFailure
  }

  /** @param {{id: string, code: string, reason: string}} failure */
  fail (failure) {
    recordFailure(this, failure, this.#onFailure)
  }
}

/**
 * @typedef {{z: number, x: number, y: number, id: string, head?: import('../upstream/save.js').Head}} StaleTile
 * @typedef {{tiles: StaleTile[]}} Job one request
 */

/**
 * Finds the tiles that must be fetched, with their heads. Groups without such tiles are left out.
 * @param {import('../../store/index.js').Store} store
 * @param {Record<string, any>} doc of the layer
 * @param {import('./plan.js').Group[]} groups
 * @param {{at: string, before?: string}} options before: tiles stored or checked earlier are fetched again
 * @returns {Promise<{jobs: Job[], fresh: number}>}
 */
async function findStale (store, doc, groups, { at, before }) {
  const rows = await store.couch.docs(groups.flat().map(({ z, x, y }) => tileId(doc.layer, z, x, y)))
  let fresh = 0
  let index = 0
  const jobs = groups.map(group => ({
    tiles: group.flatMap(({ z, x, y }) => {
      const { id, doc: stored } = rows[index++]
      if (!stored) return [{ z, x, y, id }]
      if (!isFresh(stored, doc, at, before)) return [{ z, x, y, id, head: storedVersionOf(stored) }]
      fresh++
      return []
    })
  }))
  return { jobs: jobs.filter(({ tiles }) => tiles.length), fresh }
}

/** Whether a head needs no request. A confirmation by the upstream is in its origin; `stored` does not change. */
function isFresh (head, doc, time, before = '') {
  const { stored = '', origin: { checked = '' } = {} } = head
  if ((checked > stored ? checked : stored) < before) return false
  const expiry = expiryOf(head, doc)
  return expiry === null || expiry > time
}
