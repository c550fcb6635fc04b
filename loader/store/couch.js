// A CouchDB database as Node asks it: the client of core/couch, sending with undici, with names and passwords from the
// URL or the environment, and with tiles as buffers.
import { CouchClient } from '../../core/couch/client.js'
import { clientDefaults } from '../../core/couch/requests.js'
import { parseDatabaseUrl } from './address.js'
import { bulkBody } from './bulk-body.js'
import { beginAnew } from './deletions.js'
import { exchange } from './exchange.js'

export const retryDefaults = clientDefaults

/** @typedef {import('../../core/couch/client.js').CouchRequest} CouchRequest */
/**
 * @typedef {{origin: string, base: string, path: string, user: string, headers: {authorization?: string}}} Access base,
 *   path: of the server and of the database; user: empty without a name
 */

export class Couch extends CouchClient {
  #authorised
  /** @type {Access | undefined} */
  #access

  /**
   * @param {string} url of a database, may hold a name and password
   * @param {Partial<typeof clientDefaults> & {onRetry?: (error: Error) => void, ambient?: boolean}} [options] ambient:
   *   see parseDatabaseUrl
   */
  constructor (url, { onRetry, ambient, ...options } = {}) {
    const { authorised, ...parsed } = parseDatabaseUrl(url, { ambient })
    const decode = text => Buffer.from(text, 'base64')
    super({ ...parsed, exchange, bulkBody, headers: () => this.access.headers, decode, options })
    this.#authorised = authorised
    if (onRetry) this.retryListeners.add(onRetry)
  }

  /**
   * Where the database is and what opens it, for those that speak HTTP with it themselves. Never to be shown.
   * @returns {Access}
   */
  get access () {
    return (this.#access ??= this.#parseAccess())
  }

  #parseAccess () {
    const { origin, pathname, username, password } = new URL(this.#authorised)
    const base = pathname.replace(/\/$/, '')
    const auth = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
    const headers = username ? { authorization: `Basic ${auth}` } : {}
    const path = `${base}/${encodeURIComponent(this.db)}`
    return { origin, base, path, user: decodeURIComponent(username), headers }
  }

  /**
   * Writes new revisions, in one request.
   * @param {any[]} docs attachments with bytes in `data`; those without `_rev` are new
   * @param {AbortSignal} [signal]
   */
  async write (docs, signal) {
    await beginAnew(this, docs.filter(({ _rev: rev }) => !rev).map(({ _id: id }) => id), signal)
    return this.bulk(docs, { signal })
  }
}
