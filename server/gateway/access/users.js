// Users of CouchDB as visitors: whoever has a name there and may read the store may see all of it here. CouchDB itself is
// asked, with what the visitor brought, and what it says holds for a moment.
import { createHash } from 'node:crypto'
import PQueue from 'p-queue'
import { request } from 'undici'
import { TilecouchError } from '../../../core/index.js'
import { join } from '../flight.js'

export const userDefaults = {
  age: 15000, // milliseconds what CouchDB said of somebody holds
  most: 1000, // of whom it is remembered
  atOnce: 8, // questions under way: a password costs CouchDB some work
  waiting: 64, // that may wait for their turn; what comes beyond is turned away
  patience: 5000 // milliseconds CouchDB may take
}

export class Users {
  /** @type {Map<string, {at: number, answer: Promise<boolean>}>} by what was brought, as a digest */
  #known = new Map()
  #queue

  /**
   * @param {import('../../../loader/store/couch.js').Couch} couch
   * @param {Partial<typeof userDefaults> & {now?: () => number}} [options]
   */
  constructor (couch, { now = () => performance.now(), ...limits } = {}) {
    this.access = couch.access
    this.url = couch.url
    this.now = now
    this.limits = { ...userDefaults, ...limits }
    this.#queue = new PQueue({ concurrency: this.limits.atOnce })
  }

  /**
   * Whether somebody with a name may read the store.
   * @param {Record<string, string>} headers
   * @returns {Promise<boolean>}
   */
  async mayRead (headers) {
    const key = createHash('sha256').update(JSON.stringify(headers)).digest('base64')
    const known = this.#known.get(key)
    if (known && this.now() - known.at < this.limits.age) return join(known.answer)
    if (this.#queue.size >= this.limits.waiting) throw new TilecouchError('UNREACHABLE', { url: this.url, why: 'too many wait to be known' })
    const entry = { at: this.now(), answer: this.#queue.add(() => this.#ask(headers)) }
    // what nobody could say is asked anew
    entry.answer.catch(() => { if (this.#known.get(key) === entry) this.#known.delete(key) })
    this.#known.delete(key)
    if (this.#known.size >= this.limits.most) this.#known.delete(/** @type {string} */ (this.#known.keys().next().value))
    this.#known.set(key, entry)
    return join(entry.answer)
  }

  async #ask (headers) {
    const session = await this.#get(`${this.access.base}/_session`, headers)
    // where everybody may read, who has no name is nobody all the same
    if (typeof session?.userCtx?.name !== 'string') return false
    return await this.#get(this.access.path, headers) !== null
  }

  /** The answer; null: not for this one. @param {string} path @param {Record<string, string>} headers @returns {Promise<any>} */
  async #get (path, headers) {
    try {
      const { statusCode: status, body } = await request(`${this.access.origin}${path}`, { headers: { accept: 'application/json', ...headers }, signal: AbortSignal.timeout(this.limits.patience) })
      const answer = await body.json().catch(() => null)
      if (status >= 500 || status === 429) throw new Error(`it answered ${status}`)
      return status === 200 ? answer : null
    } catch (error) {
      throw new TilecouchError('UNREACHABLE', { url: this.url, why: error.message }, { cause: error })
    }
  }
}
