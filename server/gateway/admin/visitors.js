// Who has signed in at the control room. CouchDB is asked, and its answer is used for a moment. Only writers and admins
// of the store come further than that: who may read it at CouchDB sees no more here than at the rest of the gateway.
import { createHash } from 'node:crypto'
import { userOf } from '../../../core/access.js'
import { toCouch } from './cookie.js'

export const visitorDefaults = {
  age: 10000, // milliseconds an answer of CouchDB is used
  most: 1000 // sessions that are remembered
}

/** @typedef {{name: string | null, roles: string[], isWriter: boolean}} AdminVisitor */

export class AdminVisitors {
  /** By the digest of the session. @type {Map<string, {at: number, visitor: Promise<AdminVisitor>}>} */
  #known = new Map()
  #read

  /**
   * @param {(request: {path: string, isInDb?: boolean, headers: Record<string, string>}) =>
   *   Promise<{status: number, value: any}>} read asks CouchDB
   * @param {Partial<typeof visitorDefaults> & {now?: () => number}} [options]
   */
  constructor (read, { now = () => performance.now(), ...limits } = {}) {
    this.#read = read
    this.now = now
    this.limits = { ...visitorDefaults, ...limits }
  }

  /** @param {string} session @returns {Promise<AdminVisitor>} name: null when there is no such session */
  find (session) {
    const key = digest(session)
    const known = this.#known.get(key)
    if (known && this.now() - known.at < this.limits.age) return known.visitor
    const entry = { at: this.now(), visitor: this.#ask(session) }
    this.#known.delete(key)
    if (this.#known.size >= this.limits.most) this.#known.delete(this.#known.keys().next().value ?? '')
    this.#known.set(key, entry)
    entry.visitor.catch(() => { if (this.#known.get(key) === entry) this.#known.delete(key) })
    return entry.visitor
  }

  /** Its rights may have changed, or it has ended. @param {string} session */
  forget (session) {
    this.#known.delete(digest(session))
  }

  /** @returns {Promise<AdminVisitor>} */
  async #ask (session) {
    const headers = toCouch(session)
    const { status, value } = await this.#read({ path: '/_session', headers })
    const { name, roles } = value?.userCtx ?? {}
    if (status !== 200 || typeof name !== 'string') return { name: null, roles: [], isWriter: false }
    const user = { name, roles: Array.isArray(roles) ? roles : [] }
    const rights = await this.#read({ path: '/_security', isInDb: true, headers })
    // a member of nothing cannot read it
    return { ...user, isWriter: rights.status === 200 && userOf(user, rights.value).isWriter }
  }
}

const digest = text => createHash('sha256').update(text).digest('base64')
