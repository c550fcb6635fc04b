// One look at a store: what is asked, within bounds, and what is found. Whatever goes wrong in one look is a finding of its own,
// and the others go on.
import { heed } from '../../core/heed.js'
import { TilecouchError, fromSeconds } from '../../core/index.js'

/** From what must be seen first to what need not. */
export const STATES = /** @type {const} */ (['bad', 'warning', 'unknown', 'ok'])

/**
 * @typedef {object} Finding
 * @property {string} area server, settings, database, indexes, disk, clocks, mirrors, layers, gateway
 * @property {string} check
 * @property {typeof STATES[number]} state
 * @property {string} found
 * @property {string} [why] it matters
 * @property {string} [advice] what to do, by the name of the setting or command
 * @property {Record<string, number>} [figures] for programs
 *
 * @typedef {Omit<Finding, 'area' | 'check'>} Found
 */

const CLOSED = new Set(['UNAUTHORIZED', 'FORBIDDEN'])

export class Visit {
  /** @type {Finding[]} */
  findings = []
  #shared = new Map()

  /**
   * @param {import('../store/couch.js').Couch} couch
   * @param {{limits: import('./limits.js').Limits, signal: AbortSignal, clock: () => number, embedded?: boolean, version?: string, folder?: string}} options
   */
  constructor (couch, { limits, signal, clock, embedded = false, version, folder }) {
    this.couch = couch
    this.limits = limits
    this.signal = signal
    /** Milliseconds since 1970. */
    this.clock = clock
    this.embedded = embedded
    this.version = version
    this.folder = folder
  }

  /** @param {import('../store/couch.js').CouchRequest} request */
  ask (request) {
    return heed(this.couch.request(this.#bounded(request)), this.signal)
  }

  /** As ask, with nothing for what is not there. @param {import('../store/couch.js').CouchRequest} request */
  find (request) {
    return heed(this.couch.find(this.#bounded(request)), this.signal)
  }

  /** Rows of a view as it is: no index is built for the sake of a look. */
  async rows (view, qs) {
    const answer = await this.find({ path: view, qs: { ...qs, update: false } })
    if (!answer) throw new TilecouchError('INDEX_MISSING', { view })
    return answer
  }

  #bounded (request) {
    return { retries: 0, patience: this.limits.patience, signal: this.signal, ...request }
  }

  /**
   * What several looks need is asked for once.
   * @template T
   * @param {string} name @param {() => Promise<T>} task
   * @returns {Promise<T>}
   */
  once (name, task) {
    if (!this.#shared.has(name)) this.#shared.set(name, task())
    return this.#shared.get(name)
  }

  get now () {
    return fromSeconds(Math.floor(this.clock() / 1000))
  }

  info = () => this.once('info', () => this.ask({ path: '' }))

  /** @param {string} area @param {string} check @param {Found} found */
  add (area, check, found) {
    this.findings.push({ area, check, ...found })
  }

  /**
   * One look, which may find several things, or that it may not look.
   * @param {string} area @param {string} check
   * @param {string} right what it needs
   * @param {() => Promise<Found | Found[] | void>} task
   */
  async look (area, check, right, task) {
    try {
      const found = await task()
      for (const one of found ? [found].flat() : []) this.add(area, check, one)
    } catch (error) {
      this.add(area, check, { state: 'unknown', ...unknown(error, right, this.signal) })
    }
  }
}

/** @returns {{found: string, advice?: string}} */
function unknown (error, right, signal) {
  if (CLOSED.has(error.code)) return { found: `only ${right} sees it` }
  if (signal.aborted || error.name === 'AbortError' || error.details?.silent) return { found: 'the server did not answer in time', advice: 'Look again when it has less to do.' }
  if (error instanceof TilecouchError) return { found: error.message, ...(error.advice && { advice: error.advice }) }
  return { found: `the look failed: ${error.message}` }
}

/** The worst first; those of one kind as they came. @param {Finding[]} findings */
export const worstFirst = findings => findings.map((finding, at) => ({ finding, at }))
  .sort((a, b) => STATES.indexOf(a.finding.state) - STATES.indexOf(b.finding.state) || a.at - b.at).map(({ finding }) => finding)
