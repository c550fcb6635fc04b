// Expired tiles are fetched again or removed: once, or until a signal. A dry run lists them.
import { addSeconds, checkLayer, checkUpstream, hostOf, now as currentTime, toSeconds } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { changesOf, repeat } from '../repeat.js'
import { Tally } from '../tally.js'
import { findExpired, nextExpiry } from './find.js'
import { RefreshExpired } from './refresh.js'
import { RemoveExpired } from './remove.js'

export const expireDefaults = {
  page: 500, // tiles looked at together
  refresh: 2000, // tiles of a layer asked for in one go
  past: 200, // tiles whose past is looked up together
  batch: 100, // heads written together
  bytes: 4 * 1024 * 1024, // of heads in a batch
  look: 60000, // milliseconds after which a look is taken although nothing was heard of
  again: 600000, // milliseconds after which what is still there is tried again
  share: 10 // times as long as a look at everything took is waited, at least, before the next one
}

const MOST_LISTED = 1000 // tiles listed unless told otherwise; all are counted

/**
 * @typedef {object} ExpireOptions
 * @property {string[]} [layers] only these; else everything
 * @property {'refresh' | 'remove'} action fetch them again from the upstream of their layer, or remove them
 * @property {string} [before] only tiles that expired before this time; in a dry run it may be yet to come
 * @property {number} [limit] tiles at most; in a dry run, tiles that are listed
 * @property {boolean} [live] goes on until the signal
 * @property {boolean} [dryRun] lists and counts, and changes nothing
 * @property {boolean} [withPast] removes the past of a tile as well
 * @property {boolean} [purge] of what is removed, see Remover
 * @property {() => string} [now] exact time
 * @property {Pick<import('../seed/index.js').SeedOptions, 'rate' | 'concurrency' | 'permission' | 'userAgent' | 'secrets' | 'networks' | 'patience'>} [seeding] of refreshing
 * @property {AbortSignal} [signal]
 * @property {(tally: ExpiredTally) => void} [onProgress]
 * @property {(tile: {id: string, expires: string, seconds: number, bytes: number}) => void} [onTile] of a dry run
 * @property {(error: TilecouchError) => void} [onTrouble] an upstream does not answer
 * @property {(state: {state: 'following' | 'away', error?: any}) => void} [onState] of a live one
 * @property {Partial<typeof expireDefaults & typeof import('../repeat.js').repeatDefaults>} [limits]
 *
 * @typedef {ExpireOptions & {tally: ExpiredTally, now: () => string, limits: typeof expireDefaults}} Parts what an action is given
 */

/**
 * @param {import('../store/index.js').Store} store
 * @param {ExpireOptions} options
 * @returns {Promise<ExpiredTally>}
 */
export async function expire (store, options) {
  const { before, limit, live = false, now = currentTime, signal, onState, limits } = options
  const wrong = (option, value, why) => { throw new TilecouchError('BAD_OPTION', { option, value, why }) }
  options.layers?.forEach(checkLayer)
  if (live && (limit || before || options.dryRun)) wrong('--live', true, 'it does not go with --limit, --before or --dry-run')
  if (!options.dryRun && before && before > now()) wrong('--before', before, 'it is yet to come')
  const run = new Run(store, { ...options, now, limits: { ...expireDefaults, ...limits } })
  if (live) await repeat(() => run.look(), { pause: next => run.untilThen(next), wake: changesOf(store, signal), signal, onState, limits })
  else await run.once()
  return run.tally
}

export class ExpiredTally extends Tally {
  expired = 0 // tiles
  bytes = 0 // of them
  gone = 0 // besides: heads that say "no tile here any more", and have expired as well
  /** @type {Record<string, {tiles: number, bytes: number, gone: number, first: string | null, last: string | null}>} by layer; first, last: when they expired */
  layers = {}
  /** @type {{layer: string, code: string, reason: string}[]} that cannot be refreshed */
  skipped = []
  // listing
  /** @type {{id: string, expires: string, seconds: number, bytes: number}[]} the first */
  listed = []
  // refreshing
  fetched = 0 // got from the upstream, or confirmed by it
  changed = 0 // refreshing: became a version; removing: written by somebody else meanwhile
  unchanged = 0 // hold longer
  fresh = 0 // refreshed by somebody else meanwhile
  missing = 0 // the upstream has none any more: they stay
  outside = 0 // the upstream does not have such tiles
  failed = 0
  left = 0 // the upstream is in trouble
  /** @type {{layer: string, code: string, reason: string}[]} */
  troubles = []
  // removing
  removed = 0 // heads
  ended = 0 // tiles with a past that are gone from then on
  versions = 0 // documents that went
  freed = 0 // bytes of them
  refused = 0

  /** @param {import('./find.js').Expired} tile @param {boolean} takesGone */
  add ({ layer, gone, size, expires }, takesGone) {
    const of = this.layers[layer] ??= { tiles: 0, bytes: 0, gone: 0, first: null, last: null }
    if (gone) {
      this.gone++
      of.gone++
      if (!takesGone) return
    }
    this.expired++
    this.bytes += size
    of.tiles++
    of.bytes += size
    if (!of.first || expires < of.first) of.first = expires
    if (!of.last || expires > of.last) of.last = expires
  }
}

class Run {
  tally = new ExpiredTally()
  #since = '' // everything that expired until then was looked at
  #fullAt = 0 // milliseconds: when everything is looked at again
  #known = '' // the layers, as they were when everything was looked at

  /** @param {import('../store/index.js').Store} store @param {ExpireOptions & {now: () => string, limits: typeof expireDefaults}} options */
  constructor (store, options) {
    this.store = store
    this.options = options
    this.now = options.now
    this.signal = options.signal
  }

  /** What has expired since the last look; now and then, everything. Answers when to look again. */
  async look () {
    const begun = performance.now()
    const layers = await this.#layers()
    const known = JSON.stringify([...layers].map(([layer, { ttl, upstream }]) => [layer, ttl, upstream]))
    const full = !this.#since || known !== this.#known || begun >= this.#fullAt
    const { limits } = this.options
    const at = this.now()
    const { troubles } = this.tally
    troubles.length = 0
    await this.#pass(layers, { at, since: full ? undefined : this.#since })
    this.#since = at
    this.#known = known
    const took = performance.now() - begun
    if (troubles.length) this.#fullAt = performance.now() + limits.look
    else if (full) this.#fullAt = performance.now() + Math.max(limits.again, limits.share * took)
    return nextExpiry(this.store.couch, { layers, after: at, signal: this.signal })
  }

  /** Milliseconds. @param {string | undefined} next */
  untilThen (next) {
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

  /** The documents of the layers that are looked at, by name. @returns {Promise<Map<string, any>>} */
  async #layers () {
    const { layers: names, action, seeding } = this.options
    const docs = names ? await Promise.all(names.map(name => this.store.layer(name))) : await this.store.layers()
    this.tally.skipped = []
    return new Map(docs.flatMap(doc => {
      const why = action === 'refresh' && whyNot(doc, seeding)
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
    const limit = dryRun ? Infinity : options.limit ?? Infinity // a dry run counts also the tiles that it does not list
    const all = !options.layers && action !== 'refresh' // tiles without a layer document have no upstream
    const doer = new (action === 'refresh' ? RefreshExpired : RemoveExpired)(this.store, { ...options, tally })
    let taken = 0
    for await (const found of findExpired(this.store.couch, { layers, all, at, since, page: limits.page, signal })) {
      const tiles = found.filter(({ gone }) => doer.takesGone || !gone).slice(0, limit - taken)
      taken += tiles.length
      for (const tile of [...found.filter(({ gone }) => gone && !doer.takesGone), ...tiles]) tally.add(tile, doer.takesGone)
      if (dryRun) this.#list(tiles)
      await doer.take(tiles)
      onProgress?.(tally)
      if (taken >= limit || signal?.aborted) break
    }
    await doer.finish()
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

/** Why nothing may be asked for. @returns {TilecouchError | undefined} */
function whyNot ({ layer, upstream }, seeding) {
  if (!upstream) return new TilecouchError('NO_UPSTREAM', { layer })
  const { seed, url } = checkUpstream(upstream)
  return seed || seeding?.permission ? undefined : new TilecouchError('SEED_FORBIDDEN', { layer, host: hostOf(url) })
}
