// One inspection of a store: its findings, and the answers that several conditions need. A condition that cannot be
// checked becomes a finding of its own, and the other checks go on.
import { findingDefaults } from '../../../core/findings.js'
import { fromSeconds, isAdministrative } from '../../../core/index.js'
import { isUntouched } from '../../store/access.js'
import { TilecouchError } from '../../errors.js'
import { isPublished } from '../../couchapp/publish.js'
import { Couch } from '../../store/couch.js'
import { Store } from '../../store/index.js'

// limits of an inspection, and values from which on a finding is bad or a warning
export const doctorDefaults = {
  timeout: 4000, // milliseconds one request may take
  whole: 20000, // milliseconds of the whole inspection; then it reports the findings so far
  layers: 100, // layers inspected
  editions: 200, // newest editions inspected per layer
  sample: 2000, // versions of a layer that its retention policy is tried on

  ...findingDefaults,
  tombstones: 0.5, // share of all documents: beyond it the changes feed is mostly about deleted documents
  fewTombstones: 10000, // tombstones that do not matter
  free: 0.1, // share of a disk
  fullDisk: 0.05, // share of a disk: CouchDB cannot write when nothing is left
  expired: 1000, // expired tiles
  unfinished: 86400, // seconds that a load may take
  notKept: 0.2 // share of the sample that the retention policy does not keep
}

/**
 * @typedef {typeof doctorDefaults} Limits
 *
 * @typedef {object} Finding
 * @property {string} area server, settings, access, database, indexes, disk, layers, gateway
 * @property {string} check
 * @property {typeof import('../../../core/findings.js').STATES[number]} state
 * @property {string} found
 * @property {string} [why] the finding matters
 * @property {string} [advice] what to do
 * @property {Record<string, number>} [figures] for programs
 * @property {() => Promise<unknown>} [fix] the repair of --fix
 *
 * @typedef {Omit<Finding, 'area' | 'check'>} Found
 *
 * @typedef {object} Condition
 * @property {string} area
 * @property {string} check
 * @property {string} needs the rights that it takes
 * @property {(inspection: Inspection) => Promise<Found | Found[] | void>} look nothing: no finding
 * @property {boolean} [server] it is about the server, and is checked without a database too
 * @property {boolean} [couchOnly] skipped for the embedded store
 * @property {boolean} [fixable] its findings may have a fix
 *
 * @typedef {object} Subject the store to inspect, and its wanted settings
 * @property {string} url of the store
 * @property {string} [folder] of the embedded store
 * @property {string} [gateway] address that /health follows
 * @property {import('../../couchapp/compose.js').DesignDocument[]} [docs] to be deployed (default: those of this
 *   package)
 * @property {string} [cors] origins that should be allowed
 * @property {boolean} [allowViewer] the scripts of the viewer should be allowed
 * @property {string[]} [embedders] origins whose pages may show the viewer in a frame (default: no change)
 * @property {number} [q] shards of a new database
 * @property {number} [n] copies
 * @property {boolean} [closed] only admins read a new database, until its rights are set
 */

/** @param {string} found @param {Finding['figures']} [figures] @returns {Found} */
export const ok = (found, figures) => ({ state: 'ok', found, figures })

/** @param {string} found @param {string} [advice] @returns {Found} */
export const unknown = (found, advice) => ({ state: 'unknown', found, advice })

/** @typedef {(found: string, why: string, advice: string, more?: Pick<Finding, 'figures' | 'fix'>) => Found} Problem */

/** @type {Problem} */
export const warning = (found, why, advice, more) => ({ state: 'warning', found, why, advice, ...more })

/** @type {Problem} */
export const bad = (found, why, advice, more) => ({ state: 'bad', found, why, advice, ...more })

const FEW = 100 // documents of commands that an empty store may have

const CLOSED = new Set(['UNAUTHORIZED', 'FORBIDDEN'])

/** Only reads, sends each request once and with a time limit, and never builds an index. */
class ReadOnlyCouch extends Couch {
  #bounds

  constructor (url, bounds) {
    super(url, { retries: 0 })
    this.#bounds = bounds
  }

  async request (request) {
    if (!['GET', 'HEAD', 'POST', undefined].includes(request.method)) throw new TilecouchError('READ_ONLY')
    const { timeout, signal } = this.#bounds
    return super.request({ timeout, ...request, retries: 0, signal: request.signal ?? signal })
  }

  queries (path, queries, signal) {
    return super.queries(path, queries.map(query => ({ ...query, update: false })), signal)
  }
}

export class Inspection {
  /** @type {Finding[]} */
  findings = []
  embedded = false
  /** @type {string | undefined} */
  version
  /** Identifies the server. @type {string | undefined} */
  uuid
  #answers = new Map()

  /**
   * @param {Subject} subject
   * @param {{limits: Limits, clock: () => number, signal?: AbortSignal}} options clock: milliseconds since 1970
   */
  constructor (subject, { limits, clock, signal }) {
    this.subject = subject
    this.couch = new ReadOnlyCouch(subject.url, { timeout: limits.timeout, signal })
    this.store = new Store(this.couch)
    this.limits = limits
    this.clock = clock
    this.signal = signal
  }

  /**
   * Runs a task once for all conditions.
   * @template T @param {string} name @param {() => Promise<T>} task @returns {Promise<T>}
   */
  once (name, task) {
    if (!this.#answers.has(name)) this.#answers.set(name, task())
    return this.#answers.get(name)
  }

  get now () {
    return fromSeconds(Math.floor(this.clock() / 1000))
  }

  info = () => this.once('info', () => this.couch.info())

  /** Whether the store is empty and was never published: the first load is twice as fast then, and publishes it. */
  isNew = () => this.once('new', async () => {
    const rows = await this.couch.page({ limit: FEW })
    const isEmpty = rows.length < FEW && rows.filter(({ id }) => !isAdministrative(id)).length <= 1
    const security = { ...await this.store.security(), tilecouch: undefined } // it may be closed on purpose
    return isEmpty && isUntouched(security) && !await isPublished(this.store)
  })

  /** @returns {Promise<{all_nodes: string[], cluster_nodes: string[]}>} */
  membership = () => this.once('membership', () => this.couch.request({ path: '_membership', server: true }))

  /** @param {string} area @param {string} check @param {Found} finding */
  add (area, check, finding) {
    this.findings.push({ area, check, ...finding })
  }

  /** @param {Condition} condition */
  async look ({ area, check, needs, look, couchOnly }) {
    if (couchOnly && this.embedded) return
    try {
      const findings = await look(this)
      for (const finding of findings ? [findings].flat() : []) this.add(area, check, finding)
    } catch (error) {
      this.add(area, check, reasonOf(error, needs, this.signal))
    }
  }
}

function reasonOf (error, needs, signal) {
  if (CLOSED.has(error.code)) return unknown(`only ${needs} sees it`)
  if (signal?.aborted || error.name === 'AbortError' || error.details?.silent) {
    return unknown('the server did not answer in time', 'Try again when it has less to do.')
  }
  if (error instanceof TilecouchError) return unknown(error.message, error.advice)
  return unknown(`the check failed: ${error.message}`)
}
