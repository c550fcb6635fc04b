// One look at a store: what is found, and what several looks need. Whatever goes wrong in one look is a finding of its own, and
// the others go on.
import { TilecouchError, fromSeconds } from '../../core/index.js'
import { Store } from '../store/index.js'

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
  embedded = false
  /** @type {string | undefined} */
  version
  /** What tells this server from others. @type {string | undefined} */
  uuid
  #shared = new Map()

  /**
   * @param {import('./couch.js').LookingCouch} couch
   * @param {{limits: import('./limits.js').Limits, signal: AbortSignal, clock: () => number, folder?: string}} options clock: milliseconds since 1970
   */
  constructor (couch, { limits, signal, clock, folder }) {
    this.couch = couch
    this.store = new Store(couch)
    this.limits = limits
    this.signal = signal
    this.clock = clock
    this.folder = folder
  }

  /** @param {import('../store/couch.js').CouchRequest} request */
  ask (request) {
    return this.couch.request(request)
  }

  /** What several looks need is asked for once. @template T @param {string} name @param {() => Promise<T>} task @returns {Promise<T>} */
  once (name, task) {
    if (!this.#shared.has(name)) this.#shared.set(name, task())
    return this.#shared.get(name)
  }

  get now () {
    return fromSeconds(Math.floor(this.clock() / 1000))
  }

  info = () => this.once('info', () => this.ask({ path: '' }))

  /** How many nodes there are, as one of the server's admins sees them. @returns {Promise<{all_nodes: string[], cluster_nodes: string[]}>} */
  membership = () => this.once('membership', () => this.ask({ path: '_membership', server: true }))

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
export const worstFirst = findings => STATES.flatMap(state => findings.filter(finding => finding.state === state))
