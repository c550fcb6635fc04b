// Users of CouchDB as visitors: a user who may read the store sees all layers. The gateway asks CouchDB about the
// visitor's credentials, and remembers the answer for a moment. Wrong passwords are counted. The gateway never asks
// about the name with which it reads the store itself: others could then lock it out.
import { createHash } from 'node:crypto'
import PQueue from 'p-queue'
import { request } from 'undici'
import { TilecouchError } from '../../../loader/errors.js'
import { waitFor } from '../shared-work.js'
import { sessionOf } from '../admin/cookie.js'
import { nameOf } from './credentials.js'

export const userDefaults = {
  age: 15000, // milliseconds an answer of CouchDB is used
  wrongAge: 310000, // milliseconds a wrong password is remembered: a program that repeats it counts once
  lockedAge: 310000, // milliseconds a password that was right is accepted while CouchDB has locked its name
  most: 1000, // users that are remembered, and as many credentials that were refused
  atOnce: 8, // requests under way: a password costs CouchDB some work
  waiting: 64, // requests that may wait; further ones are refused
  timeout: 5000 // milliseconds CouchDB may take
}

/**
 * @typedef {{headers: Record<string, string>, name?: string, address: string | null}} Credentials name: of a password;
 *   address: of the client
 * @typedef {{name: string, password: string, address: string | null}} Password of somebody who signs in
 * @typedef {{at: number, right: number, answer: Promise<Answer>}} Known right: when CouchDB last said that the password
 *   is right
 * @typedef {'member' | 'stranger' | 'wrong'} Answer stranger: a valid name that may not read the store, or no name
 */

export class Users {
  /** By the digest of the credentials. Two maps: others must not displace members. @type {Map<string, Known>} */
  #members = new Map()
  /** @type {Map<string, Known>} */
  #others = new Map()
  /** Passwords that were right when somebody signed in: their digests. @type {Set<string>} */
  #right = new Set()
  /** @type {Promise<boolean> | undefined} */
  #embedded
  #queue
  #guesses
  #ownName

  /**
   * @param {import('../../../loader/store/couch.js').Couch} couch
   * @param {Partial<typeof userDefaults> & {now?: () => number, guesses?: ConstructorParameters<typeof Guesses>[0],
   *   log?: any}} [options]
   */
  constructor (couch, { now = () => performance.now(), guesses, log, ...limits } = {}) {
    this.access = couch.access
    this.url = couch.url
    this.now = now
    this.log = log
    this.limits = { ...userDefaults, ...limits }
    this.#queue = new PQueue({ concurrency: this.limits.atOnce })
    this.#guesses = new Guesses({ now, ...guesses })
    this.#ownName = nameOf(couch.access.headers?.authorization)
  }

  /** Whether a visitor is a user who may read the store. @param {Credentials} credentials */
  async mayRead (credentials) {
    if (credentials.name !== undefined && credentials.name === this.#ownName) return this.#refuseOwn()
    const key = digest(JSON.stringify(credentials.headers))
    const known = this.#members.get(key) ?? this.#others.get(key)
    const answer = known && await this.#isFresh(known) ? known.answer : this.#askOnce(key, credentials, known)
    return await waitFor(answer) === 'member'
  }

  /** The gateway's own name is refused, even with the right password: so nobody can guess it here. */
  #refuseOwn () {
    this.log?.warn('a visitor used the name with which the gateway reads the store, and was refused: ' +
      'create another CouchDB user for the gateway')
    this.log = undefined // once is enough
    return false
  }

  /**
   * Signs somebody in at CouchDB.
   * @param {Password} credentials
   * @returns {Promise<{session: string, age?: number} | null>} null: the name or the password is wrong
   */
  async signIn ({ name, password, address }) {
    if (name === this.#ownName && !await this.#isEmbedded()) {
      this.#refuseOwn()
      return null
    }
    const key = digest(JSON.stringify([name, password]))
    const wasRight = this.#right.has(key)
    this.#checkQueue()
    const undo = this.#guesses.begin(digest(name), address, wasRight)
    return this.#queue.add(async () => {
      const { status, session, isLocked } = await this.#openSession({ name, password }, undo)
      if (isLocked) throw new TilecouchError('TOO_MANY_GUESSES', { seconds: 60 })
      this.#right.delete(key)
      if (status !== 200 || !session?.session) return null
      undo()
      if (this.#right.size >= this.limits.most) this.#right.delete(this.#right.values().next().value ?? '')
      this.#right.add(key)
      return session
    })
  }

  /** @param {{name: string, password: string}} credentials @param {() => void} undo when CouchDB has counted nothing */
  async #openSession (credentials, undo) {
    try {
      const body = JSON.stringify(credentials)
      const { status, answer, headers } = await this.#request(`${this.access.base}/_session`, { 'content-type': 'application/json' }, body)
      return { status, session: sessionOf(headers['set-cookie']), isLocked: isLocked(status, answer) }
    } catch (error) {
      if (error.cause?.name !== 'TimeoutError') undo()
      throw error
    }
  }

  /**
   * Whether the gateway reads an embedded store. Its admin often is its only user; its password is a long random one,
   * and who guesses it locks nobody out but those who sign in.
   */
  async #isEmbedded () {
    this.#embedded ??= this.#request(`${this.access.base}/`, {}).then(({ answer }) => /^tilecouch embedded/.test(answer?.vendor?.name))
    return this.#embedded.catch(error => {
      this.#embedded = undefined
      throw error
    })
  }

  async #isFresh ({ at, answer }) {
    const age = this.now() - at
    if (age < this.limits.age) return true
    return age < this.limits.wrongAge && await answer.catch(() => undefined) === 'wrong'
  }

  #askOnce (key, credentials, known) {
    // another request may have begun to ask in the meantime
    const asked = this.#members.get(key) ?? this.#others.get(key)
    if (asked && asked !== known) return asked.answer
    const wasRight = this.#members.has(key)
    /** @type {Known} */
    const entry = { at: this.now(), right: known?.right ?? -Infinity, answer: this.#count(credentials, wasRight) }
    this.#keep(wasRight ? this.#members : this.#others, key, entry)
    entry.answer = entry.answer.then(answer => {
      if (answer === 'member') entry.right = this.now()
      this.#forget(key, entry)
      this.#keep(answer === 'member' ? this.#members : this.#others, key, entry)
      return answer
    }, error => {
      // others guess passwords of this name, and this visitor was right a moment ago
      if (error.code === 'TOO_MANY_GUESSES' && this.now() - entry.right < this.limits.lockedAge) return 'member'
      this.#forget(key, entry)
      throw error
    })
    return entry.answer
  }

  /** @param {Credentials} credentials @returns {Promise<Answer>} */
  async #count ({ headers, name, address }, wasRight) {
    if (!wasRight) this.#checkQueue()
    const undo = name === undefined ? () => {} : this.#guesses.begin(digest(name), address, wasRight)
    return this.#queue.add(() => this.#ask(headers, undo), { priority: Number(wasRight) })
  }

  #checkQueue () {
    if (this.#queue.size < this.limits.waiting) return
    throw new TilecouchError('UNREACHABLE', { url: this.url, why: 'too many users are waiting to be checked' })
  }

  #keep (map, key, entry) {
    map.delete(key)
    if (map.size >= this.limits.most) map.delete(map.keys().next().value)
    map.set(key, entry)
  }

  #forget (key, entry) {
    for (const map of [this.#members, this.#others]) if (map.get(key) === entry) map.delete(key)
  }

  /**
   * @param {Record<string, string>} headers @param {() => void} undo when CouchDB has not counted a wrong password
   * @returns {Promise<Answer>}
   */
  async #ask (headers, undo) {
    try {
      const session = await this.#get(`${this.access.base}/_session`, headers)
      if (session === 'refused') return 'wrong'
      undo()
      // a visitor without a name is a stranger, even if everybody may read the store
      if (typeof session?.userCtx?.name !== 'string') return 'stranger'
      return typeof await this.#get(this.access.path, headers) === 'object' ? 'member' : 'stranger'
    } catch (error) {
      if (error.cause?.name !== 'TimeoutError') undo()
      throw error
    }
  }

  /** @param {Record<string, string>} headers @returns {Promise<any>} JSON, or 'refused' */
  async #get (path, headers) {
    const { status, answer } = await this.#request(path, headers)
    if (status === 200) return answer
    if (isLocked(status, answer)) throw new TilecouchError('TOO_MANY_GUESSES', { seconds: 60 })
    return 'refused'
  }

  async #request (path, headers, body) {
    try {
      const { statusCode: status, headers: given, body: content } = await request(`${this.access.origin}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { accept: 'application/json', ...headers },
        body,
        signal: AbortSignal.timeout(this.limits.timeout)
      })
      const answer = /** @type {any} */ (await content.json().catch(() => null))
      if (status >= 500 || status === 429) throw new Error(`it answered ${status}`)
      return { status, answer, headers: given }
    } catch (error) {
      throw new TilecouchError('UNREACHABLE', { url: this.url, why: error.message }, { cause: error })
    }
  }
}

/** CouchDB has locked a name. */
const isLocked = (status, answer) => status === 403 && /locked/i.test(answer?.reason)

const digest = text => createHash('sha256').update(text).digest('base64')

export const guessDefaults = {
  window: 310000, // milliseconds a wrong password counts: CouchDB forgets 300 s after the first one
  each: 3, // wrong passwords of one name in that time, of all visitors together
  reserve: 1, // more of them for passwords that were right before: they may have been changed
  free: 5, // wrong passwords of one address, for any names, before it has to wait
  firstDelay: 5000, // milliseconds before the next one then; four times as long after each
  most: 10000 // names, and addresses, that are counted; beyond that, new passwords have to wait
}

const GROWTH = 4

/**
 * How often a password may be wrong. CouchDB (from 3.4 on) locks a name out for an address after five wrong passwords
 * within five minutes, and for CouchDB all visitors have one address: the gateway's. So the gateway asks less often
 * than that.
 */
export class Guesses {
  /** Times of wrong passwords, the oldest entry first. @type {Map<string, number[]>} */
  #names = new Map()
  /** @type {Map<string, number[]>} */
  #addresses = new Map()

  /** @param {Partial<typeof guessDefaults> & {now?: () => number}} [options] */
  constructor ({ now = () => performance.now(), ...limits } = {}) {
    this.now = now
    this.limits = { ...guessDefaults, ...limits }
  }

  /**
   * Counts a password as wrong until it is known to be right: many may be checked at once. Throws when it has to wait.
   * @param {string} name digest of a name
   * @param {string | null} address of the client; null: unknown
   * @param {boolean} [wasRight] a short time ago
   * @returns {() => void} undoes it
   */
  begin (name, address, wasRight = false) {
    const { each, reserve, free, firstDelay, window } = this.limits
    const now = this.now()
    const ofName = this.#recent(this.#names, name, now)
    const countsAddress = !wasRight && address !== null
    const ofAddress = countsAddress ? this.#recent(this.#addresses, address, now) : []
    const most = each + (wasRight ? reserve : 0)
    const delay = ofAddress.length < free ? 0 : Math.min(window, firstDelay * GROWTH ** (ofAddress.length - free))
    const isFull = !wasRight && (this.#isFull(this.#names, name, now) ||
      (address !== null && this.#isFull(this.#addresses, address, now)))
    const wait = Math.max(
      ofName.length < most ? 0 : ofName[ofName.length - most] + window - now,
      delay && ofAddress[ofAddress.length - 1] + delay - now,
      isFull ? window : 0
    )
    if (wait > 0) throw new TilecouchError('TOO_MANY_GUESSES', { seconds: Math.ceil(wait / 1000) })
    const undo = [count(this.#names, name, ofName, now)]
    if (countsAddress) undo.push(count(this.#addresses, address, ofAddress, now))
    return () => { for (const one of undo.splice(0)) one() }
  }

  /** The times that still count, always in the same list. */
  #recent (map, key, now) {
    const times = map.get(key) ?? []
    times.splice(0, times.filter(time => time <= now - this.limits.window).length)
    return times
  }

  /** Counts are not removed for new names: many made-up names would reset the others. */
  #isFull (map, key, now) {
    if (map.size < this.limits.most || map.has(key)) return false
    for (const [other, times] of map) {
      if (times.at(-1) > now - this.limits.window) break
      map.delete(other)
    }
    return map.size >= this.limits.most
  }
}

/** @param {Map<string, number[]>} map @returns {() => void} undoes it */
function count (map, key, times, now) {
  times.push(now)
  map.delete(key) // the last that was wrong comes last
  map.set(key, times)
  return () => {
    const at = times.indexOf(now)
    if (at >= 0) times.splice(at, 1)
    if (times.length === 0 && map.get(key) === times) map.delete(key)
  }
}
