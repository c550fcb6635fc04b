// Fetches tiles from an upstream, with retries. The seed ends if the upstream does not answer for a while, refuses
// again and again, or fails for hundreds of tiles in a row.
//
// The gateway has a circuit breaker, since its readers wait. A seed has none: a breaker cannot tell a few broken tiles,
// which are to be listed, from a broken server.
import { pause } from '../../../core/promises.js'
import { childSignal } from '../../child-signal.js'

/** @typedef {import('../upstream/index.js').Answer} Answer */

export const fetchDefaults = {
  attempts: 3, // for a tile that fails while others do not
  delay: 1000, // milliseconds before the second attempt, doubled each time
  silent: 6, // attempts while no tile gets an answer: 45 seconds in which a server may restart
  longestDelay: 15000, // milliseconds between two attempts at most
  giveUpAfter: 180, // seconds without any answer after which the seed gives up
  failures: 500, // failed tiles in a row after which it gives up
  refusals: 50, // refused requests in a row after which it gives up
  grace: 15 // seconds that requests in flight may take after a stop
}

/** Failures that are temporary, or concern one tile. Any other ends the seed. */
const TEMPORARY = new Set(['UPSTREAM_UNREACHABLE', 'UPSTREAM_FAILED', 'UPSTREAM_BUSY', 'UPSTREAM_REFUSED'])

export class Fetcher {
  #stop = new AbortController()
  #answers = 0
  #troubleSince = 0
  #failures = 0 // tiles in a row
  #refusals = 0 // in a row
  #timer
  #waiting // its signal ends all pauses

  /**
   * @param {import('../upstream/index.js').Upstream} upstream
   * @param {{signal?: AbortSignal, onTrouble?: (error: import('../../../core/errors.js').TilecouchError) => void} &
   * Partial<typeof fetchDefaults>} [options] onTrouble: called when an upstream stops answering
   */
  constructor (upstream, { signal, onTrouble, ...options } = {}) {
    this.upstream = upstream
    this.options = { ...fetchDefaults, ...options }
    this.signal = signal
    this.#waiting = childSignal(signal)
    this.onTrouble = onTrouble
    if (signal?.aborted) this.#slowStop()
    else signal?.addEventListener('abort', this.#slowStop, { once: true })
  }

  #slowStop = () => {
    this.#timer = setTimeout(() => this.#stop.abort(), 1000 * this.options.grace)
    this.#timer.unref()
  }

  close () {
    clearTimeout(this.#timer)
    this.#waiting.end()
    this.signal?.removeEventListener('abort', this.#slowStop)
  }

  /**
   * Returns the answer, or an error that concerns only these tiles, or an empty object if the seed was stopped before.
   * Throws errors that end the seed.
   * @param {import('./index.js').Job} job
   * @returns {Promise<{answer?: Answer, error?: import('../../errors.js').TilecouchError}>}
   */
  async fetch ({ tiles }) {
    const { attempts, silent, delay, longestDelay, failures, refusals } = this.options
    const [{ z, x, y }] = tiles
    const validators = validatorsOf(tiles)
    let ownFailures = 0
    for (let attempt = 0; !this.signal?.aborted; attempt++) {
      const answersBefore = this.#answers
      try {
        const answer = await this.upstream.fetch({ z, x, y }, { validators, signal: this.#stop.signal })
        this.#answers++
        this.#troubleSince = this.#failures = this.#refusals = 0
        return { answer }
      } catch (error) {
        if (this.#stop.signal.aborted) return {}
        if (!TEMPORARY.has(error.code)) throw error
        const isTooMuch = error.code === 'UPSTREAM_BUSY' || error.details.status === 429
        if (error.code === 'UPSTREAM_REFUSED' && !isTooMuch) return this.#fail(error, ++this.#refusals >= refusals)
        const wait = isTooMuch ? 1000 * (error.details.retryAfter ?? 1) : Math.min(delay * 2 ** attempt, longestDelay)
        // the tile is at fault only if others were answered meanwhile
        if (error.code === 'UPSTREAM_FAILED' || this.#answers > answersBefore) ownFailures++
        else this.#checkSilence(error, wait)
        const isLast = ownFailures >= attempts || (!isTooMuch && attempt + 1 >= silent)
        if (isLast) return this.#fail(error, ++this.#failures >= failures)
        await pause(wait, this.#waiting.signal)
      }
    }
    return {}
  }

  #fail (error, isTooMany) {
    if (isTooMany) throw error
    return { error }
  }

  #checkSilence (error, wait) {
    const time = performance.now()
    if (!this.#troubleSince) this.onTrouble?.(error)
    this.#troubleSince ||= time
    if (time + wait - this.#troubleSince > 1000 * this.options.giveUpAfter) throw error
  }
}

/**
 * The validators of stored versions, so that the upstream may answer "not modified": of one tile, or of a metatile if
 * all of its tiles were cut from one picture.
 */
function validatorsOf (tiles) {
  const [{ head: { digest, origin } = {} }] = tiles
  if (!digest || !origin?.url) return undefined
  const fields = ['url', 'etag', 'lastModified', 'digest']
  const isCut = tiles.every(({ head }) => head?.digest && fields.every(field => head.origin?.[field] === origin[field]))
  return tiles.length === 1 || (isCut && origin.digest) ? origin : undefined
}
