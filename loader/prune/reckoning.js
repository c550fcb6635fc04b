// What is to be kept of a layer, reckoned from its moments as they were when it was asked: what comes while versions are
// removed is left for the next time.
import { Keeper, addSeconds, doomedOf, isKept, toSeconds } from '../../core/index.js'
import { momentsOf } from './moments.js'

/**
 * @typedef {object} ToldMoment
 * @property {string} time
 * @property {string} [title] of its edition
 * @property {boolean} edition whether there is one
 * @property {string[]} by rules that keep it; none: it is not kept
 * @property {number} versions of this time
 * @property {number} going how many of them go
 * @property {number} bytes of those
 *
 * @typedef {object} Reckoned
 * @property {import('../../core/retention.js').Retention} policy
 * @property {string | null} from everything since then is kept
 * @property {string[]} missing editions that the policy names and that are not there
 * @property {{total: number, kept: number, going: number, told: ToldMoment[]}} moments told: newest first; all of them, or when there are too many, those that are kept
 */

export class Reckoning {
  #layer
  #limits
  #keeper
  #seconds = /** @type {number[]} */ ([]) // of every moment, descending: numbers take less than strings
  /** @type {import('../../core/retention.js').Kept} */
  #kept = { moments: [], from: null }
  /** @type {Map<string, ToldMoment>} */
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
   * @param {{now: () => string, limits: typeof import('./defaults.js').pruneDefaults}} options
   */
  constructor (layer, policy, { now, limits }) {
    this.#layer = layer
    this.policy = policy
    this.#limits = limits
    this.#keeper = new Keeper(policy, { now })
    this.begun = addSeconds(now(), -limits.loading)
  }

  /** @param {import('../store/couch.js').Couch} couch @param {AbortSignal} [signal] */
  async read (couch, signal) {
    let last = /** @type {{moment: import('./moments.js').Moment, by: string[]} | undefined} */ (undefined)
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

  /** @param {import('./moments.js').Moment} moment @param {string[]} by */
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
    return doomedOf(versions, this.#kept, { isSpared: ({ time }) => !this.#isKnown(time) })
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

  /** @returns {Reckoned} */
  get summary () {
    const all = [...this.#told.values()]
    const told = this.counts.total > this.#limits.told ? all.filter(({ by }) => by.length) : all
    return { policy: this.policy, from: this.#kept.from, missing: this.missing, moments: { ...this.counts, told } }
  }
}
