// Sessions as CouchDB has them: a cookie with the name, the time of signing in, and a signature. They end with the
// process. A cookie counts only in requests of the store's own pages: browsers also send it with requests of pages on
// other ports of this machine.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { isOwnPage } from './access.js'
import { badRequest, forbidden, unauthorized } from '../http/errors.js'

const sessionDefaults = {
  timeout: 600, // seconds without a request until a session ends
  renewed: 60, // seconds after which a request renews it
  guesses: 5, // wrong passwords of a name, from one address, until it is locked
  locked: 300, // seconds from the first of these until it is open again
  counted: 10000 // names with wrong passwords
}

const COOKIE = /(?:^|;)\s*AuthSession="?([^;"]*)"?/

/** @typedef {{name: string, roles: string[]}} User */

export class Sessions {
  #secret = randomBytes(32)
  /** Wrong passwords by name and address. @type {LRUCache<string, {count: number, until: number}>} */
  #wrongPasswords
  #accounts

  /**
   * @param {ReturnType<typeof import('./access.js').createAccounts>} accounts
   * @param {Partial<typeof sessionDefaults> & {now?: () => number}} [options] now: milliseconds
   */
  constructor (accounts, { now = Date.now, ...limits } = {}) {
    this.#accounts = accounts
    this.now = now
    this.limits = { ...sessionDefaults, ...limits }
    this.#wrongPasswords = new LRUCache({ max: this.limits.counted })
  }

  /**
   * Finds the user of a request's cookie.
   * @param {import('node:http').IncomingHttpHeaders} headers
   * @returns {{user: User, cookie?: string} | undefined} cookie: a renewed one, to be sent
   */
  find (headers) {
    const [, value = ''] = COOKIE.exec(headers.cookie ?? '') ?? []
    if (value === '' || !isOwnPage(headers)) return
    const [name, seconds, signature] = parse(value)
    const user = this.#accounts.find(name)
    const age = Math.floor(this.now() / 1000) - seconds
    const isRight = signature.length === 32 && timingSafeEqual(signature, this.#sign(name, seconds))
    if (!user || !isRight || !(age < this.limits.timeout)) return
    return { user, ...(age >= this.limits.renewed && { cookie: this.cookieOf(name) }) }
  }

  /**
   * Checks a name and password, and counts wrong ones.
   * @param {string} address of the client
   * @returns {User}
   */
  signIn (name, password, address) {
    const key = JSON.stringify([name, address])
    const now = this.now()
    const attempts = this.#wrongPasswords.get(key)
    const isCounted = attempts !== undefined && now < attempts.until
    if (isCounted && attempts.count >= this.limits.guesses) {
      throw forbidden('Account is temporarily locked due to multiple authentication failures')
    }
    const user = this.#accounts.check(name, password)
    if (user) return user
    if (isCounted) attempts.count++
    else this.#wrongPasswords.set(key, { count: 1, until: now + this.limits.locked * 1000 })
    throw unauthorized('Name or password is incorrect.', { 'Set-Cookie': this.endedCookie })
  }

  cookieOf (name) {
    const seconds = Math.floor(this.now() / 1000)
    const text = Buffer.from(`${name}:${seconds.toString(16).toUpperCase()}:`)
    return this.#cookie(Buffer.concat([text, this.#sign(name, seconds)]).toString('base64url'), this.limits.timeout)
  }

  get endedCookie () {
    return this.#cookie('', 0)
  }

  #cookie (value, age) {
    const expires = new Date(this.now() + age * 1000).toUTCString()
    return `AuthSession=${value}; Version=1; Expires=${expires}; Max-Age=${age}; Path=/; HttpOnly; SameSite=Strict`
  }

  #sign (name, seconds) {
    return createHmac('sha256', this.#secret).update(JSON.stringify([name, seconds])).digest()
  }
}

/** @returns {[string, number, Buffer]} name, seconds and signature */
function parse (value) {
  const bytes = Buffer.from(value, 'base64url')
  const [prefix, name, time] = /^([^:]*):([^:]*):/.exec(bytes.toString('latin1')) ?? []
  if (prefix === undefined) throw badRequest('Malformed AuthSession cookie. Please clear your cookies.')
  const seconds = /^[0-9a-f]{1,12}$/i.test(time) ? parseInt(time, 16) : NaN
  return [Buffer.from(name, 'latin1').toString(), seconds, bytes.subarray(prefix.length)]
}
