// The control room's door to CouchDB: the database of the store, and what an admin may know of its server. Everything
// is asked with the session of who has signed in.
import { shared } from '../../core/promises.js'
import { databaseUrl } from '../store.js'
import { words } from '../words.js'

const TIMEOUT = 30000 // milliseconds until a request counts as unanswered
const WAIT = 50000 // milliseconds that the change feed waits for a change

export class CouchError extends Error {
  /** @param {string} message @param {number} [status] none when nobody answered @param {string} [code] of CouchDB */
  constructor (message, status, code) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Where CouchDB is seen from this page: through the rewrite of the store, or through a gateway. */
export function addresses (page = document.baseURI) {
  const db = databaseUrl(page)
  if (db) return { server: db.slice(0, db.lastIndexOf('/') + 1), db }
  const server = new URL('admin/couch/', page).href
  return { server, db: `${server}db` }
}

export class Couch {
  /** Called when the session has ended. */
  onSignedOut = () => {}
  /** The clock of the server minus this one, in milliseconds, as its last answer said. */
  skew = 0

  constructor ({ server, db } = addresses()) {
    this.server = server
    this.db = db
  }

  /** Milliseconds since 1970 by the clock of the server. */
  now () {
    return Date.now() + this.skew
  }

  /**
   * @param {string} path within the database, or of the server with a slash before it; '' is the database itself
   * @param {{method?: string, body?: any, query?: Record<string, any>, timeout?: number, signal?: AbortSignal}}
   *   [options] query: values other than texts are written as JSON
   */
  async ask (path, { method = 'GET', body, timeout = TIMEOUT, signal, query } = {}) {
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) parameters.set(name, typeof value === 'string' ? value : JSON.stringify(value))
    }
    const place = path.startsWith('/') ? this.server + path.slice(1) : path ? `${this.db}/${path}` : this.db
    let answer
    try {
      answer = await fetch(parameters.size ? `${place}?${parameters}` : place, {
        method,
        credentials: 'same-origin',
        cache: 'no-store',
        signal: AbortSignal.any([AbortSignal.timeout(timeout), ...signal ? [signal] : []]),
        headers: { Accept: 'application/json', ...body !== undefined && { 'Content-Type': 'application/json' } },
        ...body !== undefined && { body: JSON.stringify(body) }
      })
    } catch (error) {
      if (signal?.aborted) throw error
      throw new CouchError(error.name === 'TimeoutError' ? words.store.late(timeout / 1000) : words.store.unreachable)
    }
    const date = Date.parse(answer.headers.get('date') ?? '')
    if (date) this.skew = Math.abs(date - Date.now()) > 2000 ? date - Date.now() : 0 // the header has whole seconds
    const found = await answer.json().catch(() => null)
    if (answer.ok && found !== null) return found
    if (answer.status === 401 && path !== '/_session') this.onSignedOut()
    const why = found?.reason ?? words.store.answered(`${answer.status} ${answer.statusText}`.trim())
    throw new CouchError(why, answer.status, found?.error)
  }

  /** Who asks. @returns {Promise<{name: string | null, roles: string[]}>} */
  async session () {
    return (await this.ask('/_session')).userCtx
  }

  /** What the server is: read once, as it does not change while a page is open. */
  #readServer = shared(() => this.ask('/'))

  /** Whether the store is the embedded one, which has one admin and no users. */
  isEmbedded () {
    return this.#readServer().then(({ vendor }) => /embedded/.test(vendor?.name ?? ''), () => false)
  }

  signIn (name, password) {
    return this.ask('/_session', { method: 'POST', body: { name, password } })
  }

  signOut () {
    return this.ask('/_session', { method: 'DELETE' })
  }

  /** @returns {Promise<any>} null where there is none */
  async read (id) {
    return this.ask(encodeURIComponent(id)).catch(error => {
      if (error.status === 404) return null
      throw error
    })
  }

  /** @param {any} doc @returns {Promise<any>} with its new revision */
  async write (doc) {
    const { rev } = await this.ask(encodeURIComponent(doc._id), { method: 'PUT', body: doc })
    return { ...doc, _rev: rev }
  }

  /**
   * Documents whose ids begin with a text, a page at a time, in the order of their ids.
   * @param {string} prefix that ends with a colon
   * @param {{limit?: number, descending?: boolean, signal?: AbortSignal}} [options]
   */
  async * documents (prefix, { limit = 1000, descending = false, signal } = {}) {
    const [start, end] = [prefix, `${prefix.slice(0, -1)};`]
    const to = descending ? start : end
    let from = descending ? end : start
    for (;;) {
      const query = { startkey: from, endkey: to, include_docs: true, descending, limit }
      const { rows } = await this.ask('_all_docs', { query: json(query), signal })
      yield rows.map(({ doc }) => doc).filter(Boolean)
      if (rows.length < limit) return
      const last = rows[rows.length - 1].id
      from = descending ? beforeId(last) : `${last}\u0000`
    }
  }

  /**
   * The next changes of documents whose ids are or begin so. Waits for one.
   * @param {string[]} ids those that end with a colon are prefixes
   * @param {string | number} since @param {AbortSignal} signal
   */
  changes (ids, since, signal) {
    const ranges = ids.map(id => ({ _id: id.endsWith(':') ? { $gte: id, $lt: `${id.slice(0, -1)};` } : id }))
    const query = { feed: 'longpoll', filter: '_selector', include_docs: true, since: String(since), timeout: WAIT }
    const body = { selector: { $or: ranges } }
    return this.ask('_changes', { method: 'POST', body, query, signal, timeout: WAIT + TIMEOUT })
  }
}

/** Keys of `_all_docs` are JSON, texts as well. */
const json = query =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, JSON.stringify(value)]))

/** A key just before an id, for pages that go down. */
const beforeId = id => `${id.slice(0, -1)}${String.fromCharCode(id.charCodeAt(id.length - 1) - 1)}\ufff0`
