// The CouchDB client of the control room: the database of the store, and facts about its server. All requests use the
// session of the signed-in user.
import { shared } from '../../core/promises.js'
import { Database, ask, databaseUrl } from '../requests.js'

const TIMEOUT = 30000 // milliseconds until a request counts as unanswered
const WAIT = 50000 // milliseconds that the change feed waits for a change

export class Couch extends Database {
  /** Called when the session has ended, with the time at which the refused request began, by `performance.now()`. */
  onSignedOut = /** @type {(began: number) => void} */ (() => {})
  /** The clock of the server minus this one, in milliseconds, from its last answer. */
  skew = 0

  constructor () {
    super(databaseUrl() ?? '')
    this.server = this.db.slice(0, this.db.lastIndexOf('/') + 1)
  }

  /** Milliseconds since 1970 by the clock of the server. */
  now () {
    return Date.now() + this.skew
  }

  /**
   * @param {string} path within the database, or of the server with a slash before it
   * @param {import('../requests.js').Options} [options]
   */
  ask (path, options) {
    const place = path.startsWith('/') ? this.server + path.slice(1) : [this.db, path].filter(Boolean).join('/')
    const began = performance.now()
    const onAnswer = ({ status, headers }) => {
      const date = Date.parse(headers.get('date') ?? '')
      if (date) this.skew = Math.abs(date - Date.now()) > 2000 ? date - Date.now() : 0 // the header has whole seconds
      if (status === 401 && path !== '/_session') this.onSignedOut(began)
    }
    return ask(place, { timeout: TIMEOUT, cache: 'no-store', onAnswer, ...options })
  }

  /** The user of the session. @returns {Promise<{name: string | null, roles: string[]}>} */
  async session () {
    return (await this.ask('/_session')).userCtx
  }

  /** The description of the server, read once: it does not change while the page is open. */
  #readServer = shared(() => this.ask('/'))

  /** Whether the store is the embedded one, which has one admin and no users. */
  isEmbedded () {
    return this.#readServer().then(({ vendor }) => /embedded/.test(vendor?.name ?? ''), () => false)
  }

  signIn (name, password) {
    return this.ask('/_session', { body: { name, password } })
  }

  signOut () {
    return this.ask('/_session', { method: 'DELETE' })
  }

  /** @param {any} doc @returns {Promise<any>} with its new revision */
  async write (doc) {
    const { rev } = await this.ask(encodeURIComponent(doc._id), { method: 'PUT', body: doc })
    return { ...doc, _rev: rev }
  }

  /** The design documents without their files. @param {AbortSignal} [signal] */
  designs (signal) {
    return this.docs({ startkey: '_design/', endkey: '_design0' }, { signal })
  }

  /**
   * Waits for the next changes of documents with these ids or prefixes.
   * @param {string[]} ids an id that ends with a colon is a prefix
   * @param {string | number} since @param {AbortSignal} signal
   */
  changes (ids, since, signal) {
    const ranges = ids.map(id => ({ _id: id.endsWith(':') ? { $gte: id, $lt: `${id.slice(0, -1)};` } : id }))
    const query = { feed: 'longpoll', filter: '_selector', include_docs: true, since: String(since), timeout: WAIT }
    const body = { selector: { $or: ranges } }
    return this.ask('_changes', { body, query, signal, timeout: WAIT + TIMEOUT })
  }
}
