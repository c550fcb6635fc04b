// Selects the moments of a layer that a policy keeps, and the versions of a tile that no kept moment needs. Rules work
// as in restic and borg: each counts by itself from the newest moment backwards, and a moment stays if any rule keeps
// it.
import { TilecouchError } from './errors.js'
import { lowerBound } from './lists.js'
import { addSeconds, parsePeriod, toSeconds } from './times.js'
import { isObject, isWhole } from './values.js'

const DAY = 86400 // seconds
export const MOST_MOMENTS = 1e6 // that a rule may ask for
const LONGEST = 1000 * 365 * DAY // seconds `within` may reach back

/**
 * @typedef {object} Retention a policy, as on the layer document
 * @property {number} [last] this many moments, the newest
 * @property {number} [hourly] the newest moment of each of the last hours that have any
 * @property {number} [daily]
 * @property {number} [weekly] weeks of ISO 8601, which begin on Monday
 * @property {number} [monthly]
 * @property {number} [yearly]
 * @property {number} [within] seconds before the newest moment, throughout
 * @property {true | string[]} [editions] all, or the editions with these times; a partial time names all of its period
 *
 * @typedef {object} Kept
 * @property {string[]} moments ascending, without the moments that `from` covers
 * @property {string | null} from every version that was valid at this time or later is kept
 */

/** Rule -> the period a moment belongs to. */
const PERIODS = {
  last: time => time,
  hourly: time => time.slice(0, 13),
  daily: time => time.slice(0, 10),
  weekly: time => Math.floor((toSeconds(time) / DAY + 3) / 7), // 1970 began on a Thursday
  monthly: time => time.slice(0, 7),
  yearly: time => time.slice(0, 4)
}

const isTimes = value => Array.isArray(value) && value.every(time => parsePeriod(time))

/** Field -> what its value must be. */
const FIELDS = {
  ...Object.fromEntries(Object.keys(PERIODS).map(rule => [rule, {
    is: isWhole(0, MOST_MOMENTS), must: `a whole number up to ${MOST_MOMENTS}`
  }])),
  within: { is: isWhole(0, LONGEST), must: 'whole seconds, at most 1000 years' },
  editions: { is: value => value === true || isTimes(value), must: 'true (all) or a list of times' }
}

/**
 * Checks a policy. Throws BAD_RETENTION if it is invalid or keeps nothing.
 * @param {any} policy
 * @returns {Retention} the policy without empty rules
 */
export function checkRetention (policy) {
  const bad = (why, details) => new TilecouchError('BAD_RETENTION', { ...details, why })
  if (!isObject(policy)) throw bad('it is no object')
  const statedFields = Object.entries(policy).filter(([, value]) => value !== undefined && value !== null)
  for (const [field, value] of statedFields) {
    if (!Object.hasOwn(FIELDS, field)) throw bad('is no rule', { field, value })
    if (!FIELDS[field].is(value)) throw bad(`must be ${FIELDS[field].must}`, { field, value })
  }
  const rules = Object.fromEntries(statedFields.filter(([, value]) => Array.isArray(value) ? value.length : value))
  if (!Object.keys(rules).length) throw bad('it keeps nothing')
  return rules
}

/** Selects moments of a layer one by one, from the newest backwards. Its memory is bounded by the kept moments. */
export class MomentSelector {
  #rules
  #keepsAllEditions
  #namedEditions
  #within
  #now
  /** @type {string | null} */
  #from = null
  /** @type {string[]} */
  #moments = [] // descending, without those that `within` keeps
  #oldest = { time: '', by: /** @type {string[]} */ ([]) }

  /** @param {Retention} policy @param {{now?: () => string}} [options] */
  constructor (policy, { now } = {}) {
    const { within, editions, ...counts } = checkRetention(policy)
    this.#within = within
    this.#now = now?.()
    this.#rules = Object.entries(counts).map(([rule, left]) => ({ rule, left, period: /** @type {any} */ (undefined) }))
    const namedEditions = Array.isArray(editions) ? editions : []
    this.#namedEditions = namedEditions.map(written => ({ written, ...parsePeriod(written), exists: false }))
    this.#keepsAllEditions = editions === true
  }

  /**
   * Takes the next older moment.
   * @param {{time: string, edition?: boolean, always?: boolean}} moment edition: an edition has this time; always: it
   *   stays regardless of the rules
   * @returns {string[]} the rules that keep it
   */
  take ({ time, edition = false, always = false }) {
    const keepingRules = always ? ['always'] : []
    for (const entry of this.#rules) {
      if (!entry.left) continue
      const period = PERIODS[entry.rule](time)
      if (period === entry.period) continue
      entry.period = period
      entry.left--
      keepingRules.push(entry.rule)
    }
    if (edition && (this.#isNamed(time) || this.#keepsAllEditions)) keepingRules.push('editions')
    const isWithin = this.#isWithin(time)
    if (keepingRules.length && !isWithin) this.#moments.push(time)
    if (isWithin) keepingRules.push('within')
    this.#oldest = { time, by: keepingRules }
    return keepingRules
  }

  // `within` counts from the newest moment that is not in the future: a wrongly dated edition must not make all others
  // too old
  #isWithin (time) {
    if (this.#within === undefined) return false
    if (this.#now !== undefined && time > this.#now) return true
    this.#from ??= addSeconds(time, -this.#within)
    return time >= this.#from
  }

  #isNamed (time) {
    const matchingEditions = this.#namedEditions.filter(({ start, end }) => time >= start && time <= end)
    for (const edition of matchingEditions) edition.exists = true
    return matchingEditions.length > 0
  }

  /**
   * Ends the selection after the oldest moment. A rule with fewer periods than it asks for keeps the oldest moment as
   * well, so that its periods can grow from there.
   * @returns {Kept & {oldest: string[], missing: string[]}} oldest: rules that keep the oldest moment only because it
   *   is the oldest; missing: named editions that do not exist
   */
  end () {
    const { time, by } = this.#oldest
    const unfilled = this.#rules.filter(({ rule, left }) => left && !by.includes(rule))
    const oldest = time ? unfilled.map(({ rule }) => rule) : []
    if (oldest.length && !by.length) this.#moments.push(time)
    if (time && this.#within !== undefined) this.#from ??= addSeconds(/** @type {string} */ (this.#now), -this.#within)
    return {
      moments: this.#moments.reverse(),
      from: this.#from,
      oldest,
      missing: this.#namedEditions.filter(({ exists }) => !exists).map(({ written }) => written)
    }
  }
}

/** Whether a moment is kept. @param {Kept} kept @param {string} time */
export const isKept = ({ moments, from }, time) => (from !== null && time >= from) || firstFrom(moments, time) === time

/**
 * The versions of one tile that no kept moment needs. The newest is never among them: a tile that is gone
 * stays gone, whatever is loaded later for a time before that.
 * @template {{time: string, gone?: boolean}} T
 * @param {T[]} versions oldest first
 * @param {Kept} kept
 * @param {{isProtected?: (version: T) => boolean}} [options] isProtected: further versions that stay
 * @returns {T[]}
 */
export function versionsToPrune (versions, { moments, from }, { isProtected = () => false } = {}) {
  const newest = versions.length - 1
  let isBlank = true // no kept version has shown an image so far
  return versions.filter((version, index) => {
    const { time, gone } = version
    const isShown = end => (from !== null && end > from) || (firstFrom(moments, time) ?? end) < end
    const isSpared = isProtected(version)
    if (index < newest && !isSpared && !isShown(versions[index + 1].time)) return true
    isBlank &&= Boolean(gone)
    return isBlank && !isSpared && index < newest
  })
}

/** The first of ascending times that is not before `time`. */
const firstFrom = (times, time) => times[lowerBound(times, time)]
