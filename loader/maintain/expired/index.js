// Expired tiles are fetched again or removed: once, or until a signal. A dry run lists them.
import {
  addSeconds, checkLayer, checkUpstream, gridOf, hostOf, now as currentTime, toSeconds
} from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { seed } from '../../load/seed/index.js'
import { changesOf, repeat } from '../repeat.js'
import { Tally } from '../tally.js'
import { findExpired, nextExpiry } from './find.js'
import { RemoveExpired } from './remove.js'

const expireDefaults = {
  page: 500, // tiles looked up together
  refresh: 2000, // tiles of a layer fetched in one seed
  past: 200, // tiles whose past is looked up together
  batch: 100, // heads written together
  bytes: 4 * 1024 * 1024, // of heads in a batch
  look: 60000, // milliseconds between two looks of a live run, at most
  again: 600000, // milliseconds before a live run looks at all tiles again, at least
  share: 10 // the same, as a multiple of the time that the look at all tiles took
}

const MOST_LISTED = 1000 // tiles, unless there is a limit; all are counted

/**
 * @typedef {import('./find.js').Expired} Expired
 *
 * @typedef {object} ExpireOptions
 * @property {string[]} [layers] only these; else everything
 * @property {'refresh' | 'remove'} action fetch them again from the upstream of their layer, or remove them
 * @property {string} [before] only tiles that expired before this time; in a dry run it may be in the future
 * @property {number} [limit] tiles at most; in a dry run, tiles that are listed
 * @property {boolean} [live] goes on until the signal
 * @property {boolean} [dryRun] lists and counts, and changes nothing
 * @property {boolean} [withPast] removes the past of a tile as well
 * @property {boolean} [purge] of what is removed, see Remover
 * @property {() => string} [now] exact time
 * @property {Partial<import('../../load/seed/index.js').SeedOptions>} [seeding] for refreshing: rate, concurrency,
 *   permission, userAgent, secrets, networks, fetching
 * @property {AbortSignal} [signal]
 * @property {(tally: ExpiredTally) => void} [onProgress]
 * @property {(tile: {id: string, expires: string, seconds: number, bytes: number}) => void} [onTile] of a dry run
 * @property {(error: TilecouchError) => void} [onTrouble] an upstream does not answer
 * @property {(state: {state: 'following' | 'away', error?: string, reason?: string}) => void} [onState] of a live run
 * @property {Partial<typeof expireDefaults & typeof import('../repeat.js').repeatDefaults>} [limits]
 *
 * @typedef {ExpireOptions & {tally: ExpiredTally, now: () => string, limits: typeof expireDefaults}} Parts what an
 * action is given
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
  bytes = 0 // of them
  gone = 0 // not among them: heads that say "no tile here any more", and have expired as well
  /**
   * By layer; first, last: when they expired.
   * @type {Record<string, {tiles: number, bytes: number, gone: number, first: string | null, last: string | null}>}
   */
  layers = {}
  /** Layers that cannot be refreshed. @type {{layer: string, code: string, reason: string}[]} */
  skipped = []
  /** The first tiles, in a dry run. @type {{id: string, expires: string, seconds: number, bytes: number}[]} */
  listed = []
  changed = 0 // refreshed: became a version; removed: written by another program meanwhile
  // of tiles that are refreshed
  fetched = 0 // from the upstream, or confirmed by it
  unchanged = 0 // expire later
  fresh = 0 // refreshed by another program meanwhile
  missing = 0 // stay: the upstream has none any more
  outside = 0 // stay: outside of what the upstream has
  failed = 0
  left = 0 // not fetched, since the upstream is in trouble
  /** @type {{layer: string, code: string, reason: string}[]} */
  troubles = []
  // of tiles that are removed
  removed = 0 // heads
  ended = 0 // tiles with a past, which are gone from the time they expired
  versions = 0 // documents that were deleted
  freed = 0 // bytes of them
  refused = 0

  /** @param {import('./find.js').Expired} tile @param {boolean} takesGone */
  add ({ layer, gone, size, expires }, takesGone) {
    const figures = this.layers[layer] ??= { tiles: 0, bytes: 0, gone: 0, first: null, last: null }
    if (gone) {
      this.gone++
      figures.gone++
      if (!takesGone) return
    }
    this.expired++
    this.bytes += size
    figures.tiles++
    figures.bytes += size
    if (!figures.first || expires < figures.first) figures.first = expires
    if (!figures.last || expires > figures.last) figures.last = expires
  }
}

class Run {
  tally = new ExpiredTally()
  #since = '' // what expired until then was looked at
  #fullAt = 0 // milliseconds: when everything is looked at again
  #known = '' // the layers, as they were when everything was looked at

  /** @param {import('../../store/index.js').Store} store @param {Omit<Parts, 'tally'>} options */
  constructor (store, options) {
    this.store = store
    this.options = options
    this.now = options.now
    this.signal = options.signal
  }

  /** Treats what has expired since the last look, or all. @returns {Promise<string | undefined>} the next expiry */
  async look () {
    const begun = performance.now()
    const layers = await this.#layers()
    const layerSettings = JSON.stringify([...layers].map(([layer, { ttl, upstream }]) => [layer, ttl, upstream]))
    const full = !this.#since || layerSettings !== this.#known || begun >= this.#fullAt
    const { limits } = this.options
    const at = this.now()
    const { troubles } = this.tally
    troubles.length = 0
    await this.#pass(layers, { at, since: full ? undefined : this.#since })
    this.#since = at
    this.#known = layerSettings
    const took = performance.now() - begun
    if (troubles.length) this.#fullAt = performance.now() + limits.look
    else if (full) this.#fullAt = performance.now() + Math.max(limits.again, limits.share * took)
    return nextExpiry(this.store.couch, { layers, after: at, signal: this.signal })
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
    const cut = before === undefined ? now : addSeconds(before, -1)
    try {
      await this.#pass(layers, { at: dryRun || cut < now ? cut : now })
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
      const why = action === 'refresh' ? refusalOf(doc, seeding) : undefined
      if (why && names) throw why
      if (!why) return [[doc.layer, doc]]
      this.tally.skipped.push({ layer: doc.layer, code: why.code, reason: why.message })
      return []
    }))
  }

  /** @param {Map<string, any>} layers @param {{at: string, since?: string}} when */
  async #pass (layers, { at, since }) {
    const { options, tally, signal } = this
    const { action, dryRun, limits, onProgress } = options
    const limit = dryRun ? Infinity : options.limit ?? Infinity // a dry run also counts tiles that it does not list
    const all = !options.layers && action !== 'refresh' // tiles without a layer document have no upstream
    const task = new (action === 'refresh' ? RefreshExpired : RemoveExpired)(this.store, { ...options, tally })
    const { takesGone } = task
    let taken = 0
    for await (const page of findExpired(this.store.couch, { layers, all, at, since, page: limits.page, signal })) {
      const tiles = page.filter(({ gone }) => takesGone || !gone).slice(0, limit - taken)
      taken += tiles.length
      for (const tile of [...page.filter(({ gone }) => gone && !takesGone), ...tiles]) tally.add(tile, takesGone)
      if (dryRun) this.#list(tiles)
      await task.take(tiles)
      onProgress?.(tally)
      if (taken >= limit || signal?.aborted) break
    }
    await task.finish()
    onProgress?.(tally)
  }

  /** @param {import('./find.js').Expired[]} tiles */
  #list (tiles) {
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

/** Errors of one layer: the others go on. */
const OF_ONE_LAYER = new Set([
  'NO_UPSTREAM', 'SEED_FORBIDDEN', 'BAD_UPSTREAM', 'LAYER_NOT_FOUND',
  'UPSTREAM_ADDRESS', 'UPSTREAM_UNREACHABLE', 'UPSTREAM_FAILED', 'UPSTREAM_BUSY', 'UPSTREAM_REFUSED'
])

/** Fetches expired tiles again, as a seed does, layer by layer and many tiles at once. */
class RefreshExpired {
  /** By layer. @type {Map<string, Expired[]>} */
  #waiting = new Map()
  #failed = new Set() // layers whose upstream is in trouble
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
