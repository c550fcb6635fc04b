// Fetches expired tiles again or removes them: once, or until a signal. A dry run lists them.
import {
  addSeconds, checkLayer, checkUpstream, gridOf, hostOf, now as currentTime, toSeconds
} from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { seed } from '../../load/seed/index.js'
import { compactAfter } from '../compact.js'
import { changesOf, repeat } from '../repeat.js'
import { Tally } from '../tally.js'
import { findExpired, nextExpiry } from './find.js'
import { RemoveExpired } from './remove.js'

const expireDefaults = {
  page: 500, // tiles per request
  refresh: 2000, // tiles of a layer that are fetched in one seed
  past: 200, // tiles whose past is read in one request
  batch: 100, // heads written in one request
  bytes: 4 * 1024 * 1024, // of heads in a batch
  look: 60000, // milliseconds between two passes of a live run at most
  again: 600000, // milliseconds before a live run checks all tiles again, at least
  share: 10 // the same limit, as a multiple of the duration of the last check of all tiles
}

const MOST_LISTED = 1000 // tiles, unless there is a limit; all are counted

/**
 * @typedef {import('./find.js').Expired} Expired
 *
 * @typedef {object} ExpireOptions
 * @property {string[]} [layers] only these layers; by default all
 * @property {'refresh' | 'remove'} action fetch tiles again from the upstream of their layer, or remove them
 * @property {string} [before] only tiles that expired before this time; in a dry run it may be in the future
 * @property {number} [limit] tiles at most; in a dry run, listed tiles at most
 * @property {boolean} [live] continues until the signal
 * @property {boolean} [dryRun] lists and counts tiles, and changes nothing
 * @property {boolean} [withPast] also removes the past of a tile
 * @property {boolean} [purge] purges removed documents, see Remover
 * @property {'auto' | 'always' | 'never'} [compact] compact the store after a removal; auto: if it frees enough
 * @property {Parameters<typeof compactAfter>[3]['onCompact']} [onCompact] progress of it
 * @property {() => string} [now] exact time
 * @property {Partial<import('../../load/seed/index.js').SeedOptions>} [seeding] for refreshing: rate, concurrency,
 *   permission, userAgent, secrets, networks, fetching
 * @property {AbortSignal} [signal]
 * @property {(tally: ExpiredTally) => void} [onProgress]
 * @property {(tile: {id: string, expires: string, seconds: number, bytes: number}) => void} [onTile] in a dry run
 * @property {(error: TilecouchError) => void} [onTrouble] called when an upstream does not answer
 * @property {(state: {state: 'following' | 'away', error?: string, reason?: string}) => void} [onState] in a live run
 * @property {Partial<typeof expireDefaults & typeof import('../repeat.js').repeatDefaults>} [limits]
 *
 * @typedef {ExpireOptions & {tally: ExpiredTally, now: () => string, limits: typeof expireDefaults}} Parts options of
 * an action
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {ExpireOptions} options
 * @returns {Promise<ExpiredTally>}
 */
export async function expire (store, options) {
  const { before, limit, live = false, now = currentTime, signal, onState, limits } = options
  const refuse = (option, value, why) => { throw new TilecouchError('BAD_OPTION', { option, value, why }) }
  options.layers?.forEach(checkLayer)
  if (live && (limit || before || options.dryRun)) {
    refuse('--live', true, 'it does not go with --limit, --before or --dry-run')
  }
  if (!options.dryRun && before && before > now()) refuse('--before', before, 'it is in the future')
  const run = new Run(store, { ...options, now, limits: { ...expireDefaults, ...limits } })
  const pause = next => run.pauseUntil(next)
  if (live) await repeat(() => run.look(), { pause, wake: changesOf(store, signal), signal, onState, limits })
  else await run.once()
  return run.tally
}

class ExpiredTally extends Tally {
  expired = 0 // tiles
  bytes = 0 // of these tiles
  gone = 0 // expired heads that are "gone"; not counted in `expired`
  /**
   * Counts by layer; first, last: times of expiry.
   * @type {Record<string, {tiles: number, bytes: number, gone: number, first: string | null, last: string | null}>}
   */
  layers = {}
  /** Layers that cannot be refreshed. @type {{layer: string, code: string, reason: string}[]} */
  skipped = []
  /** The first tiles, in a dry run. @type {{id: string, expires: string, seconds: number, bytes: number}[]} */
  listed = []
  changed = 0 // refresh: new versions; remove: tiles that another program wrote meanwhile
  // counts of a refresh
  fetched = 0 // fetched from the upstream, or confirmed by it
  unchanged = 0 // same image: expire later
  fresh = 0 // refreshed by another program meanwhile
  missing = 0 // the upstream no longer has them: they stay
  outside = 0 // outside the area of the upstream: they stay
  failed = 0
  left = 0 // not fetched, because the upstream has errors
  /** @type {{layer: string, code: string, reason: string}[]} */
  troubles = []
  // counts of a removal
  removed = 0 // heads
  ended = 0 // tiles with a past, which are "gone" from their expiry on
  versions = 0 // deleted documents
  freed = 0 // bytes of the deleted documents
  refused = 0
  compaction = /** @type {import('../compact.js').Compaction | undefined} */ (undefined)

  /** @param {import('./find.js').Expired} tile @param {boolean} takesGone */
  add ({ layer, gone, size, expires }, takesGone) {
    const counts = this.layers[layer] ??= { tiles: 0, bytes: 0, gone: 0, first: null, last: null }
    if (gone) {
      this.gone++
      counts.gone++
      if (!takesGone) return
    }
    this.expired++
    this.bytes += size
    counts.tiles++
    counts.bytes += size
    if (!counts.first || expires < counts.first) counts.first = expires
    if (!counts.last || expires > counts.last) counts.last = expires
  }
}

class Run {
  tally = new ExpiredTally()
  #since = '' // tiles that expired until this time were treated
  #fullAt = 0 // milliseconds: time of the next check of all tiles
  #layerSettings = '' // settings of the layers at the last pass

  /** @param {import('../../store/index.js').Store} store @param {Omit<Parts, 'tally'>} options */
  constructor (store, options) {
    this.store = store
    this.options = options
    this.now = options.now
    this.signal = options.signal
  }

  /** Treats all expired tiles, or those since the last pass. @returns {Promise<string | undefined>} the next expiry */
  async look () {
    const begun = performance.now()
    const layers = await this.#layers()
    const layerSettings = JSON.stringify([...layers].map(([layer, { ttl, upstream }]) => [layer, ttl, upstream]))
    const isFull = !this.#since || layerSettings !== this.#layerSettings || begun >= this.#fullAt
    const { limits } = this.options
    const now = this.now()
    const { troubles } = this.tally
    troubles.length = 0
    await this.#runPass(layers, { at: now, since: isFull ? undefined : this.#since })
    this.#since = now
    this.#layerSettings = layerSettings
    const duration = performance.now() - begun
    if (troubles.length) this.#fullAt = performance.now() + limits.look
    else if (isFull) this.#fullAt = performance.now() + Math.max(limits.again, limits.share * duration)
    return nextExpiry(this.store.couch, { layers, after: now, signal: this.signal })
  }

  /** @param {string | undefined} next @returns {number} milliseconds */
  pauseUntil (next) {
    const { look } = this.options.limits
    return next === undefined ? look : Math.min(look, 1000 * (toSeconds(next) - toSeconds(this.now())))
  }

  async once () {
    const { dryRun, before } = this.options
    const layers = await this.#layers()
    const now = this.now()
    const lastExpiry = before === undefined ? now : addSeconds(before, -1)
    try {
      await this.#runPass(layers, { at: dryRun || lastExpiry < now ? lastExpiry : now })
      if (this.signal?.aborted) throw new TilecouchError('ABORTED')
    } catch (error) {
      throw Object.assign(error, { summary: this.tally })
    }
  }

  /** @returns {Promise<Map<string, any>>} name -> document */
  async #layers () {
    const { layers: names, action, seeding } = this.options
    const docs = names ? await Promise.all(names.map(name => this.store.layer(name))) : await this.store.layers()
    this.tally.skipped = []
    return new Map(docs.flatMap(doc => {
      const refusal = action === 'refresh' ? refusalOf(doc, seeding) : undefined
      if (refusal && names) throw refusal
      if (!refusal) return [[doc.layer, doc]]
      this.tally.skipped.push({ layer: doc.layer, code: refusal.code, reason: refusal.message })
      return []
    }))
  }

  /** @param {Map<string, any>} layers @param {{at: string, since?: string}} when */
  async #runPass (layers, { at, since }) {
    const { options, tally, signal } = this
    const { action, dryRun, limits, onProgress } = options
    const limit = dryRun ? Infinity : options.limit ?? Infinity // a dry run also counts tiles that it does not list
    const all = !options.layers && action !== 'refresh' // tiles without a layer document have no upstream
    const task = new (action === 'refresh' ? RefreshExpired : RemoveExpired)(this.store, { ...options, tally })
    const { takesGone } = task
    const versionsBefore = tally.versions
    let taken = 0
    for await (const page of findExpired(this.store.couch, { layers, all, at, since, page: limits.page, signal })) {
      const tiles = page.filter(({ gone }) => takesGone || !gone).slice(0, limit - taken)
      taken += tiles.length
      for (const tile of [...page.filter(({ gone }) => gone && !takesGone), ...tiles]) tally.add(tile, takesGone)
      if (dryRun) this.#listTiles(tiles)
      await task.take(tiles)
      onProgress?.(tally)
      if (taken >= limit || signal?.aborted) break
    }
    await task.finish()
    onProgress?.(tally)
    const removed = tally.versions - versionsBefore
    const isCompacted = action === 'remove' && !dryRun && (removed || !options.live)
    if (isCompacted) Object.assign(tally, await compactAfter(this.store, options.compact ?? 'auto', removed, options))
  }

  /** @param {import('./find.js').Expired[]} tiles */
  #listTiles (tiles) {
    const { limit = MOST_LISTED, onTile } = this.options
    const { listed } = this.tally
    for (const { id, expires, size } of tiles.slice(0, limit - listed.length)) {
      const tile = { id, expires, seconds: toSeconds(this.now()) - toSeconds(expires), bytes: size }
      listed.push(tile)
      onTile?.(tile)
    }
  }
}

/** Why a layer cannot be refreshed. @returns {TilecouchError | undefined} */
function refusalOf (doc, seeding) {
  const { layer, upstream } = doc
  if (!upstream) return new TilecouchError('NO_UPSTREAM', { layer })
  const { seed: isSeedable, url } = checkUpstream(upstream, gridOf(doc))
  const isPermitted = isSeedable || seeding?.permission
  return isPermitted ? undefined : new TilecouchError('SEED_FORBIDDEN', { layer, host: hostOf(url) })
}

/** Errors of one layer, which do not stop the other layers. */
const OF_ONE_LAYER = new Set([
  'NO_UPSTREAM', 'SEED_FORBIDDEN', 'BAD_UPSTREAM', 'LAYER_NOT_FOUND',
  'UPSTREAM_ADDRESS', 'UPSTREAM_UNREACHABLE', 'UPSTREAM_FAILED', 'UPSTREAM_BUSY', 'UPSTREAM_REFUSED'
])

/** Fetches expired tiles again with a seed: layer by layer, many tiles at once. */
class RefreshExpired {
  /** Layer -> tiles to fetch. @type {Map<string, Expired[]>} */
  #waiting = new Map()
  #failed = new Set() // layers whose upstream has errors
  takesGone = true

  /** @param {import('../../store/index.js').Store} store @param {Parts} options */
  constructor (store, options) {
    this.store = store
    this.options = options
  }

  /** @param {Expired[]} tiles */
  async take (tiles) {
    const { dryRun, limits, tally } = this.options
    if (dryRun) return
    for (const tile of tiles) {
      const { layer } = tile
      if (this.#failed.has(layer)) {
        tally.left++
        continue
      }
      const waiting = this.#waiting.get(layer) ?? []
      this.#waiting.set(layer, waiting)
      waiting.push(tile)
      if (waiting.length >= limits.refresh) await this.#fetch(layer)
    }
  }

  async finish () {
    for (const layer of [...this.#waiting.keys()]) await this.#fetch(layer)
  }

  async #fetch (layer) {
    const tiles = /** @type {Expired[]} */ (this.#waiting.get(layer))
    this.#waiting.delete(layer)
    const count = new Map()
    for (const { z } of tiles) count.set(z, (count.get(z) ?? 0) + 1)
    const { tally, seeding, signal, onTrouble, onProgress } = this.options
    let summary
    try {
      summary = await seed(this.store, layer, {
        ...seeding,
        only: { count, async * tiles () { yield * tiles } },
        signal,
        onTrouble,
        onFailure: ({ id, code, reason }) => tally.note('failed', id, `${reason} [${code}]`),
        onProgress: () => onProgress?.(tally)
      })
    } catch (error) {
      summary = error.summary
      if (!OF_ONE_LAYER.has(error.code) || signal?.aborted) throw error
      this.#failed.add(layer)
      tally.troubles.push({ layer, code: error.code, reason: error.message })
      tally.left += tiles.length - (summary?.tiles ?? 0)
    } finally {
      for (const field of ['fresh', 'fetched', 'changed', 'unchanged', 'missing', 'outside']) {
        tally[field] += summary?.[field] ?? 0
      }
    }
  }
}
