// Guesses which version a tile shows at a time, without reading its timeline. Tiles of a layer are alike: most did not
// change since that time, or most have a version of the same edition. The most frequent recent answer is tried first.
// It is used only if it is certainly right:
// - the head, if its own time is not later than the requested time: no version is newer;
// - a past version, if the time index has no later change of the layer up to the requested time. The timeline is read
//   instead if the tile has changed since the index was read.
import { LRUCache } from 'lru-cache'
import { ignoreRejection } from '../shared-work.js'
import { EPOCH } from './entry.js'

const guessDefaults = {
  learn: 4, // answers for a layer and a time before the first guess
  share: 0.6, // of the latest answers that must agree
  weight: 1 / 4, // of the latest answer in that share
  guessed: 200, // pairs of a layer and a time that are remembered
  indexPause: 1000 // milliseconds before the time index is read again
}

/**
 * @typedef {{id: string, time?: string}} Guess time: of a past version
 * @typedef {object} Answers for a layer and a time
 * @property {number} count
 * @property {number} heads share of heads among the latest
 * @property {string} time of the latest past version
 * @property {number} pasts share of this time among the latest
 * @property {{time: string | undefined, readNumber: number}} [newest] time of the newest change, by the time index
 * @property {number} readAt
 */

export class Guesses {
  /** @type {LRUCache<string, Answers>} */
  #answers

  /** @param {Pick<import('./index.js').Parts, 'cache' | 'reader' | 'limits'>} parts */
  constructor ({ cache, reader, limits }) {
    this.limits = { ...guessDefaults, ...limits }
    const memoMethod = () => ({ count: 0, heads: 0, pasts: 0, time: '', readAt: -Infinity })
    this.#answers = new LRUCache({ max: this.limits.guessed, memoMethod })
    this.cache = cache
    this.reader = reader
  }

  /** The most probable version. @param {string} id of the head @param {string} end @returns {Guess | undefined} */
  of (id, end) {
    const { learn, share } = this.limits
    const answers = this.#answers.get(keyOf(id, end))
    if (answers === undefined || answers.count < learn || !this.cache.follower.isAnchored) return undefined
    if (answers.heads > share) return { id }
    if (answers.pasts <= share) return undefined
    const { time } = answers
    return this.#isNewest(answers, id, end) ? { id: `${id}@${time}`, time } : undefined
  }

  /** Whether a guess is right. @param {Guess} guess @param {import('./entry.js').Entry} entry that was read */
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

  /** Whether a tile has no version between the guessed time and the requested one. @param {Answers} answers */
  #isNewest (answers, id, end) {
    const { newest, time } = answers
    const { changes } = this.cache
    if (newest?.time === time && changes.checkTimeline(id, newest?.readNumber ?? 0) === 'current') return true
    const now = performance.now()
    if (now - answers.readAt >= this.limits.indexPause) {
      answers.readAt = now
      ignoreRejection(this.#readNewest(answers, layerOfTile(id), end)) // without an index, timelines are read
    }
    return false
  }

  async #readNewest (answers, layer, end) {
    const readNumber = this.cache.changes.beginRead()
    const time = await this.reader.newestTime(layer, end)
    answers.newest = { time, readNumber }
  }
}

const layerOfTile = id => id.slice(0, id.indexOf(':'))

const keyOf = (id, end) => `${layerOfTile(id)}@${end}`
