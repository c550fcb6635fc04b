// Users of CouchDB as visitors: a user of CouchDB who may read the store sees all layers. The gateway asks CouchDB about what
// the visitor brought, and remembers the answer for a moment. Wrong passwords are counted (guesses.js), and the name that the
// gateway itself reads the store with is never asked about: strangers could lock the gateway out.
import { createHash } from 'node:crypto'
import PQueue from 'p-queue'
import { request } from 'undici'
import { TilecouchError } from '../../../core/index.js'
import { join } from '../flight.js'
import { Guesses } from './guesses.js'
import { nameIn } from './credentials.js'

export const userDefaults = {
  age: 15000, // milliseconds an answer of CouchDB holds
  wrongAge: 310000, // milliseconds a wrong password stays wrong: a program that repeats it counts once
  lockedAge: 310000, // milliseconds for which a password that was right goes on while CouchDB says that its name is locked
  most: 1000, // visitors that are remembered; as many of those who are not let in
  atOnce: 8, // questions under way: a password costs CouchDB some work
  waiting: 64, // that may wait for their turn; further ones are refused
  patience: 5000 // milliseconds CouchDB may take
}

/**
 * @typedef {{headers: Record<string, string>, name?: string, peer: string | null}} Brought name: of a password; peer: who asks
 * @typedef {{at: number, right: number, answer: Promise<Answer>}} Known right: when CouchDB last said that the password is right
 * @typedef {'member' | 'stranger' | 'wrong'} Answer stranger: a good name that may not read the store, or none
 */

export class Users {
  /** By what was brought, as a digest. Two maps: strangers must not displace members. @type {Map<string, Known>} */
  #members = new Map()
  /** @type {Map<string, Known>} */
  #others = new Map()
  #queue
  #guesses
  #ownName

  /**
   * @param {import('../../../loader/store/couch.js').Couch} couch
   * @param {Partial<typeof userDefaults> & {now?: () => number, guesses?: ConstructorParameters<typeof Guesses>[0], log?: any}} [options]
   */
  constructor (couch, { now = () => performance.now(), guesses, log, ...limits } = {}) {
    this.access = couch.access
    this.url = couch.url
    this.now = now
    this.log = log
    this.limits = { ...userDefaults, ...limits }
    this.#queue = new PQueue({ concurrency: this.limits.atOnce })
    this.#guesses = new Guesses({ now, ...guesses })
    this.#ownName = nameIn(couch.access.headers?.authorization)
  }

  /**
   * Whether a visitor is a user who may read the store.
   * @param {Brought} brought
   * @returns {Promise<boolean>}
   */
  async mayRead (brought) {
    if (brought.name !== undefined && brought.name === this.#ownName) return this.#refuseOwn()
    const key = digest(JSON.stringify(brought.headers))
    const known = this.#members.get(key) ?? this.#others.get(key)
    const answer = known && await this.#stillHolds(known) ? known.answer : this.#askOnce(key, brought, known)
    return await join(answer) === 'member'
  }

  /** The gateway's own name lets nobody in, not even with the right password: no answer here tells a right guess from a wrong one. */
  #refuseOwn () {
    this.log?.warn('a visitor gave the name that the gateway reads the store with: it lets nobody in. Give the gateway a name of its own')
    this.log = undefined // once is enough
    return false
  }

  async #stillHolds ({ at, answer }) {
    const age = this.now() - at
    if (age < this.limits.age) return true
    return age < this.limits.wrongAge && await answer.catch(() => undefined) === 'wrong'
  }

  #askOnce (key, brought, known) {
    // somebody else may have begun to ask in the meantime
    const under = this.#members.get(key) ?? this.#others.get(key)
    if (under && under !== known) return under.answer
    const wasRight = this.#members.has(key)
    /** @type {Known} */
    const entry = { at: this.now(), right: known?.right ?? -Infinity, answer: this.#count(brought, wasRight) }
    this.#keep(wasRight ? this.#members : this.#others, key, entry)
    entry.answer = entry.answer.then(answer => {
      if (answer === 'member') entry.right = this.now()
      this.#forget(key, entry)
      this.#keep(answer === 'member' ? this.#members : this.#others, key, entry)
      return answer
    }, error => {
      // others guess at this name, and this visitor was right a moment ago
      if (error.code === 'TOO_MANY_GUESSES' && this.now() - entry.right < this.limits.lockedAge) return 'member'
      this.#forget(key, entry)
      throw error
    })
    return entry.answer
  }

  /** @param {Brought} brought @param {boolean} wasRight @returns {Promise<Answer>} */
  async #count ({ headers, name, peer }, wasRight) {
    if (!wasRight && this.#queue.size >= this.limits.waiting) throw new TilecouchError('UNREACHABLE', { url: this.url, why: 'too many wait to be known' })
    const takeBack = name === undefined ? () => {} : this.#guesses.begin(digest(name), peer, wasRight)
    return this.#queue.add(() => this.#ask(headers, takeBack), { priority: Number(wasRight) })
  }

  #keep (map, key, entry) {
    map.delete(key)
    if (map.size >= this.limits.most) map.delete(map.keys().next().value)
    map.set(key, entry)
  }

  #forget (key, entry) {
    for (const map of [this.#members, this.#others]) if (map.get(key) === entry) map.delete(key)
  }

  /** @param {Record<string, string>} headers @param {() => void} takeBack when CouchDB has not counted a wrong password @returns {Promise<Answer>} */
  async #ask (headers, takeBack) {
    try {
      const session = await this.#get(`${this.access.base}/_session`, headers)
      if (session === 'refused') return 'wrong'
      takeBack()
      // where everybody may read, a visitor without a name is nobody all the same
      if (typeof session?.userCtx?.name !== 'string') return 'stranger'
      return typeof await this.#get(this.access.path, headers) === 'object' ? 'member' : 'stranger'
    } catch (error) {
      if (error.cause?.name !== 'TimeoutError') takeBack()
      throw error
    }
  }

  /** The answer in JSON, or that there is none for this visitor. @param {string} path @param {Record<string, string>} headers @returns {Promise<any>} */
  async #get (path, headers) {
    const { status, answer } = await this.#request(path, headers)
    if (status === 200) return answer
    if (status === 403 && /locked/i.test(answer?.reason)) throw new TilecouchError('TOO_MANY_GUESSES', { seconds: 60 })
    return 'refused'
  }

  async #request (path, headers) {
    try {
      const { statusCode: status, body } = await request(`${this.access.origin}${path}`, { headers: { accept: 'application/json', ...headers }, signal: AbortSignal.timeout(this.limits.patience) })
      const answer = /** @type {any} */ (await body.json().catch(() => null))
      if (status >= 500 || status === 429) throw new Error(`it answered ${status}`)
      return { status, answer }
    } catch (error) {
      throw new TilecouchError('UNREACHABLE', { url: this.url, why: error.message }, { cause: error })
    }
  }
}

const digest = text => createHash('sha256').update(text).digest('base64')
