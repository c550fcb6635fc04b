// Decides which moments of a layer are kept, and therefore which versions are removed. Moments that appear after the
// plan was made are left for the next run.
import {
  AFTER, MomentSelector, addSeconds, fromSeconds, versionsToPrune, isKept, toSeconds, editionId, faultIn, isExactTime
} from '../../../core/index.js'
import { lowerBound } from '../../../core/lists.js'
import { BY_TIME } from '../../store/reader.js'

export const pruneDefaults = {
  page: 5000, // moments per request
  listed: 1000, // moments listed in a summary; all are counted
  loading: 86400, // seconds after the start of an edition in which it may still be loading
  batch: 500, // versions, or editions, removed in one request
  every: 3600 // seconds between two rounds of a live run
}

/**
 * @typedef {object} MomentSummary
 * @property {string} time
 * @property {string} [title] title of its edition
 * @property {boolean} edition whether an edition has this time
 * @property {string[]} by rules that keep it; empty: it is not kept
 * @property {number} versions number of versions of this time
 * @property {number} going number of removed versions
 * @property {number} bytes of the removed versions
 *
 * @typedef {object} PlanSummary
 * @property {import('../../../core/retention.js').Retention} policy
 * @property {string | null} from all moments since this time are kept
 * @property {string[]} missing editions that the policy names but that do not exist
 * @property {{total: number, kept: number, going: number, listed: MomentSummary[]}} moments listed: newest first; if
 * there are too many, only kept moments
 */

export class PrunePlan {
  #layer
  #limits
  #selector
  #seconds = /** @type {number[]} */ ([]) // of every moment; numbers need less memory than strings
  #now
  #until = AFTER // first time at which another moment may be dropped, if the layer does not change
  /** @type {Map<string, MomentSummary>} */
  #listed = new Map()
  /** @type {import('../../../core/retention.js').Kept} */
  kept = { moments: [], from: null }
  /** Editions whose moments are not kept. @type {{id: string, rev: string}[]} */
  editions = []
  /** Editions that the policy names but that do not exist. @type {string[]} */
  missing = []
  counts = { total: 0, kept: 0, going: 0 }
  versions = 0

  /**
   * @param {string} layer
   * @param {import('../../../core/retention.js').Retention} policy
   * @param {{now: () => string, limits: typeof pruneDefaults}} options
   */
  constructor (layer, policy, { now, limits }) {
    this.#layer = layer
    this.policy = policy
    this.#limits = limits
    this.#now = now()
    this.#selector = new MomentSelector(policy, { now: () => this.#now })
    this.begun = addSeconds(this.#now, -limits.loading)
  }

  /** @param {import('../../store/couch.js').Couch} couch @param {AbortSignal} [signal] */
  async read (couch, signal) {
    let previous = /** @type {{moment: Moment, by: string[]} | undefined} */ (undefined)
    for await (const moment of momentsOf(couch, this.#layer, this.#limits.page, signal)) {
      const { time, edition } = moment
      if (time > this.#now) this.#until = time // the newest come first
      if (previous) this.#add(previous.moment, previous.by)
      const by = this.#selector.take({ time, edition: Boolean(edition), always: this.#isLoading(edition) })
      previous = { moment, by }
    }
    const { moments, from, oldest, missing } = this.#selector.end()
    // the last moment is the oldest one
    if (previous) this.#add(previous.moment, [...previous.by, ...oldest.map(rule => `oldest ${rule}`)])
    this.#seconds.reverse() // ascending
    this.kept = { moments, from }
    this.missing = missing
    return this
  }

  /** Whether an edition may be loading. A load compares tiles with the versions before, which must stay. */
  #isLoading (edition) {
    if (edition?.isInvalid) return true
    if (!edition || edition.finished || !(edition.started > this.begun)) return false
    const ends = addSeconds(edition.started, this.#limits.loading)
    if (ends < this.#until) this.#until = ends
    return true
  }

  /** @param {Moment} moment @param {string[]} by */
  #add ({ time, versions, edition }, by) {
    const { counts } = this
    this.#seconds.push(toSeconds(time))
    this.versions += versions
    counts.total++
    counts[by.length ? 'kept' : 'going']++
    if (edition && !by.length) this.editions.push({ id: edition._id, rev: edition._rev })
    const title = edition?.title
    if ((by.length ? counts.kept : counts.total) <= this.#limits.listed) {
      const moment = { time, ...(title && { title }), edition: Boolean(edition), by, versions, going: 0, bytes: 0 }
      this.#listed.set(time, moment)
    }
  }

  /** Keeps the moment of an edition that appeared after the plan was made. @param {string} time */
  keep (time) {
    if (isKept(this.kept, time)) return
    this.kept.moments.push(time)
    this.kept.moments.sort()
  }

  /**
   * The dropped times: each span from a time that is not kept to the next kept time.
   * @param {string[]} editionTimes more times, beside the moments
   * @param {string} run of the prune
   * @returns {import('../../../core/store/limits.js').Dropped[]}
   */
  dropped (editionTimes, run) {
    const { moments, from } = this.kept
    /** @type {Map<string, string>} */
    const firstBefore = new Map() // the kept time after a span -> the first time of the span
    for (const time of [...this.#seconds.map(fromSeconds), ...editionTimes]) {
      if (isKept(this.kept, time)) continue
      const nextKept = [moments[lowerBound(moments, time)], from].filter(kept => kept && kept > time).sort()[0]
      const first = nextKept && firstBefore.get(nextKept)
      if (nextKept && (!first || time < first)) firstBefore.set(nextKept, time)
    }
    return [...firstBefore].map(([until, first]) => [first, until, run])
  }

  /** Whether any time of a span is kept. @param {string} first @param {string} until */
  keepsIn (first, until) {
    const { moments, from } = this.kept
    return Boolean(from && from < until) || moments[lowerBound(moments, first)] < until
  }

  /**
   * The versions of a tile that are removed, without versions that appeared after the plan was made.
   * @template {{time: string, gone: boolean, size: number}} T
   * @param {T[]} versions oldest first
   * @returns {T[]}
   */
  versionsToPrune (versions) {
    return versionsToPrune(versions, this.kept, { isProtected: ({ time }) => !this.#isKnown(time) })
  }

  /** Counts versions that are removed. @param {{time: string, size: number}[]} versions */
  count (versions) {
    for (const { time, size } of versions) {
      const moment = this.#listed.get(time)
      if (!moment) continue
      moment.going++
      moment.bytes += size
    }
  }

  #isKnown (time) {
    const second = toSeconds(time)
    return this.#seconds[lowerBound(this.#seconds, second)] === second
  }

  /** The state to store if nothing was removed. @returns {import('./last.js').Idle} */
  get idle () {
    const { total, kept } = this.counts
    return { at: this.#now, until: this.#until, policy: JSON.stringify(this.policy), total, stay: kept }
  }

  /** @returns {PlanSummary} */
  get summary () {
    const summaries = [...this.#listed.values()]
    const listed = this.counts.total > this.#limits.listed ? summaries.filter(({ by }) => by.length) : summaries
    return { policy: this.policy, from: this.kept.from, missing: this.missing, moments: { ...this.counts, listed } }
  }
}

/** @typedef {{time: string, versions: number, edition?: any}} Moment edition: its document */

/**
 * The times of a layer's versions and editions, newest first. There may be a million, so both are read in pages.
 * @param {import('../../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {number} page rows per request
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<Moment>}
 */
async function * momentsOf (couch, layer, page, signal) {
  const editions = editionsOf(couch, layer, page, signal)
  const read = async () => (await editions.next()).value
  let edition = await read()
  for await (const { time, versions } of timesOf(couch, layer, page, signal)) {
    for (; edition && edition.time > time; edition = await read()) yield { time: edition.time, versions: 0, edition }
    const isSame = edition?.time === time
    yield { time, versions, ...(isSame && { edition }) }
    if (isSame) edition = await read()
  }
  for (; edition; edition = await read()) yield { time: edition.time, versions: 0, edition }
}

/** @returns {AsyncGenerator<{time: string, versions: number}>} */
async function * timesOf (couch, layer, page, signal) {
  // [layer, time] as start of a descending range excludes all rows [layer, time, z]
  for (let startkey = [layer, {}]; ;) {
    const query = { startkey, endkey: [layer], descending: true, group_level: 2, limit: page }
    const rows = await couch.view(BY_TIME, query, signal)
    for (const { key: [, time], value: { count } } of rows) yield { time, versions: count }
    if (rows.length < page) return
    startkey = [layer, rows[rows.length - 1].key[1]]
  }
}

/** @returns {AsyncGenerator<any>} documents */
async function * editionsOf (couch, layer, page, signal) {
  const endkey = editionId(layer, '')
  for (let startkey = `${endkey}~`; ;) {
    const rows = await couch.page({ startkey, endkey, descending: true, limit: page, include_docs: true }, signal)
    for (const { id, doc } of rows) {
      const time = id.slice(endkey.length)
      if (doc && isExactTime(time)) yield faultIn(doc) ? { _id: id, _rev: doc._rev, time, isInvalid: true } : doc
    }
    if (rows.length < page) return
    startkey = rows[rows.length - 1].id.slice(0, -1) // no other edition's id is between the two
  }
}
