// Which moments of a layer are kept, and so which of its versions are removed. The plan is made from the moments that there are
// when it begins: later ones are left for the next run.
import { MomentSelector, addSeconds, versionsToPrune, isKept, toSeconds, editionId, faultIn, isExactTime } from '../../core/index.js'
import { BY_TIME } from '../store/reader.js'

export const pruneDefaults = {
  page: 5000, // moments read with one request
  told: 1000, // moments named in a summary; all are counted
  loading: 86400, // seconds since an edition was begun in which it may still be on its way
  batch: 500, // versions, or editions, removed together
  every: 3600 // seconds between two rounds of a live one
}

/**
 * @typedef {object} MomentSummary
 * @property {string} time
 * @property {string} [title] of its edition
 * @property {boolean} edition whether there is one
 * @property {string[]} by rules that keep it; none: it is not kept
 * @property {number} versions of this time
 * @property {number} going how many of them go
 * @property {number} bytes of those
 *
 * @typedef {object} PlanSummary
 * @property {import('../../core/retention.js').Retention} policy
 * @property {string | null} from everything since then is kept
 * @property {string[]} missing editions that the policy names and that are not there
 * @property {{total: number, kept: number, going: number, told: MomentSummary[]}} moments told: newest first; all of them, or when there are too many, those that are kept
 */

export class PrunePlan {
  #layer
  #limits
  #keeper
  #seconds = /** @type {number[]} */ ([]) // of every moment, descending: numbers take less than strings
  /** @type {import('../../core/retention.js').Kept} */
  #kept = { moments: [], from: null }
  /** @type {Map<string, MomentSummary>} */
  #told = new Map()
  /** Editions whose moments are not kept, at the revisions that were looked at. @type {{_id: string, _rev: string}[]} */
  editions = []
  /** Named by the policy, and not there. @type {string[]} */
  missing = []
  counts = { total: 0, kept: 0, going: 0 }
  versions = 0

  /**
   * @param {string} layer
   * @param {import('../../core/retention.js').Retention} policy
   * @param {{now: () => string, limits: typeof pruneDefaults}} options
   */
  constructor (layer, policy, { now, limits }) {
    this.#layer = layer
    this.policy = policy
    this.#limits = limits
    this.#keeper = new MomentSelector(policy, { now })
    this.begun = addSeconds(now(), -limits.loading)
  }

  /** @param {import('../store/couch.js').Couch} couch @param {AbortSignal} [signal] */
  async read (couch, signal) {
    let last = /** @type {{moment: Moment, by: string[]} | undefined} */ (undefined)
    for await (const moment of momentsOf(couch, this.#layer, { page: this.#limits.page, signal })) {
      const { time, edition } = moment
      if (last) this.#add(last.moment, last.by)
      last = { moment, by: this.#keeper.take({ time, edition: Boolean(edition), always: this.#isLoading(edition) }) }
    }
    const { moments, from, oldest, missing } = this.#keeper.end()
    // only now it is known to be the oldest
    if (last) this.#add(last.moment, [...last.by, ...oldest.map(rule => `oldest ${rule}`)])
    this.#kept = { moments, from }
    this.missing = missing
    return this
  }

  // what is being loaded is compared with the versions before it: they must not go meanwhile. Nobody knows of a document that is not valid
  #isLoading (edition) {
    return Boolean(edition?.isUnknown || (edition && !edition.finished && edition.started > this.begun))
  }

  /** @param {Moment} moment @param {string[]} by */
  #add ({ time, versions, edition }, by) {
    const { counts } = this
    this.#seconds.push(toSeconds(time))
    this.versions += versions
    counts.total++
    counts[by.length ? 'kept' : 'going']++
    if (edition && !by.length) this.editions.push({ _id: edition._id, _rev: edition._rev })
    const title = edition?.title
    if (by.length ? counts.kept <= this.#limits.told : counts.total <= this.#limits.told) {
      this.#told.set(time, { time, ...(title && { title }), edition: Boolean(edition), by, versions, going: 0, bytes: 0 })
    }
  }

  /** An edition that came meanwhile: as of its time nothing may change, either. @param {string} time */
  keep (time) {
    if (isKept(this.#kept, time)) return
    this.#kept.moments.push(time)
    this.#kept.moments.sort()
  }

  /**
   * The versions of a tile that go.
   * @template {{time: string, gone: boolean, size: number}} T
   * @param {T[]} versions oldest first
   * @returns {T[]}
   */
  doomed (versions) {
    // what came meanwhile has not been reckoned with
    return versionsToPrune(versions, this.#kept, { isProtected: ({ time }) => !this.#isKnown(time) })
  }

  /** What goes, by moment. @param {{time: string, size: number}[]} doomed */
  count (doomed) {
    for (const { time, size } of doomed) {
      const told = this.#told.get(time)
      if (!told) continue
      told.going++
      told.bytes += size
    }
  }

  #isKnown (time) {
    const seconds = this.#seconds
    const wanted = toSeconds(time)
    let [low, high] = [0, seconds.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (seconds[middle] > wanted) low = middle + 1
      else high = middle
    }
    return seconds[low] === wanted
  }

  /** @returns {PlanSummary} */
  get summary () {
    const all = [...this.#told.values()]
    const told = this.counts.total > this.#limits.told ? all.filter(({ by }) => by.length) : all
    return { policy: this.policy, from: this.#kept.from, missing: this.missing, moments: { ...this.counts, told } }
  }
}

// The moments of a layer: the times of its versions and of its editions. There may be a million: both are read in pages.

/**
 * @typedef {object} Moment
 * @property {string} time
 * @property {number} versions of this time
 * @property {any} [edition] its document
 *
 * @typedef {{page: number, signal?: AbortSignal}} Reading page: rows a request
 */

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {Reading} options
 * @returns {AsyncGenerator<Moment>}
 */
export async function * momentsOf (couch, layer, options) {
  const editions = editionsOf(couch, layer, options)
  const times = timesOf(couch, layer, options)
  try {
    let edition = await take(editions)
    for await (const { time, versions } of times) {
      for (; edition && edition.time > time; edition = await take(editions)) yield { time: edition.time, versions: 0, edition }
      if (edition?.time !== time) yield { time, versions }
      else {
        yield { time, versions, edition }
        edition = await take(editions)
      }
    }
    for (; edition; edition = await take(editions)) yield { time: edition.time, versions: 0, edition }
  } finally {
    await Promise.all([times.return(undefined), editions.return(undefined)])
  }
}

const take = async generator => (await generator.next()).value

/** @param {Reading} options @returns {AsyncGenerator<{time: string, versions: number}>} */
async function * timesOf (couch, layer, options) {
  const { page, signal } = options
  // what is before [layer, time] when it is read backwards: [layer, time, z] is after it
  for (let startkey = [layer, {}]; ;) {
    const rows = await couch.view(BY_TIME, { startkey, endkey: [layer], descending: true, group_level: 2, limit: page }, signal)
    for (const { key: [, time], value: { count } } of rows) yield { time, versions: count }
    if (rows.length < page) return
    startkey = [layer, rows[rows.length - 1].key[1]]
  }
}

/** @param {Reading} options @returns {AsyncGenerator<any>} documents */
async function * editionsOf (couch, layer, options) {
  const { page, signal } = options
  const endkey = editionId(layer, '')
  for (let startkey = `${endkey}~`; ;) {
    const rows = await couch.page({ startkey, endkey, descending: true, limit: page, include_docs: true }, signal)
    for (const { id, doc } of rows) {
      const time = id.slice(endkey.length)
      // of one that is not valid nobody knows what it is for: nothing of its time goes
      if (doc && isExactTime(time)) yield faultIn(doc) ? { _id: id, _rev: doc._rev, time, isUnknown: true } : doc
    }
    if (rows.length < page) return
    startkey = rows[rows.length - 1].id.slice(0, -1) // of ids that begin alike none is before it
  }
}
