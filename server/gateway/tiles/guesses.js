// Which version a tile shows at a time, without reading its timeline. Tiles of a layer are alike: most of them did not
// change since that time, or most have a version of the same edition. What the latest answers had in common is tried
// first, and is an answer only where it must be right:
// - the head, if its time is not later: no version is newer than it;
// - a past version of the newest time up to then at which anything in the layer changed, as the time index says it. Of
//   tiles that have changed since the index was asked, the timeline is read.
import { LRUCache } from 'lru-cache'
import { ignoreRejection } from '../shared-work.js'
import { EPOCH } from './entry.js'

const guessDefaults = {
  learn: 4, // answers for a layer and a time before anything is guessed
  share: 0.6, // of the latest answers that have to be alike
  weight: 1 / 4, // of an answer in that share
  guessed: 200, // layers and times that are remembered
  indexPause: 1000 // milliseconds before the time index is asked again
}

/**
 * @typedef {{id: string, time?: string}} Guess time: of a past version
 * @typedef {object} Answers for a layer and a time
 * @property {number} count
 * @property {number} heads share of heads among the latest
 * @property {string} time of the latest past version
 * @property {number} pasts share of this time among the latest
 * @property {{time: string | undefined, begun: number}} [newest] by the time index
 * @property {number} askedAt
 */

export class Guesses {
  /** @type {LRUCache<string, Answers>} */
  #answers

  /** @param {Pick<import('./index.js').Parts, 'cache' | 'reader' | 'limits'>} parts */
  constructor ({ cache, reader, limits }) {
    this.limits = { ...guessDefaults, ...limits }
    const memoMethod = () => ({ count: 0, heads: 0, pasts: 0, time: '', askedAt: -Infinity })
    this.#answers = new LRUCache({ max: this.limits.guessed, memoMethod })
    this.cache = cache
    this.reader = reader
  }

  /** What a tile probably shows. @param {string} id of the head @param {string} end @returns {Guess | undefined} */
  of (id, end) {
    const { learn, share } = this.limits
    const answers = this.#answers.get(keyOf(id, end))
    if (answers === undefined || answers.count < learn || !this.cache.follower.isAnchored) return undefined
    if (answers.heads > share) return { id }
    if (answers.pasts <= share) return undefined
    const { time } = answers
    return this.#isNewest(answers, id, end) ? { id: `${id}@${time}`, time } : undefined
  }

  /** Whether a guess is the answer. @param {Guess} guess @param {import('./entry.js').Entry} entry that was read */
  isRight (guess, entry, id, end) {
    if (guess.time === undefined) return entry.time !== EPOCH && entry.time <= end
    // something may have changed while it was read
    return entry.time === guess.time && this.of(id, end)?.id === guess.id
  }

  /** @param {string} id of the head @param {string} end @param {{time?: string, current?: boolean}} answer */
  learn (id, end, { time, current }) {
    const answers = this.#answers.memo(keyOf(id, end))
    const { weight } = this.limits
    answers.count++
    answers.heads += weight * (Number(current === true) - answers.heads)
    const isSame = !current && time !== undefined && time === answers.time
    answers.pasts += weight * (Number(isSame) - answers.pasts)
    if (!current && time) answers.time = time
  }

  /** Whether no version of a tile is newer up to then than the time of the others. @param {Answers} answers */
  #isNewest (answers, id, end) {
    const { newest, time } = answers
    if (newest?.time === time && this.cache.changes.checkTimeline(id, newest?.begun ?? 0) === 'current') return true
    const now = performance.now()
    if (now - answers.askedAt >= this.limits.indexPause) {
      answers.askedAt = now
      ignoreRejection(this.#ask(answers, layerOf(id), end)) // without an index timelines are read
    }
    return false
  }

  async #ask (answers, layer, end) {
    const begun = this.cache.changes.beginRead()
    const time = await this.reader.newestTime(layer, end)
    answers.newest = { time, begun }
  }
}

const layerOf = id => id.slice(0, id.indexOf(':'))

const keyOf = (id, end) => `${layerOf(id)}@${end}`
