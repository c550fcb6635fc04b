// What has expired: listed, fetched again, or removed. Once, or for as long as the signal allows.
import { TilecouchError, addSeconds, checkLayer, checkUpstream, hostOf, now as currentTime, toSeconds } from '../core/index.js'
import { findExpired, nextExpiry } from './expire/find.js'
import { Listing } from './expire/listing.js'
import { Refresh } from './expire/refresh.js'
import { Removal } from './expire/remove.js'
import { Tally } from './expire/tally.js'
import { changesOf, repeat } from './repeat.js'

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

/**
 * @typedef {'list' | 'refresh' | 'remove'} Action
 *
 * @typedef {object} ExpireOptions
 * @property {string[]} [layers] only these; else everything
 * @property {Action} [action] list
 * @property {string} [before] only what expired before this time; a list may look ahead
 * @property {number} [limit] tiles at most; of a list, tiles that are named
 * @property {boolean} [live] goes on until the signal
 * @property {boolean} [dryRun] counts, and changes nothing
 * @property {boolean} [withPast] removes the past of a tile as well
 * @property {boolean} [purge] of what is removed, see Remover
 * @property {() => string} [now] exact time
 * @property {Pick<import('./seed.js').SeedOptions, 'rate' | 'concurrency' | 'permission' | 'userAgent' | 'secrets' | 'networks' | 'patience'>} [seeding] of refreshing
 * @property {AbortSignal} [signal]
 * @property {(tally: Tally) => void} [onProgress]
 * @property {(tile: {id: string, expires: string, seconds: number, bytes: number}) => void} [onTile] of a list
 * @property {(error: TilecouchError) => void} [onTrouble] an upstream does not answer
 * @property {(state: {state: 'following' | 'away', error?: any}) => void} [onState] of a live one
 * @property {Partial<typeof expireDefaults & typeof import('./repeat.js').repeatDefaults>} [limits]
 *
 * @typedef {ExpireOptions & {tally: Tally, now: () => string, limits: typeof expireDefaults}} Parts what an action is given
 */

/**
 * @param {import('./store/index.js').Store} store
 * @param {ExpireOptions} [options]
 * @returns {Promise<Tally>}
 */
export async function expire (store, options = {}) {
  const { action = 'list', before, limit, live = false, now = currentTime, signal, onState, limits } = options
  const wrong = (option, value, why) => { throw new TilecouchError('BAD_OPTION', { option, value, why }) }
  options.layers?.forEach(checkLayer)
  if (live && action === 'list') wrong('--live', true, 'it goes with --refresh or --remove')
  if (live && (limit || before || options.dryRun)) wrong('--live', true, 'it does not go with --limit, --before or --dry-run')
  if (action !== 'list' && before && before > now()) wrong('--before', before, 'it is yet to come')
  const run = new Run(store, { ...options, action, now, limits: { ...expireDefaults, ...limits } })
  if (live) await repeat(() => run.look(), { pause: next => run.untilThen(next), wake: changesOf(store, signal), signal, onState, limits })
  else await run.once()
  return run.tally
}

class Run {
  tally = new Tally()
  #since = '' // everything that expired until then was looked at
  #fullAt = 0 // milliseconds: when everything is looked at again
  #known = '' // the layers, as they were when everything was looked at

  /** @param {import('./store/index.js').Store} store @param {ExpireOptions & {action: Action, now: () => string, limits: typeof expireDefaults}} options */
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
    const { action, before } = this.options
    const layers = await this.#layers()
    const now = this.now()
    const cut = before === undefined ? now : addSeconds(before, -1)
    try {
      await this.#pass(layers, { at: action === 'list' || cut < now ? cut : now })
      if (this.signal?.aborted) throw new TilecouchError('ABORTED')
    } catch (error) {
      throw Object.assign(error, { summary: this.tally })
    }
  }

  /** The documents of the layers that are looked at, by name. @returns {Promise<Map<string, any>>} */
  async #layers () {
    const { layers: names, action, seeding } = this.options
    const docs = names ? await Promise.all(names.map(name => this.store.layer(name))) : await this.store.layers()
    this.tally.passedOver = []
    return new Map(docs.flatMap(doc => {
      const why = action === 'refresh' && whyNot(doc, seeding)
      if (why && names) throw why
      if (!why) return [[doc.layer, doc]]
      this.tally.passedOver.push({ layer: doc.layer, code: why.code, reason: why.message })
      return []
    }))
  }

  /** @param {Map<string, any>} layers @param {{at: string, since?: string}} when */
  async #pass (layers, { at, since }) {
    const { options, tally, signal } = this
    const { action, limits, onProgress } = options
    const limit = action === 'list' ? Infinity : options.limit ?? Infinity // a list counts what it does not name
    const all = !options.layers && action !== 'refresh' // what no layer tells of has no upstream
    const doer = this.#doer()
    let taken = 0
    for await (const found of findExpired(this.store.couch, { layers, all, at, since, page: limits.page, signal })) {
      const tiles = found.filter(({ gone }) => doer.takesGone || !gone).slice(0, limit - taken)
      taken += tiles.length
      for (const tile of [...found.filter(({ gone }) => gone && !doer.takesGone), ...tiles]) tally.add(tile, doer.takesGone)
      await doer.take(tiles)
      onProgress?.(tally)
      if (taken >= limit || signal?.aborted) break
    }
    await doer.finish()
    onProgress?.(tally)
  }

  #doer () {
    const parts = { ...this.options, tally: this.tally }
    const { action } = this.options
    return action === 'refresh' ? new Refresh(this.store, parts) : action === 'remove' ? new Removal(this.store, parts) : new Listing(parts)
  }
}

/** Why nothing may be asked for. @returns {TilecouchError | undefined} */
function whyNot ({ layer, upstream }, seeding) {
  if (!upstream) return new TilecouchError('NO_UPSTREAM', { layer })
  const { seed, url } = checkUpstream(upstream)
  return seed || seeding?.permission ? undefined : new TilecouchError('SEED_FORBIDDEN', { layer, host: hostOf(url) })
}
